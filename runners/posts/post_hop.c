/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/posts/post_hop.h"

#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "lists/keys.h"
#include "lists/letters/letter.h"
#include "mail/address.h"
#include "mail/copy.h"
#include "mail/header.h"
#include "posting/authenticity.h"
#include "posting/setup.h"
#include "runners/posts/copy_sign.h"
#include "runners/posts/fan_out.h"
#include "store/lists/list_archive.h"
#include "store/lists/list_setting.h"
#include "store/lists/topic.h"
#include "switchboard/fault.h"
#include "switchboard/slice.h"

#define PER_TRANSACTION 500 /* as out has it for a relay */
#define HEADER_MAX (48 * 1024) /* bytes of a post's header in a letter about it */

/* ---- the lines of copies that differ ---- */

/* Writes the recipient lines of an entry whose recipients get copies of their own (mail/copy.h). A line has the address
 * and what differs in the copy: the envelope sender and the token to unsubscribe, both signed (mail/bounce/verp.h), the
 * recipient's name, and whether the post names the recipient. */
typedef struct Copies {
    unsigned references;
    VerpKeys *keys;
    int64_t arrival;
    char *list_id, *local, *host;
    char delimiter;
    bool senders, tokens, names;
    GHashTable *named; /* address_key() of those in To and Cc; NULL: it does not matter */
    GString *sender, *line;
} Copies;

static bool has_hole(const PostSend *send, CopyField field)
{
    for (guint at = 0; send->holes && at < send->holes->len; at++)
        if (g_array_index(send->holes, CopyHole, at).field == field)
            return true;
    return false;
}

/* The writer for one way in which a post leaves; NULL: all recipients get the same. keys are borrowed. arrival is that
 * of the post, and dates the signed addresses. delimiter is [lmtp] verp_delimiter. */
static Copies *copies_new(const Post *post, const PostSend *send, VerpKeys *keys, int64_t arrival, char delimiter)
{
    if (!send->verp && (!send->holes || send->holes->len == 0))
        return NULL;
    Copies *copies = g_new0(Copies, 1);
    copies->references = 1;
    copies->keys = keys;
    copies->arrival = arrival;
    copies->list_id = g_strdup(post->list->list_id);
    copies->local = list_local(post->list, "bounces", VERP_LIST_MAX);
    copies->host = g_strdup(post->list->mail_host);
    copies->delimiter = delimiter;
    copies->senders = send->verp;
    copies->tokens = has_hole(send, COPY_UNSUBSCRIBE);
    copies->names = has_hole(send, COPY_NAME) || has_hole(send, COPY_NAME_OR_ADDRESS) || has_hole(send, COPY_MAILBOX);
    if (has_hole(send, COPY_NAMED))
        copies->named = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (char *const *named = copies->named ? post->copied : NULL; named && *named; named++)
        g_hash_table_add(copies->named, address_key(*named));
    copies->sender = g_string_new(NULL);
    copies->line = g_string_new(NULL);
    return copies;
}

static void copies_unref(Copies *copies)
{
    if (!copies || --copies->references > 0)
        return;
    g_free(copies->list_id);
    g_free(copies->local);
    g_free(copies->host);
    g_clear_pointer(&copies->named, g_hash_table_unref);
    g_string_free(copies->sender, TRUE);
    g_string_free(copies->line, TRUE);
    g_free(copies);
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Copies, copies_unref)

/* Return the line of a recipient; borrowed until the next call. */
static const char *copies_line(Copies *copies, const char *address, const char *name)
{
    const VerpList list = {copies->list_id, copies->local, copies->host, copies->delimiter};
    g_autofree char *token = NULL, *key = copies->named ? address_key(address) : NULL;
    g_string_truncate(copies->sender, 0);
    g_string_truncate(copies->line, 0);
    if (copies->senders)
        verp_make(copies->keys, VERP_COPY, &list, address, copies->arrival, copies->sender);
    if (copies->tokens)
        token = verp_token(copies->keys, VERP_UNSUBSCRIBE, copies->list_id, address, copies->arrival);
    copy_recipient_write(copies->line, address, copies->sender->str, token, copies->names ? name : NULL,
                         key && g_hash_table_contains(copies->named, key));
    return copies->line->str;
}

/* ---- recipients in blocks: one for each entry of out, so that a big list keeps every instance busy ---- */

