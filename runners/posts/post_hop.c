/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/posts/post_hop.h"

#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "lists/keys.h"
#include "lists/letters/letter.h"
#include "lists/site/canary_shard.h"
#include "mail/header.h"
#include "posting/authenticity.h"
#include "posting/order.h"
#include "posting/transport.h"
#include "runners/posts/blocks.h"
#include "runners/posts/copy_sign.h"
#include "runners/posts/fan_out.h"
#include "store/lists/list_archive.h"
#include "store/lists/list_setting.h"
#include "switchboard/fault.h"

#define HEADER_MAX (48 * 1024) /* bytes of a post's header in a letter about it */

static void set_names(json_t *meta, const char *key, const GPtrArray *names)
{
    json_t *array = json_array();
    for (unsigned at = 0; at < names->len; at++)
        json_array_append_new(array, json_string(names->pdata[at]));
    json_object_set_new(meta, key, array);
}

void post_hop_findings(json_t *meta, const Post *post)
{
    if (post->hits->len + post->misses->len == 0) /* it came through the rules earlier, and meta has what they found */
        return;
    set_names(meta, KEY_HITS, post->hits);
    set_names(meta, KEY_MISSES, post->misses);
    meta_set_string(meta, KEY_MEMBER, post->member);
}

/* The post as it leaves, with its number. Who wrote to an anonymous list stays out of the
 * metadata, too: archives write it down. */
static void describe(Draft *draft, const Post *post)
{
    json_t *meta = draft_meta(draft);
    post_hop_findings(meta, post);
    if (post->post_id > 0)
        meta_set_integer(meta, KEY_POST_ID, post->post_id);
    if (post->post_id > 0 && post->list->settings->anonymous_list) {
        g_autofree char *id = message_id(post->message);
        meta_set_string(meta, KEY_SENDER, post->list->posting_address);
        meta_set_string(meta, KEY_MESSAGE_ID, id);
        json_object_del(meta, KEY_MEMBER);
    }
}

static Draft *make_draft(Entry *entry, const Post *post, const PostSend *send, const char *queue)
{
    Draft *draft = send->pieces ? list_runner_draft_pieces(queue, entry, send->pieces)
                                : list_runner_draft(queue, entry, send->message ? send->message : post->message);
    describe(draft, post);
    meta_set_string(draft_meta(draft), META_SHARD, send->shard);
    return draft;
}

/* An entry for out without its recipients; queue: out, or what leads to the out of another host. */
static Draft *make_out(Entry *entry, const Post *post, const PostSend *send, const char *queue)
{
    Draft *draft = make_draft(entry, post, send, queue);
    json_t *meta = draft_meta(draft);
    json_object_del(meta, KEY_HITS);
    json_object_del(meta, KEY_MISSES);
    meta_set_string(meta, KEY_ENVELOPE_SENDER, send->envelope_sender);
    if (post->list->settings->transport && *post->list->settings->transport)
        meta_set_string(meta, KEY_TRANSPORT, post->list->settings->transport);
    g_autofree char *slice = canary_shard(post->list->list_id, meta_string(meta, KEY_MESSAGE_ID, NULL), "out");
    if (slice)
        meta_set_string(meta, META_SHARD, slice);
    return draft;
}

/* May the relay make the senders of the recipients? Only where that is all in which copies differ. */
static bool relay_makes_senders(const Config *config, const Post *post, const PostSend *send)
{
    g_autofree char *section = transport_section(config, post->list->settings->transport);
    bool alike = !send->holes || send->holes->len == 0;
    return send->verp && alike && section && config_bool(config, section, "xverp");
}

