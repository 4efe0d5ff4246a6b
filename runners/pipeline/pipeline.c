/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * The pipeline runner: makes entries of accepted posts, as post_hop.h says.
 */
#include "runners/keys.h"
#include "runners/post_hop.h"
#include "runners/post_names.h"

static bool process(Runner *runner, Entry *entry, Post *post, Outcome *outcome, GError **error)
{
    const char *to = meta_string(entry_meta(entry), KEY_TO, TO_POSTING);
    bool counted = false;
    if (!post_names_ready(runner, entry, post, outcome))
        return true;
    bool record = !g_str_equal(to, TO_OWNER) || meta_bool(entry_meta(entry), KEY_OUTBOX, false);
    if ((record && !list_runner_find_effect(runner, entry, &counted, &post->post_id, error)) ||
        !post_hop(runner, entry, post, outcome, error) ||
        (record && !counted && !list_runner_record_effect(runner, entry, post->post_id, error)))
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