typedef struct BlockPlan {
    unsigned blocks; /* 0: nobody to deliver to */
    int64_t size;    /* recipients in each block but the last */
    unsigned instances;
    /* Each instance of out gets the recipients of its part of the domains, by SHA-1: where the mail of a domain is
     * delivered straight to it, one process knows all that is under way there. blocks is the number
     * for each instance then. */
    bool by_domain;
} BlockPlan;

/* Plan the blocks for at most count recipients: as many blocks as there are instances of out, if each can fill a
 * transaction; more only when a block would have more than recipients_per_entry. transport: name, NULL or "" for the
 * default one. single: each recipient has a transaction of their own. */
static BlockPlan plan_blocks(const Config *config, const char *transport, int64_t count, bool single)
{
    g_autofree char *section = transport_section(config, transport);
    int64_t per_transaction = PER_TRANSACTION, per_entry = config_integer(config, "out", "recipients_per_entry");
    unsigned instances;
    config_instances(config, "out", &instances);
    bool by_domain = section && strcmp(config_string(config, section, "type"), "mx") == 0 && instances > 1;
    if (count <= 0)
        return (BlockPlan){0};
    if (by_domain) {
        int64_t share = (count + instances - 1) / instances, blocks = (share + per_entry - 1) / per_entry;
        return (BlockPlan){.blocks = (unsigned)blocks, .size = per_entry, .instances = instances, .by_domain = true};
    }
    if (single)
        per_transaction = 1;
    else if (section && config_integer(config, section, "recipients_per_transaction") > 0)
        per_transaction = config_integer(config, section, "recipients_per_transaction");
    int64_t blocks = CLAMP(count / MAX(per_transaction, 1), 1, (int64_t)instances);
    if ((count + blocks - 1) / blocks > per_entry)
        blocks = (count + per_entry - 1) / per_entry;
    return (BlockPlan){.blocks = (unsigned)blocks, .size = (count + blocks - 1) / blocks, .instances = instances};
}

/* The slice that text hashes to. */
static unsigned slice_of_text(const char *text, unsigned instances)
{
    g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA1);
    g_checksum_update(sum, (const guchar *)text, -1);
    uint8_t digest[HASH_SIZE];
    gsize length = sizeof digest;
    g_checksum_get_digest(sum, digest, &length);
    return slice_of(digest, instances);
}

/* Return a shard key (META_SHARD of switchboard/meta.h) that leads to the instance `wanted`; g_free(). Others of this
 * kind with another number have other keys. */
static char *find_shard(const char *kind, unsigned number, unsigned wanted, unsigned instances)
{
    for (unsigned attempt = 0;; attempt++) {
        char *key = g_strdup_printf("%s %u %u", kind, number, attempt);
        if (slice_of_text(key, instances) == wanted)
            return key;
        g_free(key);
    }
}

/* Return the instance that has the domain of an address (a whole address, any case), for plans by_domain. */
static unsigned instance_of(const char *address, unsigned instances)
{
    const char *at = strrchr(address, '@');
    g_autofree char *domain = g_ascii_strdown(at ? at + 1 : "", -1);
    return slice_of_text(domain, instances);
}

/* The recipients of a post. The blocks of one post read from one cursor of the store, one block after the other, while
 * the entries are written: so the members are never in memory all together. Write the drafts in the order in which they
 * were attached: each takes the recipients that come next. Where the store fails meanwhile, writing the draft fails. */
typedef struct BlockStream {
    unsigned references;
    Store *store;
    char *list_id, *sender, **copied;
    char **topics_known, **topics_of; /* the list's and the post's; NULL: they do not matter */
    bool digest, plain;     /* the recipients are those of a digest */
    char *language, **last; /* as in DigestGroup */
    Copies *copies; /* or NULL */
    RecipientCursor *cursor;
    bool opened;
    unsigned instance, instances; /* whose domains; of 0: all */
} BlockStream;

typedef struct RecipientBlock {
    BlockStream *stream;
    int64_t left;
} RecipientBlock;

/* Copies what it needs from post and takes a reference to copies (NULL: the lines of recipients are their addresses).
 * The store stays borrowed. */