/* *copies is NULL where all copies are the same for us. */
static bool plan_copies(Runner *runner, Entry *entry, const Post *post, const PostSend *send, Copies **copies,
                        GError **error)
{
    const Config *config = runner_config(runner);
    *copies = NULL;
    if (relay_makes_senders(config, post, send))
        return true;
    VerpKeys *keys = send->verp || send->holes ? list_runner_keys(runner, error) : NULL;
    if (!keys)
        return !(send->verp || send->holes);
    *copies = copies_new(post, send, keys, entry_arrival(entry), config_string(config, "lmtp", "verp_delimiter")[0]);
    return true;
}

/* Write into the metadata what out must know of copies that differ, and of signatures. */
static void describe_copies(Runner *runner, const Post *post, const PostSend *send, const Copies *copies, Draft *draft)
{
    const Config *config = runner_config(runner);
    g_autofree char *holes = copies && send->holes ? copy_holes_write(send->holes) : NULL;
    if (copies)
        meta_set_string(draft_meta(draft), KEY_COPIES, holes ? holes : "");
    if (send->sign || send->seal) {
        ArcSeal seal = {0};
        bool sealed = send->seal && authenticity_seal(post, &seal);
        copy_sign_write(draft_meta(draft), &(Signing){post->list->mail_host, send->sign, sealed ? &seal : NULL},
                        send->signed_octets);
    }
    if (!copies && relay_makes_senders(config, post, send)) {
        const char delimiters[] = {config_string(config, "lmtp", "verp_delimiter")[0], '=', '\0'};
        meta_set_string(draft_meta(draft), KEY_XVERP, delimiters);
    }
}

/* Blocks holds the values that the blocks of one post share. */
typedef struct Blocks {
    Runner *runner;
    Entry *entry;
    const Post *post;
    const PostSend *send;
    Copies *copies;
    Outcome *outcome;
} Blocks;

/* shard is consumed; NULL: where the hash falls. host: which is to deliver the block; NULL: this one. */
static Draft *add_block(const Blocks *blocks, const char *host, BlockStream *stream, char *shard, int64_t size)
{
    g_autofree char *key = shard;
    Draft *draft = make_out(blocks->entry, blocks->post, blocks->send, host ? HANDOVER_QUEUE : blocks->send->queue);
    describe_copies(blocks->runner, blocks->post, blocks->send, blocks->copies, draft);
    if (key)
        meta_set_string(draft_meta(draft), META_SHARD, key);
    if (host) {
        meta_set_string(draft_meta(draft), KEY_HAND_TO, host);
        meta_set_string(draft_meta(draft), KEY_HAND_QUEUE, blocks->send->queue);
        meta_set_integer(draft_meta(draft), KEY_HANDED_AT, clock_now());
    }
    blocks_attach(stream, draft, size);
    outcome_add(blocks->outcome, draft);
    return draft;
}

static BlockPlan plan_part(const Blocks *blocks, int64_t count)
{
    return blocks_plan(runner_config(blocks->runner), blocks->post->list->settings->transport, count,
                       blocks->copies != NULL);
}

/* The blocks of one host after those of the other; the last takes what members there are beyond the number. */
static void add_in_turn(const Blocks *blocks, const GArray *parts)
{
    BlockStream *stream = blocks_open(blocks->post, blocks->copies);
    const uint8_t *hash = entry_name(blocks->entry)->hash;
    int number = 0;
    for (guint at = 0; at < parts->len; at++) {
        const FanOutPart *part = &g_array_index(parts, FanOutPart, at);
        BlockPlan plan = plan_part(blocks, part->count);
        for (unsigned block = 0; block < plan.blocks; block++) {
            int64_t size = block + 1 < plan.blocks ? plan.size : part->count - plan.size * block;
            bool last = at + 1 == parts->len && block + 1 == plan.blocks;
            char *shard = plan.blocks > 1 ? blocks_shard(hash, block, plan.instances) : NULL;
            Draft *draft = add_block(blocks, part->host, stream, shard, last ? INT64_MAX : size);
            meta_set_integer(draft_meta(draft), KEY_BLOCK, number++);
            if (!last)
                meta_set_integer(draft_meta(draft), KEY_BLOCK_MOST, size);
        }
    }
    blocks_close(stream);
}

