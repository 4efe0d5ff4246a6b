/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * The pipeline runner: runs an accepted post through its handlers and hands
 * the result to the archive and, with its recipients, to out.
 */
#include <string.h>

#include "base/fail.h"
#include "posting/pipeline.h"
#include "posting/transport.h"
#include "runners/keys.h"
#include "runners/list_runner.h"
#include "runners/pipeline/blocks.h"

/* The post as it leaves, with its number. Who wrote to an anonymous list stays out of the
 * metadata, too: archives write it down. */
static void describe(Draft *draft, const Post *post)
{
    json_t *meta = draft_meta(draft);
    if (post->post_id > 0)
        meta_set_integer(meta, KEY_POST_ID, post->post_id);
    if (post->post_id > 0 && post->list->anonymous_list) {
        g_autofree char *id = message_id(post->message);
        meta_set_string(meta, KEY_SENDER, post->list->posting_address);
        meta_set_string(meta, KEY_MESSAGE_ID, id);
        json_object_del(meta, KEY_MEMBER);
    }
}

static Draft *make_draft(const char *queue, Entry *entry, const Post *post)
{
    Draft *draft = list_runner_draft(queue, entry, post->message);
    describe(draft, post);
    return draft;
}

static void add_archive(Entry *entry, const Post *post, Outcome *outcome)
{
    json_t *names = json_array();
    for (const PostArchiver *archiver = post->archivers; archiver->name; archiver++)
        if (post_archiver_chosen(post->list, archiver->name))
            json_array_append_new(names, json_string(archiver->name));
    if (json_array_size(names) == 0) {
        json_decref(names);
        return;
    }
    Draft *draft = make_draft("archive", entry, post);
    json_object_set_new(draft_meta(draft), KEY_ARCHIVERS, names);
    outcome_add(outcome, draft);
}

/* Queues of the site's own get the post as the members do. */
static void add_copies(Runner *runner, Entry *entry, const Post *post, Outcome *outcome)
{
    const char *const *queue = config_list(runner_config(runner), "pipeline", "copy_to");
    for (; queue && *queue; queue++)
        outcome_add(outcome, make_draft(*queue, entry, post));
}

/* An entry for out without its recipients. */
static Draft *make_out(Entry *entry, const Post *post)
{
    Draft *draft = post->outgoing ? list_runner_draft_pieces("out", entry, post->outgoing)
                                  : list_runner_draft("out", entry, post->message);
    json_t *meta = draft_meta(draft);
    describe(draft, post);
    json_object_del(meta, KEY_HITS);
    json_object_del(meta, KEY_MISSES);
    meta_set_string(meta, KEY_ENVELOPE_SENDER, post->envelope_sender);
    if (post->list->transport && *post->list->transport)
        meta_set_string(meta, KEY_TRANSPORT, post->list->transport);
    return draft;
}

/* May the relay make the senders of the recipients? Only where that is all in which copies differ. */
static bool relay_makes_senders(const Config *config, const Post *post)
{
    g_autofree char *section = transport_section(config, post->list->transport);
    bool alike = !post->holes || post->holes->len == 0;
    return post->verp && alike && section && config_bool(config, section, "xverp");
}

/* *copies is NULL where all copies are the same for us. */
static bool plan_copies(Runner *runner, Entry *entry, const Post *post, Copies **copies, GError **error)
{
    const Config *config = runner_config(runner);
    *copies = NULL;
    if (relay_makes_senders(config, post))
        return true;
    VerpKeys *keys = post->verp || post->holes ? list_runner_keys(runner, error) : NULL;
    if (!keys)
        return !(post->verp || post->holes);
    *copies = copies_new(post, keys, entry_arrival(entry), config_string(config, "lmtp", "verp_delimiter")[0]);
    return true;
}

/* What out must know of copies that differ. */
static void describe_copies(Runner *runner, const Post *post, const Copies *copies, Draft *draft)
{
    const Config *config = runner_config(runner);
    g_autofree char *holes = copies && post->holes ? copy_holes_write(post->holes) : NULL;
    if (copies)
        meta_set_string(draft_meta(draft), KEY_COPIES, holes ? holes : "");
    else if (relay_makes_senders(config, post)) {
        const char delimiters[] = {config_string(config, "lmtp", "verp_delimiter")[0], '=', '\0'};
        meta_set_string(draft_meta(draft), KEY_XVERP, delimiters);
    }
}

/* What the blocks of one post share. */
typedef struct Blocks {
    Runner *runner;
    Entry *entry;
    const Post *post;
    Copies *copies;
    Outcome *outcome;
} Blocks;

/* shard is consumed; NULL: where the hash falls. */
static void add_block(const Blocks *blocks, BlockStream *stream, char *shard, int64_t size)
{
    g_autofree char *key = shard;
    Draft *draft = make_out(blocks->entry, blocks->post);
    describe_copies(blocks->runner, blocks->post, blocks->copies, draft);
    if (key)
        meta_set_string(draft_meta(draft), META_SHARD, key);
    blocks_attach(stream, draft, size);
    outcome_add(blocks->outcome, draft);
}

