/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * From news groups to lists. The number of the last article that was looked at and the entries of those that go to the
 * list are written in one transaction (lists/work.h), so an article comes to the list once, whatever is killed when.
 * Several processes may look at a group at a time: who finds the number moved does nothing.
 */
#include <inttypes.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "lists/injection.h"
#include "runners/keys.h"
#include "runners/nntp/article.h"
#include "runners/nntp/nntp.h"

/* Of one transaction, since others wait for the database meanwhile. */
#define ARTICLES_MOST 50
#define OCTETS_MOST (4 << 20)

/* What was read of a group. */
typedef struct FetchBatch {
    const List *list;
    int64_t before, up_to; /* the watermark as it was, and will be */
    GPtrArray *articles;   /* of GBytes */
    size_t octets;
} FetchBatch;

static bool read_some(NntpClient *client, FetchBatch *batch, int64_t last, GError **error)
{
    const List *list = batch->list;
    g_ptr_array_set_size(batch->articles, 0);
    batch->octets = 0;
    while (batch->up_to < last && batch->articles->len < ARTICLES_MOST && batch->octets < OCTETS_MOST) {
        GBytes *article;
        bool large;
        if (!nntp_client_article(client, batch->up_to + 1, &article, &large, error))
            return false;
        batch->up_to++;
        if (large)
            log_warn("- list=%s newsgroup=%s article=%" PRId64 " result=left-out (larger than max_article_size)",
                     list->list_id, list->linked_newsgroup, batch->up_to);
        if (article && !article_is_own(article, list->list_id)) {
            batch->octets += g_bytes_get_size(article);
            g_ptr_array_add(batch->articles, article);
        } else if (article) {
            g_bytes_unref(article);
        }
    }
    return true;
}

static void add_entry(Work *work, const List *list, GBytes *article)
{
    const Injection injection = {.list = list, .to = TO_POSTING, .host = work_site(work)->hostname, .door = "nntp"};
    json_t *meta = injection_meta(&injection, article);
    meta_set_string(meta, KEY_FROM_NEWS, list->linked_newsgroup);
    GPtrArray *pieces = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
    g_ptr_array_add(pieces, g_bytes_ref(article));
    work_entry(work, "in", meta, pieces, NULL);
}

/* Writes entries and watermark. *moved: somebody else has moved the watermark, and nothing was written. */
static bool write_batch(Runner *runner, const FetchBatch *batch, bool *moved, GError **error)
{
    ListRunner *shared = runner_data(runner);
    const List *list = batch->list;
    const Actor actor = {.role = ACTOR_OPERATOR, .door = DOOR_TIMER, .from = "-"};
    g_autoptr(Work) work = work_new(shared->store, &shared->site, &actor);
    int64_t watermark;
    if (!work_begin(work, error))
        return false;
    bool done = news_watermark(shared->store, list->list_id, list->linked_newsgroup, &watermark, error);
    *moved = done && watermark != batch->before;
    for (guint at = 0; done && !*moved && at < batch->articles->len; at++)
        add_entry(work, list, batch->articles->pdata[at]);
    if (done && !*moved &&
        news_set_watermark(shared->store, list->list_id, list->linked_newsgroup, batch->up_to, error))
        return work_commit(work, runner_spool(runner), error);
    work_cancel(work);
    return done && *moved;
}

/* Goes to the group's last article without reading any: at the first look, after "listrunner news catchup", and when
 * the server counts anew. */
static bool jump(Runner *runner, FetchBatch *batch, int64_t last, bool *moved, GError **error)
{
    const List *list = batch->list;
    batch->up_to = MAX(last, 0);
    if (!write_batch(runner, batch, moved, error))
        return false;
    if (!*moved && batch->before == NEWS_NOWHERE)
        log_info("- list=%s newsgroup=%s result=begins behind article %" PRId64, list->list_id,
                 list->linked_newsgroup, batch->up_to);
    else if (!*moved)
        log_warn("- list=%s newsgroup=%s result=begins behind article %" PRId64 " (the server counts anew: it was %"
                 PRId64 ")", list->list_id, list->linked_newsgroup, batch->up_to, batch->before);
    return true;
}

static bool fetch(Runner *runner, NntpClient *client, const List *list, GError **error)
{
    ListRunner *shared = runner_data(runner);
    g_autoptr(GPtrArray) articles = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
    FetchBatch batch = {.list = list, .articles = articles};
    int64_t first, last;
    bool moved = false;
    if (!nntp_client_group(client, list->linked_newsgroup, &first, &last, error) ||
        !news_watermark(shared->store, list->list_id, list->linked_newsgroup, &batch.before, error))
        return false;
    /* An empty group is said to have a last number below the first. */
    last = MAX(last, first - 1);
    if (batch.before == NEWS_NOWHERE || last < batch.before)
        return jump(runner, &batch, last, &moved, error);
    batch.up_to = MAX(batch.before, first - 1);
    while (batch.up_to < last && !moved && !runner_stopping(runner)) {
        if (!read_some(client, &batch, last, error) || !write_batch(runner, &batch, &moved, error))
            return false;
        if (!moved && articles->len > 0)
            log_info("- list=%s newsgroup=%s articles=%u watermark=%" PRId64 " result=taken-in", list->list_id,
                     list->linked_newsgroup, articles->len, batch.up_to);
        batch.before = batch.up_to;
        runner_progress(runner);
    }
    return true;
}

bool news_fetch(Runner *runner, const List *list, GError **error)
{
    ListRunner *shared = runner_data(runner);
    g_autoptr(GError) fault = NULL, unwritten = NULL;
    NntpClient *client = news_client(runner, &fault);
    bool done = client && fetch(runner, client, list, &fault);
    if (client && !done)
        news_failed(runner, fault);
    if (runner_stopping(runner) && !done) {
        g_propagate_error(error, g_steal_pointer(&fault));
        return false;
    }
    if (!news_looked(shared->store, list->list_id, list->linked_newsgroup, clock_now(), fault ? fault->message : NULL,
                     &unwritten))
        log_warn("- list=%s: %s", list->list_id, unwritten->message);
    if (fault)
        g_propagate_error(error, g_steal_pointer(&fault));
    return done;
}

void news_fetch_all(Runner *runner)
{
    ListRunner *shared = runner_data(runner);
    News *news = news_of(runner);
    g_autoptr(GError) error = NULL;
    g_autoptr(GString) faults = g_string_new(NULL);
    g_autoptr(GPtrArray) places = work_flush(shared->store, runner_spool(runner), &error)
                                      ? news_places(shared->store, &error) : NULL;
    if (!places)
        log_error("- queue=nntp: %s", error->message);
    for (guint at = 0; places && at < places->len && !runner_stopping(runner); at++) {
        const NewsPlace *place = places->pdata[at];
        g_autoptr(GError) fault = NULL;
        g_autoptr(List) list = list_by_id(shared->store, place->list_id, &fault);
        if (!list && g_error_matches(fault, FAIL, FAIL_MISSING))
            continue;
        if (list && (!list->gateway_to_mail || news_fetch(runner, list, &fault) || runner_stopping(runner)))
            continue;
        log_error("- list=%s newsgroup=%s result=later (%s)", place->list_id, place->newsgroup, fault->message);
        if (!news->down)
            g_string_append_printf(faults, "%s%s: %s", faults->len > 0 ? "; " : "", place->list_id, fault->message);
    }
    g_free(news->faults);
    news->faults = faults->len > 0 ? g_string_free(g_steal_pointer(&faults), FALSE) : NULL;
    news_tell(runner);
}