static BlockStream *stream_open(const Post *post, Copies *copies)
{
    BlockStream *stream = g_new0(BlockStream, 1);
    stream->references = 1;
    stream->store = post->store;
    stream->list_id = g_strdup(post->list->list_id);
    stream->sender = g_strdup(post->skip_sender);
    stream->copied = g_strdupv(post->copied);
    stream->topics_known = post->topics ? topic_names(post->list) : NULL;
    stream->topics_of = g_strdupv(post->topics);
    stream->copies = copies;
    if (copies)
        copies->references++;
    stream->digest = post->recipients == POST_TO_DIGEST;
    if (stream->digest) {
        stream->plain = post->digest->plain;
        stream->language = g_strdup(post->digest->language);
        stream->last = g_strdupv(post->digest->last);
    }
    return stream;
}

/* Gives up a reference; the last one frees the stream. */
static void stream_close(BlockStream *stream)
{
    if (--stream->references > 0)
        return;
    recipient_cursor_free(stream->cursor);
    copies_unref(stream->copies);
    g_free(stream->list_id);
    g_free(stream->sender);
    g_strfreev(stream->copied);
    g_strfreev(stream->topics_known);
    g_strfreev(stream->topics_of);
    g_free(stream->language);
    g_strfreev(stream->last);
    g_free(stream);
}

static const char *stream_next(BlockStream *stream, GError **error)
{
    if (!stream->opened) {
        /* Opened with the first question and closed with the last answer, because an open cursor keeps the database
         * from forgetting old pages. */
        const char *const *copied = (const char *const *)stream->copied;
        const RecipientDigest digest = {stream->plain, stream->language, (const char *const *)stream->last};
        bool names = stream->copies && stream->copies->names;
        if (stream->digest)
            stream->cursor = recipient_cursor_open_digest(stream->store, stream->list_id, &digest, names, error);
        else if (names)
            stream->cursor = recipient_cursor_open_named(stream->store, stream->list_id, stream->sender, copied, error);
        else
            stream->cursor = recipient_cursor_open(stream->store, stream->list_id, stream->sender, copied, error);
        if (stream->cursor && stream->topics_known)
            recipient_cursor_choose_topics(stream->cursor, (const char *const *)stream->topics_known,
                                           (const char *const *)stream->topics_of);
        stream->opened = stream->cursor != NULL;
    }
    const char *address;
    do
        address = stream->cursor ? recipient_cursor_next(stream->cursor, error) : NULL;
    while (address && stream->instances > 0 && instance_of(address, stream->instances) != stream->instance);
    if (address && stream->copies)
        return copies_line(stream->copies, address, recipient_cursor_name(stream->cursor));
    if (!address)
        g_clear_pointer(&stream->cursor, recipient_cursor_free);
    return address;
}

/* Count the recipients whose domains are of each instance, by reading all once, into counts, which has room for
 * instances; 1: of whatever domain. False: the store failed. */
static bool count_recipients(const Post *post, unsigned instances, int64_t *counts, GError **error)
{
    g_autoptr(GError) fault = NULL;
    BlockStream *stream = stream_open(post, NULL);
    memset(counts, 0, instances * sizeof *counts);
    for (const char *address; (address = stream_next(stream, &fault));)
        counts[instances > 1 ? instance_of(address, instances) : 0]++;
    stream_close(stream);
    if (fault)
        g_propagate_error(error, g_steal_pointer(&fault));
    return !fault;
}

static const char *block_next(void *data, GError **error)
{
    RecipientBlock *block = data;
    if (block->left == 0)
        return NULL;
    block->left--;
    return stream_next(block->stream, error);
}

static void block_free(void *data)
{
    RecipientBlock *block = data;
    stream_close(block->stream);
    g_free(block);
}

/* Let the draft read its recipients, at most size of them, from the stream when it is written. The draft holds a
 * reference to the stream. */
static void stream_attach(BlockStream *stream, Draft *draft, int64_t size)
{
    RecipientBlock *block = g_new(RecipientBlock, 1);
    *block = (RecipientBlock){stream, size};
    stream->references++;
    draft_set_recipients(draft, block_next, block, block_free);
}

/* ---- drafts ---- */

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

/* The post as it leaves, with its number. */
static Draft *make_draft(Entry *entry, const Post *post, const PostSend *send, const char *queue)
{
    Draft *draft = send->pieces ? list_runner_draft_pieces(queue, entry, send->pieces)
                                : list_runner_draft(queue, entry, send->message ? send->message : post->message);
    json_t *meta = draft_meta(draft);
    post_hop_findings(meta, post);
    if (post->post_id > 0)
        meta_set_integer(meta, KEY_POST_ID, post->post_id);
    /* The metadata, which archives write down, do not tell who wrote to an anonymous list either. */
    if (post->post_id > 0 && post->list->settings->anonymous_list) {
        g_autofree char *id = message_id(post->message);
        meta_set_string(meta, KEY_SENDER, post->list->posting_address);
        meta_set_string(meta, KEY_MESSAGE_ID, id);
        json_object_del(meta, KEY_MEMBER);
    }
    meta_set_string(meta, META_SHARD, send->shard);
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
    return draft;
}

