/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner digest: what waits for the digests of lists. */
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/fail.h"
#include "cli/command.h"
#include "cli/listing.h"
#include "cli/work_site.h"
#include "lists/posts/digest_send.h"
#include "store/lists/list_setting.h"

static bool note_list(const Digest *digest, void *list_ids)
{
    g_ptr_array_add(list_ids, g_strdup(digest->list_id));
    return true;
}

static int run_ls(Site *site, int argc, char **argv, GError **error)
{
    static const Column columns[] = {
        {"list", "LIST", COLUMN_TEXT},       {"posts", "POSTS", COLUMN_NUMBER}, {"octets", "OCTETS", COLUMN_NUMBER},
        {"volume", "VOL", COLUMN_NUMBER},    {"issue", "ISSUE", COLUMN_NUMBER}, {"first_at", "SINCE", COLUMN_TEXT},
        {"due_at", "DUE", COLUMN_TEXT},      {"sent_at", "LAST", COLUMN_TEXT},  {NULL, NULL, COLUMN_TEXT}};
    Store *store = site_store(site, false, error);
    if (!store)
        return TOOL_LATER;
    g_autoptr(GPtrArray) lists = g_ptr_array_new_with_free_func(g_free);
    if (argc > 0) {
        g_autoptr(List) list = site_list_find(store, argv[0], error);
        if (!list)
            return TOOL_LATER;
        g_ptr_array_add(lists, g_strdup(list->list_id));
    } else if (!digest_each(store, note_list, lists, error)) {
        return TOOL_LATER;
    }
    g_autoptr(Listing) listing = listing_new(columns, json_option);
    for (guint at = 0; at < lists->len; at++) {
        g_auto(Digest) digest = {0};
        g_autoptr(List) list = list_by_id(store, lists->pdata[at], error);
        if (!list || !digest_read(store, list->list_id, &digest, error))
            return TOOL_LATER;
        int64_t volume, number, now = clock_now();
        digest_send_number(list, &digest, now, &volume, &number);
        bool by_time = list->settings->digest_send_periodic && digest.waiting > 0;
        int64_t last = digest_send_last_time(list, now);
        int64_t next = !by_time ? 0 : digest.first_at < last ? last : digest_send_next_time(list, now);
        listing_row(listing, json_pack("{ss sI sI sI sI so so so}", "list", list->posting_address, "posts",
                                       (json_int_t)digest.waiting, "octets", (json_int_t)digest.octets, "volume",
                                       (json_int_t)volume, "issue", (json_int_t)number, "first_at",
                                       listing_time(digest.first_at), "due_at", listing_time(next), "sent_at",
                                       listing_time(digest.sent_at)));
    }
    return TOOL_OK;
}

/* One unit of work. *done, g_free(), is what to tell when it is committed. */
typedef struct DigestStep {
    bool (*take)(Work *work, const List *list, char **done, GError **error);
} DigestStep;

static bool ask(Work *work, const List *list, char **done, GError **error)
{
    int64_t waiting;
    if (!digest_send_ask(work, list, &waiting, error))
        return false;
    if (waiting == 0)
        return fail(error, FAIL_RACE, "no post waits for the digest of %s", list->posting_address);
    *done = g_strdup_printf("the digest of %s is made from %" PRId64 " post%s", list->posting_address, waiting,
                            waiting == 1 ? "" : "s");
    return true;
}

static bool bump(Work *work, const List *list, char **done, GError **error)
{
    g_auto(Digest) digest = {0};
    if (!digest_send_bump(work, list, &digest, error))
        return false;
    *done = g_strdup_printf("the next digest of %s is volume %" PRId64 ", issue %" PRId64, list->posting_address,
                            digest.volume, digest.next_number);
    return true;
}

static int run(Site *site, const void *kind, char **argv, GError **error)
{
    const DigestStep *step = kind;
    WorkPlace place;
    g_autofree char *done = NULL;
    g_autoptr(Work) work = work_place_begin_spooled(&place, site, error);
    g_autoptr(List) list = work ? site_list_find(place.store, argv[0], error) : NULL;
    if (!list || !step->take(work, list, &done, error) || !work_commit(work, place.spool, error))
        return TOOL_LATER;
    puts(done);
    return TOOL_OK;
}

static const Command ls = {
    .name = "ls", .arguments = "[LIST]", .summary = "Show the posts that wait, and the next issue", .least = 0,
    .most = 1, .options = json_rows_options, .run = run_ls,
    .details = "Without LIST: of all lists for whose digest posts wait. DUE is when the clock sends it.",
};

static const Command send_now = {
    .name = "send",
    .arguments = "LIST",
    .summary = "Send the posts that wait as an issue, now",
    .least = 1,
    .most = 1,
    .run_kind = run,
    .kind = &(const DigestStep){ask},
};

static const Command bump_volume = {
    .name = "bump",
    .arguments = "LIST",
    .summary = "Begin a new volume with the next issue",
    .least = 1,
    .most = 1,
    .run_kind = run,
    .kind = &(const DigestStep){bump},
};

static const Command *const verbs[] = {&ls, &send_now, &bump_volume, NULL};

const Command cmd_digest = {
    .name = "digest", .arguments = "", .summary = "Show or send what waits for the digests of lists", .verbs = verbs,
};