/* Recipients of one instance, divided among the hosts, and the numbers of their blocks. */
typedef struct OfInstance {
    GArray *parts; /* of FanOutPart, borrowed */
    unsigned instance, instances;
    int64_t number, total; /* of the next block; of all blocks of the post */
} OfInstance;

static BlockPlan plan_of_instance(const Blocks *blocks, const OfInstance *of, guint part)
{
    int64_t count = g_array_index(of->parts, FanOutPart, part).count;
    return count > 0 ? plan_part(blocks, count * of->instances) : (BlockPlan){0};
}

/* The blocks of one instance: each host gets its part of them. Where nobody is, no entry is written; the last one takes
 * those who have joined since they were counted. */
static void add_of_instance(const Blocks *blocks, OfInstance *of)
{
    BlockStream *stream = blocks_open(blocks->post, blocks->copies);
    blocks_choose(stream, of->instance, of->instances);
    guint end = of->parts->len;
    while (end > 0 && g_array_index(of->parts, FanOutPart, end - 1).count == 0)
        end--;
    for (guint at = 0; at < end; at++) {
        const FanOutPart *part = &g_array_index(of->parts, FanOutPart, at);
        BlockPlan plan = plan_of_instance(blocks, of, at);
        for (unsigned block = 0; block < plan.blocks; block++) {
            bool last = block + 1 == plan.blocks;
            Draft *draft = add_block(blocks, part->host, stream, blocks_shard_of(of->instance, of->instances),
                                     last && at + 1 == end ? INT64_MAX
                                     : last                ? part->count - plan.size * block
                                                           : plan.size);
            meta_set_integer(draft_meta(draft), KEY_BLOCK, of->number++);
            meta_set_integer(draft_meta(draft), KEY_BLOCKS, of->total);
        }
    }
    blocks_close(stream);
}

/* Most recipients may be of one domain, so those of each instance are counted. */
static bool add_by_domain(const Blocks *blocks, GArray *parts, unsigned instances, GError **error)
{
    g_autofree int64_t *counts = g_new0(int64_t, instances);
    OfInstance of = {.parts = parts, .instances = instances};
    if (!blocks_count(blocks->post, instances, counts, error))
        return false;
    for (unsigned round = 0; round < 2; round++) /* first the number of all blocks is found */
        for (of.instance = 0; of.instance < instances; of.instance++) {
            fan_out_divide(counts[of.instance], (FanOutPart *)(void *)parts->data, parts->len);
            for (guint at = 0; round == 0 && at < parts->len; at++)
                of.total += plan_of_instance(blocks, &of, at).blocks;
            if (round == 1)
                add_of_instance(blocks, &of);
        }
    return true;
}

/* count: an upper bound. A post that is shared out is counted exactly, so that the parts are what they are to be. */
static GArray *share_out(Runner *runner, const Post *post, int64_t count, GError **error)
{
    const Config *config = runner_config(runner);
    GArray *parts = fan_out_plan(config, post->store, count, error);
    if (!parts || parts->len == 1)
        return parts;
    g_array_unref(parts);
    return blocks_count(post, 1, &count, error) ? fan_out_plan(config, post->store, count, error) : NULL;
}

static bool add_members(Runner *runner, Entry *entry, const Post *post, const PostSend *send, Outcome *outcome,
                        GError **error)
{
    int64_t count = post->digest ? post->digest->members : 0;
    if (!post->digest && !recipient_count(post->store, post->list->list_id, &count, error))
        return false;
    g_autoptr(GArray) parts = share_out(runner, post, count, error);
    g_autoptr(Copies) copies = NULL;
    if (!parts || !plan_copies(runner, entry, post, send, &copies, error))
        return false;
    const Blocks blocks = {runner, entry, post, send, copies, outcome};
    BlockPlan plan = plan_part(&blocks, count);
    if (plan.by_domain)
        return add_by_domain(&blocks, parts, plan.instances, error);
    add_in_turn(&blocks, parts);
    return true;
}