/* May the relay make the senders of the recipients? Only where that is all in which copies differ. */
static bool relay_makes_senders(const Config *config, const Post *post, const PostSend *send)
{
    g_autofree char *section = transport_section(config, post->list->settings->transport);
    bool alike = !send->holes || send->holes->len == 0;
    return send->verp && alike && section && config_bool(config, section, "xverp");
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
    const Config *config = runner_config(blocks->runner);
    const Post *post = blocks->post;
    const PostSend *send = blocks->send;
    const Copies *copies = blocks->copies;
    Draft *draft = make_out(blocks->entry, post, send, host ? HANDOVER_QUEUE : send->queue);
    json_t *meta = draft_meta(draft);
    /* Out must know of copies that differ, and of signatures. */
    g_autofree char *holes = copies && send->holes ? copy_holes_write(send->holes) : NULL;
    if (copies)
        meta_set_string(meta, KEY_COPIES, holes ? holes : "");
    if (send->sign || send->seal) {
        ArcSeal seal = {0};
        bool sealed = send->seal && authenticity_seal(post, &seal);
        copy_sign_write(meta, &(Signing){post->list->mail_host, send->sign, sealed ? &seal : NULL},
                        send->signed_octets);
    }
    if (!copies && relay_makes_senders(config, post, send)) {
        const char delimiters[] = {config_string(config, "lmtp", "verp_delimiter")[0], '=', '\0'};
        meta_set_string(meta, KEY_XVERP, delimiters);
    }
    if (key)
        meta_set_string(meta, META_SHARD, key);
    if (host) {
        meta_set_string(meta, KEY_HAND_TO, host);
        meta_set_string(meta, KEY_HAND_QUEUE, send->queue);
        meta_set_integer(meta, KEY_HANDED_AT, clock_now());
    }
    stream_attach(stream, draft, size);
    outcome_add(blocks->outcome, draft);
    return draft;
}

static BlockPlan plan_part(const Blocks *blocks, int64_t count)
{
    return plan_blocks(runner_config(blocks->runner), blocks->post->list->settings->transport, count,
                       blocks->copies != NULL);
}

/* The blocks of one host after those of the other; the last takes what members there are beyond the number. */
static void add_in_turn(const Blocks *blocks, const GArray *parts)
{
    BlockStream *stream = stream_open(blocks->post, blocks->copies);
    const uint8_t *hash = entry_name(blocks->entry)->hash;
    int number = 0;
    for (guint at = 0; at < parts->len; at++) {
        const FanOutPart *part = &g_array_index(parts, FanOutPart, at);
        BlockPlan plan = plan_part(blocks, part->count);
        for (unsigned block = 0; block < plan.blocks; block++) {
            int64_t size = block + 1 < plan.blocks ? plan.size : part->count - plan.size * block;
            bool last = at + 1 == parts->len && block + 1 == plan.blocks;
            /* Consecutive blocks go to consecutive instances of out, beginning at that of the post's hash. */
            unsigned wanted = plan.blocks > 1 ? (slice_of(hash, plan.instances) + block) % plan.instances : 0;
            char *shard = plan.blocks > 1 ? find_shard("block", block, wanted, plan.instances) : NULL;
            Draft *draft = add_block(blocks, part->host, stream, shard, last ? INT64_MAX : size);
            meta_set_integer(draft_meta(draft), KEY_BLOCK, number++);
            if (!last)
                meta_set_integer(draft_meta(draft), KEY_BLOCK_MOST, size);
        }
    }
    stream_close(stream);
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
    BlockStream *stream = stream_open(blocks->post, blocks->copies);
    stream->instance = of->instance;
    stream->instances = of->instances;
    guint end = of->parts->len;
    while (end > 0 && g_array_index(of->parts, FanOutPart, end - 1).count == 0)
        end--;
    for (guint at = 0; at < end; at++) {
        const FanOutPart *part = &g_array_index(of->parts, FanOutPart, at);
        BlockPlan plan = plan_of_instance(blocks, of, at);
        for (unsigned block = 0; block < plan.blocks; block++) {
            bool last = block + 1 == plan.blocks;
            int64_t size = last && at + 1 == end ? INT64_MAX : last ? part->count - plan.size * block : plan.size;
            char *shard = find_shard("instance", of->instance, of->instance, of->instances);
            Draft *draft = add_block(blocks, part->host, stream, shard, size);
            meta_set_integer(draft_meta(draft), KEY_BLOCK, of->number++);
            meta_set_integer(draft_meta(draft), KEY_BLOCKS, of->total);
        }
    }
    stream_close(stream);
}