static void add_in_turn(const Blocks *blocks, BlockPlan plan)
{
    BlockStream *stream = blocks_open(blocks->post, blocks->copies);
    const uint8_t *hash = entry_name(blocks->entry)->hash;
    for (unsigned block = 0; block < plan.blocks; block++)
        add_block(blocks, stream, plan.blocks > 1 ? blocks_shard(hash, block, plan.instances) : NULL,
                  block + 1 < plan.blocks ? plan.size : INT64_MAX);
    blocks_close(stream);
}

static void add_by_domain(const Blocks *blocks, BlockPlan plan)
{
    for (unsigned instance = 0; instance < plan.instances; instance++) {
        BlockStream *stream = blocks_open(blocks->post, blocks->copies);
        blocks_choose(stream, instance, plan.instances);
        for (unsigned block = 1; block <= plan.blocks; block++)
            add_block(blocks, stream, blocks_shard_of(instance, plan.instances),
                      block < plan.blocks ? plan.size : INT64_MAX);
        blocks_close(stream);
    }
}

static bool add_members(Runner *runner, Entry *entry, const Post *post, Outcome *outcome, GError **error)
{
    int64_t count = 0;
    if (!recipient_count(post->store, post->list->list_id, &count, error))
        return false;
    g_autoptr(Copies) copies = NULL;
    if (!plan_copies(runner, entry, post, &copies, error))
        return false;
    BlockPlan plan = blocks_plan(runner_config(runner), post->list->transport, count, copies != NULL);
    const Blocks blocks = {runner, entry, post, copies, outcome};
    if (plan.by_domain)
        add_by_domain(&blocks, plan);
    else if (plan.blocks > 0)
        add_in_turn(&blocks, plan);
    return true;
}

/* A few recipients stay together; if one instance has the domains of all, it gets them. */
static void choose_instance(Runner *runner, const Post *post, Draft *draft)
{
    BlockPlan plan = blocks_plan(runner_config(runner), post->list->transport, 1, false);
    if (!plan.by_domain)
        return;
    unsigned instance = blocks_instance(post->given[0], plan.instances);
    for (char **address = post->given; *address; address++)
        if (blocks_instance(*address, plan.instances) != instance)
            return;
    g_autofree char *shard = blocks_shard_of(instance, plan.instances);
    meta_set_string(draft_meta(draft), META_SHARD, shard);
}

static bool add_out(Runner *runner, Entry *entry, Post *post, Outcome *outcome, GError **error)
{
    if (post->recipients == POST_TO_MEMBERS)
        return add_members(runner, entry, post, outcome, error);
    if (!post->given || !*post->given)
        return fail(error, FAIL_NEVER, "there is nobody to deliver it to: no owner, no moderator, no site owner");
    Draft *draft = make_out(entry, post);
    choose_instance(runner, post, draft);
    list_runner_set_recipients(draft, g_steal_pointer(&post->given));
    outcome_add(outcome, draft);
    return true;
}

static bool process(Runner *runner, Entry *entry, Post *post, Outcome *outcome, GError **error)
{
    const char *to = meta_string(entry_meta(entry), KEY_TO, TO_POSTING);
    bool owner = strcmp(to, TO_OWNER) == 0;
    bool counted = false;
    bool record = !owner || meta_bool(entry_meta(entry), KEY_OUTBOX, false);
    if (record && !list_runner_find_effect(runner, entry, &counted, &post->post_id, error))
        return false;
    if (!pipeline_run(owner ? &pipeline_owner : &pipeline_posting, post, error))
        return false;
    if (record && !counted && !list_runner_record_effect(runner, entry, post->post_id, error))
        return false;
    if (post->to_archive)
        add_archive(entry, post, outcome);
    if (!owner)
        add_copies(runner, entry, post, outcome);
    if (post->to_out && !add_out(runner, entry, post, outcome, error))
        return false;
    list_runner_log(entry, "to=%s message-id=%s post=%" G_GINT64_FORMAT " entries=%u result=done", to,
                    post->message_id ? post->message_id : "-", post->post_id, outcome->drafts->len);
    return true;
}

static bool handle(Runner *runner, Entry *entry, Outcome *outcome, GError **error)
{
    return list_runner_handle(runner, entry, outcome, process, error);
}

static const RunnerSpec spec = {
    .name = "pipeline",
    .start = list_runner_start,
    .begin_batch = list_runner_begin,
    .handle = handle,
    .end_batch = list_runner_end,
    .idle = list_runner_idle,
    .stop = list_runner_stop,
};

int main(int argc, char **argv)
{
    return runner_main(&spec, argc, argv);
}