/* A few recipients stay together; if one instance has the domains of all, it gets them. */
static void choose_instance(Runner *runner, const Post *post, Draft *draft)
{
    BlockPlan plan = blocks_plan(runner_config(runner), post->list->settings->transport, 1, false);
    if (!plan.by_domain)
        return;
    unsigned instance = blocks_instance(post->given[0], plan.instances);
    for (char **address = post->given; *address; address++)
        if (blocks_instance(*address, plan.instances) != instance)
            return;
    g_autofree char *shard = blocks_shard_of(instance, plan.instances);
    meta_set_string(draft_meta(draft), META_SHARD, shard);
}

static bool add_out(Runner *runner, Entry *entry, Post *post, const PostSend *send, Outcome *outcome, GError **error)
{
    if (post->recipients == POST_TO_MEMBERS || post->recipients == POST_TO_DIGEST)
        return add_members(runner, entry, post, send, outcome, error);
    if (!post->given || !*post->given)
        return fail(error, FAIL_NEVER, "there is nobody to deliver it to: no owner, no moderator, no site owner");
    Draft *draft = make_out(entry, post, send, send->queue);
    choose_instance(runner, post, draft);
    meta_set_integer(draft_meta(draft), KEY_BLOCK, 0);
    draft_set_addresses(draft, g_strdupv(post->given));
    outcome_add(outcome, draft);
    return true;
}

static void add_archive(Entry *entry, const Post *post, const PostSend *send, Outcome *outcome)
{
    Draft *draft = make_draft(entry, post, send, send->queue);
    json_t *names = json_array();
    for (char **name = send->archivers; name && *name; name++)
        json_array_append_new(names, json_string(*name));
    json_object_set_new(draft_meta(draft), KEY_ARCHIVERS, names);
    g_autofree char *bounces = post_list_address(post->list, "bounces");
    meta_set_string(draft_meta(draft), KEY_LIST_ADDRESS, post->list->posting_address);
    meta_set_bool(draft_meta(draft), KEY_ARCHIVE_CLOSED, post->list->settings->archive_policy != ARCHIVE_PUBLIC);
    g_autofree char *name = list_archive_name(post->list->list_id, post->list->archive);
    if (post->list->archive > 0)
        meta_set_string(draft_meta(draft), KEY_ARCHIVE_NAME, name);
    meta_set_string(draft_meta(draft), KEY_ENVELOPE_SENDER, bounces);
    outcome_add(outcome, draft);
}

static bool add_letter(Runner *runner, Entry *entry, const Post *post, const PostSend *send, Outcome *outcome,
                       GError **error)
{
    g_autofree char *raw = message_value(post->message, "Subject");
    g_autofree char *subject = header_decode(raw ? raw : "(no subject)"), *brief = template_brief(subject);
    g_autofree char *reasons = post_reasons(post, "\n    ");
    const TemplateValue values[] = {{"subject", brief}, {"sender", send->to}, {"reasons", reasons}, {0}};
    g_autoptr(GBytes) about = send->with_header ? message_octets(post->message) : NULL;
    ListLetter letter = {.template = send->letter, .values = values, .to = send->to,
                         .in_reply_to = post->message_id, .date = post->now, .trace = post->trace,
                         .attach = about ? NOTICE_HEADER : NOTICE_ALONE, .about = about, .most = HEADER_MAX};
    g_autoptr(Work) work = list_runner_work(runner_data(runner), entry);
    if (!work_letter(work, post->list, &letter, error))
        return false;
    list_runner_work_into(work, outcome);
    return true;
}