/* Most recipients may be of one domain, so those of each instance are counted. */
static bool add_by_domain(const Blocks *blocks, GArray *parts, unsigned instances, GError **error)
{
    g_autofree int64_t *counts = g_new0(int64_t, instances);
    OfInstance of = {.parts = parts, .instances = instances};
    if (!count_recipients(blocks->post, instances, counts, error))
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

static bool add_members(Runner *runner, Entry *entry, const Post *post, const PostSend *send, Outcome *outcome,
                        GError **error)
{
    const Config *config = runner_config(runner);
    int64_t count = post->digest ? post->digest->members : 0, exact; /* an upper bound */
    if (!post->digest && !recipient_count(post->store, post->list->list_id, &count, error))
        return false;
    g_autoptr(GArray) parts = fan_out_plan(config, post->store, count, error);
    if (!parts)
        return false;
    if (parts->len > 1) { /* shared out among hosts, it is counted exactly, so that the parts are what they are to be */
        g_clear_pointer(&parts, g_array_unref);
        if (!count_recipients(post, 1, &exact, error) || !(parts = fan_out_plan(config, post->store, exact, error)))
            return false;
    }
    g_autoptr(Copies) copies = NULL;
    if ((send->verp || send->holes) && !relay_makes_senders(config, post, send)) {
        VerpKeys *keys = list_runner_keys(runner, error);
        if (!keys)
            return false;
        copies = copies_new(post, send, keys, entry_arrival(entry),
                            config_string(config, "lmtp", "verp_delimiter")[0]);
    }
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
    BlockPlan plan = plan_blocks(runner_config(runner), post->list->settings->transport, 1, false);
    if (!plan.by_domain)
        return;
    unsigned instance = instance_of(post->given[0], plan.instances);
    for (char **address = post->given; *address; address++)
        if (instance_of(*address, plan.instances) != instance)
            return;
    g_autofree char *shard = find_shard("instance", instance, instance, plan.instances);
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

bool post_leave(Runner *runner, Entry *entry, Post *post, Outcome *outcome, GError **error)
{
    bool done = true;
    for (guint at = 0; done && at < post->sends->len; at++) {
        const PostSend *send = post->sends->pdata[at];
        if (send->letter) {
            done = add_letter(runner, entry, post, send, outcome, error);
        } else if (strcmp(send->queue, POST_OUT) == 0) {
            done = add_out(runner, entry, post, send, outcome, error);
        } else if (strcmp(send->queue, POST_ARCHIVE) == 0) {
            add_archive(entry, post, send, outcome);
        } else if (strcmp(send->queue, POST_SHUNT) == 0) {
            /* An operator can put it back where it was, once the list takes such posts. */
            g_autofree char *reasons = post_reasons(post, " ");
            outcome_shunt(outcome, runner_name(runner), reasons);
        } else {
            outcome_add(outcome, make_draft(entry, post, send, send->queue));
        }
    }
    return done;
}

static bool digest_hop(Runner *runner, Entry *entry, Post *post, Outcome *outcome, GError **error)
{
    const json_t *meta = entry_meta(entry), *array = json_object_get(meta, KEY_DIGEST_LAST);
    size_t count = json_array_size(array);
    g_autofree const char **last = g_new0(const char *, count + 1);
    for (size_t at = 0; at < count; at++)
        last[at] = json_string_value(json_array_get(array, at));
    const DigestGroup digest = {.plain = meta_bool(meta, KEY_DIGEST_PLAIN),
                                .language = (char *)meta_string(meta, KEY_DIGEST_LANGUAGE, ""),
                                .last = (char **)last,
                                .members = meta_integer(meta, KEY_DIGEST_MEMBERS, 1)};
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
