/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Issues that a crash left: whether their entry is still there tells what became of them. */
#include <string.h>

#include "base/fail.h"
#include "base/log.h"
#include "runners/digest/digest.h"
#include "switchboard/fault.h"

/* Where an entry may be that can still make its issue. */
static const char *const kept_in[] = {DIGEST_QUEUE, "hold", "shunt"};

typedef struct Seek {
    const uint8_t *hash;
    bool found;
} Seek;

static void seek_hash(void *data, Queue *queue, const char *file, const EntryName *name, const char *rest)
{
    Seek *seek = data;
    seek->found = seek->found || memcmp(name->hash, seek->hash, HASH_SIZE) == 0;
    if (seek->found || strcmp(queue_name(queue), "shunt") != 0)
        return;
    /* In shunt an entry has a hash of its own, and the name it had before in its metadata. */
    g_autoptr(Entry) entry = entry_open(queue, file, NULL);
    const json_t *fault = entry ? json_object_get(entry_meta(entry), META_FAULT) : NULL;
    EntryName before;
    seek->found = fault && name_parse(meta_string(fault, "name", ""), &before, NULL) &&
                  memcmp(before.hash, seek->hash, HASH_SIZE) == 0;
}

static bool is_in(Runner *runner, const char *where, const uint8_t *hash, bool *found, GError **error)
{
    Seek seek = {.hash = hash};
    Queue *queue = spool_queue(runner_spool(runner), where, error);
    if (!queue || !queue_visit(queue, seek_hash, &seek, error))
        return false;
    *found = seek.found;
    return true;
}

/* The entry is decided (or an operator deleted it, and the issue with it), unless it is found somewhere. A damaged one
 * cannot make its issue any more: its posts wait for the next. */
static bool settle_one(Runner *runner, const DigestIssue *issue, const uint8_t *hash, GError **error)
{
    ListRunner *own = runner_data(runner);
    bool found = false;
    for (size_t at = 0; !found && at < G_N_ELEMENTS(kept_in); at++)
        if (!is_in(runner, kept_in[at], hash, &found, error))
            return false;
    if (found)
        return true;
    if (!is_in(runner, "corrupt", hash, &found, error))
        return false;
    log_info("list=%s queue=" DIGEST_QUEUE " volume=%" G_GINT64_FORMAT " issue=%" G_GINT64_FORMAT " result=%s",
             issue->list_id, issue->volume, issue->number, found ? "withdrawn (its entry is damaged)" : "settled");
    return found ? digest_issue_withdraw(own->store, issue->entry, error)
                 : digest_issue_settle(own->store, issue->entry, error);
}

bool settle_start(Runner *runner, GError **error)
{
    ListRunner *own = runner_data(runner);
    g_autoptr(GPtrArray) issues = digest_issue_all(own->store, own->site.hostname, error);
    if (!issues)
        return false;
    for (guint at = 0; at < issues->len; at++) {
        const DigestIssue *issue = issues->pdata[at];
        EntryName name = {0};
        if (name_hash_parse(issue->entry, name.hash) && slice_owns(runner_slice(runner), name.hash) &&
            !settle_one(runner, issue, name.hash, error))
            return false;
    }
    return true;
}
