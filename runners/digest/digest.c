/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * The digest runner: collects posts for the digests of their lists, and makes an issue of them when it is time.
 * README.md has the steps and what is found after a crash at each.
 */
#include "runners/digest/digest.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "lists/keys.h"
#include "lists/posts/digest_send.h"
#include "store/lists/list_setting.h"

#define KIB 1024
#define RETRY_INTERVAL (5 * CLOCK_SECOND)

/* An issue of the batch at hand. */
typedef struct Made {
    char *entry;
    const Outcome *outcome; /* borrowed until the batch is committed */
    bool committed;
} Made;

static void made_free(void *data)
{
    Made *made = data;
    g_free(made->entry);
    g_free(made);
}

/* Of Made. */
static GPtrArray *made_of(Runner *runner)
{
    return ((ListRunner *)runner_data(runner))->more;
}

static bool start(Runner *runner, GError **error)
{
    if (!list_runner_start(runner, error))
        return false;
    ListRunner *own = runner_data(runner);
    own->more = g_ptr_array_new_with_free_func(made_free);
    return settle_start(runner, error);
}

static void stop(Runner *runner)
{
    ListRunner *own = runner_data(runner);
    if (own && own->more)
        g_ptr_array_unref(own->more);
    list_runner_stop(runner);
}

/* ---- collecting ---- */

/* Is it time for an issue? *digest is how the list stands, this post included. */
static bool is_time(Runner *runner, Entry *entry, const List *list, const Digest *digest)
{
    const json_t *meta = entry_meta(entry);
    if (meta_bool(meta, KEY_DIGEST_ASK)) {
        int64_t before = meta_integer(meta, KEY_DIGEST_BEFORE, 0);
        return digest->waiting > 0 && (before == 0 || digest->first_at < before);
    }
    return (list->settings->digest_size_threshold > 0 &&
            digest->octets >= list->settings->digest_size_threshold * KIB) ||
           (list->settings->digest_post_threshold > 0 && digest->waiting >= list->settings->digest_post_threshold) ||
           digest->octets >= (int64_t)config_size(runner_config(runner), "digest", "max_size");
}

/* Gives the posts that wait to an issue of this entry. With nobody to read it, they are dropped. */
static bool open_issue(Runner *runner, Entry *entry, const List *list, const Digest *digest, GError **error)
{
    ListRunner *own = runner_data(runner);
    char name[HASH_DIGITS + 1];
    name_hash_format(entry_name(entry)->hash, name);
    DigestIssue issue = {.entry = name, .host = (char *)own->site.hostname, .list_id = list->list_id,
                         .made_at = clock_now()};
    digest_send_number(list, digest, issue.made_at, &issue.volume, &issue.number);
    if (!digest_issue_open(own->store, &issue, error))
        return false;
    g_autoptr(GPtrArray) groups = digest_groups(own->store, &issue, error);
    if (!groups || groups->len > 0)
        return groups != NULL;
    list_runner_log(entry, "posts=%" PRId64 " result=dropped (no member wants digests)", digest->waiting);
    return digest_issue_settle(own->store, name, error) &&
           digest_set_next(own->store, list->list_id, digest->volume, digest->next_number, error);
}

/* Inside the entry's transaction: what an earlier try did is not done again. *issue is what this entry is to make. */
static bool collect(Runner *runner, Entry *entry, const List *list, DigestIssue **issue, GError **error)
{
    ListRunner *own = runner_data(runner);
    bool ask = meta_bool(entry_meta(entry), KEY_DIGEST_ASK), before;
    int64_t number;
    char name[HASH_DIGITS + 1];
    g_auto(Digest) digest = {0};
    name_hash_format(entry_name(entry)->hash, name);
    if (!list_runner_find_effect(runner, entry, &before, &number, error))
        return false;
    if (before)
        return digest_issue_find(own->store, name, issue, error);
    if (!ask) {
        g_autoptr(GBytes) octets = entry_message(entry);
        if (!digest_collect(own->store, list->list_id, octets, clock_now(), error))
            return false;
    }
    if (!digest_read(own->store, list->list_id, &digest, error) ||
        !list_runner_record_effect(runner, entry, 0, error) ||
        (is_time(runner, entry, list, &digest) && !open_issue(runner, entry, list, &digest, error)))
        return false;
    list_runner_log(entry, "posts=%" PRId64 " size=%" PRId64 " result=%s", digest.waiting, digest.octets,
                    ask ? "asked" : "collected");
    return digest_issue_find(own->store, name, issue, error);
}

/* The post is collected in one transaction; nobody waits for the database while the issue is made. */
static bool handle(Runner *runner, Entry *entry, Outcome *outcome, GError **error)
{
    ListRunner *own = runner_data(runner);
    g_autoptr(GError) fault = NULL;
    DigestIssue *found = NULL;
    const List *list = list_cache_get(own->lists, entry_list(entry), &fault);
    bool done = list && store_begin_people(own->store, list->list_id, &fault);
    if (done && !collect(runner, entry, list, &found, &fault)) {
        store_rollback(own->store);
        done = false;
    }
    done = done && store_commit(own->store, &fault);
    g_autoptr(DigestIssue) issue = found;
    if (!done && g_error_matches(fault, FAIL, FAIL_MISSING)) {
        list_runner_log(entry, "result=dropped (the list was removed)");
        return true;
    }
    if (!done)
        return fail_with(error, &fault);
    if (!issue)
        return true;
    g_autoptr(GPtrArray) groups = digest_groups(own->store, issue, error);
    if (!groups || !issue_build(&(IssueTask){runner, entry, list, issue}, groups, outcome, error))
        return false;
    Made *made = g_new0(Made, 1);
    *made = (Made){.entry = g_strdup(issue->entry), .outcome = outcome};
    g_ptr_array_add(made_of(runner), made);
    return true;
}

/* ---- around a batch ---- */

/* Settles what was committed; what was not comes again with its entry. */
static void settle_made(Runner *runner)
{
    ListRunner *own = runner_data(runner);
    GPtrArray *all = made_of(runner);
    for (guint at = all->len; at > 0; at--) {
        const Made *made = all->pdata[at - 1];
        g_autoptr(GError) error = NULL;
        if (made->committed && !digest_issue_settle(own->store, made->entry, &error)) {
            log_warn("posts of a digest that was made stay in the database for now: %s", error->message);
            continue;
        }
        g_ptr_array_remove_index(all, at - 1);
    }
}

static void committed(Runner *runner)
{
    GPtrArray *all = made_of(runner);
    for (guint at = 0; at < all->len; at++) {
        Made *made = all->pdata[at];
        const Outcome *outcome = made->outcome;
        if (!made->committed && outcome->parent && !outcome->error) {
            const Draft *first = outcome->drafts->len > 0 ? outcome->drafts->pdata[0] : NULL;
            made->committed = !first || strcmp(draft_queue(first), "shunt") != 0;
        }
        made->outcome = NULL;
    }
    settle_made(runner);
}

/* Tries again what could not be settled. */
static int64_t idle(Runner *runner)
{
    settle_made(runner);
    return made_of(runner)->len > 0 ? RETRY_INTERVAL : -1;
}

static const RunnerSpec spec = {
    .name = "digest",
    .longest_wait = RUNNER_WAIT_MAX,
    .queue = DIGEST_QUEUE,
    .start = start,
    .begin_batch = list_runner_refresh, /* no transaction: each entry has its own */
    .handle = handle,
    .committed = committed,
    .idle = idle,
    .stop = stop,
};

int main(int argc, char **argv)
{
    return runner_main(&spec, argc, argv);
}