static bool add_send(Runner *runner, Entry *entry, Post *post, const PostSend *send, Outcome *outcome, GError **error)
{
    if (send->letter)
        return add_letter(runner, entry, post, send, outcome, error);
    if (strcmp(send->queue, POST_OUT) == 0)
        return add_out(runner, entry, post, send, outcome, error);
    if (strcmp(send->queue, POST_ARCHIVE) == 0) {
        add_archive(entry, post, send, outcome);
    } else if (strcmp(send->queue, POST_SHUNT) == 0) {
        /* An operator can put it back where it was, once the list takes such posts. */
        g_autofree char *reasons = post_reasons(post, " ");
        outcome_shunt(outcome, runner_name(runner), reasons);
    } else {
        outcome_add(outcome, make_draft(entry, post, send, send->queue));
    }
    return true;
}

bool post_leave(Runner *runner, Entry *entry, Post *post, Outcome *outcome, GError **error)
{
    for (guint at = 0; at < post->sends->len; at++)
        if (!add_send(runner, entry, post, post->sends->pdata[at], outcome, error))
            return false;
    return true;
}

/* Read what the metadata of an issue say of it, borrowed from there; the array is to be freed. */
static PostDigest read_digest(const json_t *meta, const char ***last)
{
    const json_t *array = json_object_get(meta, KEY_DIGEST_LAST);
    size_t count = json_array_size(array);
    *last = g_new0(const char *, count + 1);
    for (size_t at = 0; at < count; at++)
        (*last)[at] = json_string_value(json_array_get(array, at));
    return (PostDigest){.plain = meta_bool(meta, KEY_DIGEST_PLAIN),
                        .language = meta_string(meta, KEY_DIGEST_LANGUAGE, ""),
                        .last = *last,
                        .members = meta_integer(meta, KEY_DIGEST_MEMBERS, 1)};
}

static bool digest_hop(Runner *runner, Entry *entry, Post *post, Outcome *outcome, GError **error)
{
    g_autofree const char **last = NULL;
    const PostDigest digest = read_digest(entry_meta(entry), &last);
    post->digest = &digest;
    bool done = pipeline_run(&pipeline_digest, post, error) && post_leave(runner, entry, post, outcome, error);
    post->digest = NULL;
    return done;
}

bool post_hop(Runner *runner, Entry *entry, Post *post, Outcome *outcome, GError **error)
{
    const char *to = list_runner_asked(entry);
    bool owner = g_str_equal(to, TO_OWNER);
    if (g_str_equal(to, TO_DIGEST))
        return digest_hop(runner, entry, post, outcome, error);
    const char *name = owner ? post->list->settings->owner_pipeline : post->list->settings->posting_pipeline;
    const Pipeline *pipeline = order_pipeline(post->site->orders, name);
    if (!pipeline) /* who chose it wanted something done to the posts: they do not go without it */
        return fail(error, FAIL_NEVER, "the configuration has no pipeline %s, which the list has chosen", name);
    if (!pipeline_run(pipeline, post, error))
        return false;
    /* Queues of the site's own get the post as the archive does. */
    const char *const *queue = config_list(runner_config(runner), "pipeline", "copy_to");
    for (; !owner && post->end == POST_GOES && queue && *queue; queue++)
        post_send(post, *queue);
    return post_leave(runner, entry, post, outcome, error);
}

void post_hop_log(Entry *entry, const Post *post, const Outcome *outcome, const char *result)
{
    g_autofree char *reasons = post_reasons(post, " ");
    g_autofree char *number = post->post_id > 0 ? g_strdup_printf(" post=%" G_GINT64_FORMAT, post->post_id) : NULL;
    list_runner_log(entry, "to=%s from=%s message-id=%s%s entries=%u result=%s%s%s%s", list_runner_asked(entry),
                    post->sender, post->message_id ? post->message_id : "-", number ? number : "", outcome->drafts->len,
                    result, *reasons ? " (" : "", reasons, *reasons ? ")" : "");
}
