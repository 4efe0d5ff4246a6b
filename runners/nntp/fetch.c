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
#include "lists/keys.h"
#include "lists/posts/injection.h"
#include "runners/nntp/article.h"
#include "runners/nntp/nntp.h"
#include "store/lists/list_setting.h"
#include "store/lists/news.h"

/* Of one step: others wait for the database meanwhile, and posts to groups for the connection. */
#define ARTICLES_MOST 50
#define OCTETS_MOST (4 << 20)
#define COMMANDS_MOST 1000
#define STEP_US (5 * CLOCK_SECOND)

/* FetchBatch holds the articles read of a group in one step. */
typedef struct FetchBatch {
    const List *list;
    int64_t before, up_to; /* the watermark as it was, and will be */
    int64_t seen;          /* there is nothing between up_to and this number */
    GPtrArray *articles;   /* of GBytes */
    size_t octets;
    unsigned commands;
    int64_t end; /* monotonic */
} FetchBatch;

/* However slow the server is, a step does something. */
static bool is_full(const FetchBatch *batch)
{
    return batch->articles->len >= ARTICLES_MOST || batch->octets >= OCTETS_MOST || batch->commands >= COMMANDS_MOST ||
           (batch->up_to > batch->before && clock_monotonic() >= batch->end);
}

static bool read_one(NntpClient *client, FetchBatch *batch, int64_t number, GError **error)
{
    const List *list = batch->list;
    GBytes *article;
    bool large;
    batch->commands++;
    if (!nntp_client_article(client, number, &article, &large, error))
        return false;
    batch->up_to = batch->seen = number;
    if (large)
        log_warn("- list=%s newsgroup=%s article=%" PRId64 " result=left-out (larger than max_article_size)",
                 list->list_id, list->settings->linked_newsgroup, number);
    if (article && !article_is_own(article, list->list_id)) {
        batch->octets += g_bytes_get_size(article);
        g_ptr_array_add(batch->articles, article);
    } else if (article) {
        g_bytes_unref(article);
    }
    return true;
}

/* Read the articles behind the watermark until the step is full. Numbers without articles are passed over by what the
 * server knows of them; the watermark goes behind them with the next article, for one that is not there now may come
 * to be. Only where the server cannot tell each number is asked for, and the watermark follows. */
static bool read_some(Runner *runner, NntpClient *client, FetchBatch *batch, const NntpGroup *group, GError **error)
{
    g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(int64_t));
    while (batch->seen < group->last && !is_full(batch) && !runner_stopping(runner)) {
        NntpGroup wanted = {.first = batch->seen + 1, .last = group->last};
        int64_t known;
        batch->commands++;
        if (!nntp_client_numbers(client, batch->list->settings->linked_newsgroup, &wanted, numbers, &known, error))
            return false;
        if (known < wanted.first && numbers->len == 0)
            g_array_append_val(numbers, wanted.first);
        for (guint at = 0; at < numbers->len && !is_full(batch) && !runner_stopping(runner); at++)
            if (!read_one(client, batch, g_array_index(numbers, int64_t, at), error))
                return false;
        if (numbers->len == 0)
            batch->seen = known;
        runner_progress(runner);
    }
    return true;
}

/* Articles go through the queue in the order of their numbers: each arrives a microsecond after the one before it. */
static void add_entry(Work *work, const List *list, GBytes *article, int64_t arrival)
{
    const Injection injection = {.list = list, .to = TO_POSTING, .host = work_site(work)->hostname, .door = "nntp"};
    json_t *meta = injection_meta(&injection, article);
    meta_set_string(meta, KEY_FROM_NEWS, list->settings->linked_newsgroup);
    meta_set_integer(meta, META_ARRIVAL, arrival);
    GPtrArray *pieces = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
    g_ptr_array_add(pieces, g_bytes_ref(article));
    work_entry(work, "in", meta, pieces, NULL);
}

/* Write entries and watermark. *moved: somebody else has moved the watermark, and nothing was written. */
static bool write_batch(Runner *runner, const FetchBatch *batch, bool *moved, GError **error)
{
    ListRunner *shared = runner_data(runner);
    News *news = news_of(runner);
    const List *list = batch->list;
    const Actor actor = {.role = ACTOR_OPERATOR, .door = DOOR_TIMER, .from = "-"};
    g_autoptr(Work) work = work_new(shared->store, &shared->site, &actor);
    int64_t watermark;
    if (!work_begin_people(work, list->list_id, error))
        return false;
    bool done = news_watermark(shared->store, list->list_id, list->settings->linked_newsgroup, &watermark, error);
    *moved = done && watermark != batch->before;
    for (guint at = 0; done && !*moved && at < batch->articles->len; at++) {
        news->last_arrival = MAX(news->last_arrival + 1, work_now(work));
        add_entry(work, list, batch->articles->pdata[at], news->last_arrival);
    }
    if (done && !*moved &&
        news_set_watermark(shared->store, list->list_id, list->settings->linked_newsgroup, batch->up_to, error))
        return work_commit(work, runner_spool(runner), error);
    work_cancel(work);
    return done && *moved;
}

/* Go to the group's last article without reading any: at the first look, and after "listrunner news catchup". */
static bool jump(Runner *runner, FetchBatch *batch, const NntpGroup *group, GError **error)
{
    const List *list = batch->list;
    bool moved;
    batch->up_to = MAX(group->last, MAX(group->first - 1, 0));
    if (!write_batch(runner, batch, &moved, error))
        return false;
    if (!moved)
        log_info("- list=%s newsgroup=%s result=begins behind article %" PRId64, list->list_id,
                 list->settings->linked_newsgroup, batch->up_to);
    return true;
}

/* The last number of a group never goes back (RFC 3977, 6), so this is another group of that name, and nobody but a
 * person knows which of its articles the list has had. */
static bool ends_before(const FetchBatch *batch, const NntpGroup *group, GError **error)
{
    return fail(error, FAIL_LATER,
                "the group ends at article %" PRId64 " now, and the list stands behind article %" PRId64
                "; if the group was made anew: listrunner news catchup %s",
                group->last, batch->before, batch->list->posting_address);
}

/* Read and write one step. What was read before a fault is written, too. *more: the next step goes on at once. */
static bool fetch(Runner *runner, NntpClient *client, const List *list, bool *more, GError **error)
{
    ListRunner *shared = runner_data(runner);
    g_autoptr(GPtrArray) articles = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
    FetchBatch batch = {.list = list, .articles = articles, .end = clock_monotonic() + STEP_US};
    NntpGroup group;
    bool moved = false;
    if (!nntp_client_group(client, list->settings->linked_newsgroup, &group, error) ||
        !news_watermark(shared->store, list->list_id, list->settings->linked_newsgroup, &batch.before, error))
        return false;
    batch.up_to = batch.before;
    batch.seen = MAX(batch.before, group.first - 1);
    if (batch.before == NEWS_NOWHERE)
        return jump(runner, &batch, &group, error);
    if (group.count > 0 && group.last >= group.first && group.last < batch.before)
        return ends_before(&batch, &group, error);
    g_autoptr(GError) fault = NULL;
    bool read = read_some(runner, client, &batch, &group, &fault);
    if (batch.up_to > batch.before && !write_batch(runner, &batch, &moved, error))
        return false;
    if (!moved && articles->len > 0)
        log_info("- list=%s newsgroup=%s articles=%u watermark=%" PRId64 " result=taken-in", list->list_id,
                 list->settings->linked_newsgroup, articles->len, batch.up_to);
    *more = read && batch.up_to > batch.before && batch.seen < group.last;
    if (!read)
        g_propagate_error(error, g_steal_pointer(&fault));
    return read;
}

bool news_fetch(Runner *runner, const List *list, bool *more, GError **error)
{
    ListRunner *shared = runner_data(runner);
    g_autoptr(GError) fault = NULL, unwritten = NULL;
    NntpClient *client = news_client(runner, &fault);
    *more = false;
    bool done = client && fetch(runner, client, list, more, &fault);
    if (client && !done)
        news_failed(runner, fault);
    if (runner_stopping(runner) && !done)
        return fail_with(error, &fault);
    if (!news_looked(shared->store, list->list_id, list->settings->linked_newsgroup, clock_now(),
                     fault ? fault->message : NULL, &unwritten))
        log_warn("- list=%s: %s", list->list_id, unwritten->message);
    if (fault)
        g_propagate_error(error, g_steal_pointer(&fault));
    return done;
}

/* ---- rounds ---- */

/* Begin with the first of all lists. NULL: the store has failed, or there are no lists. */
static NewsRound *round_new(Runner *runner)
{
    ListRunner *shared = runner_data(runner);
    g_autoptr(GError) error = NULL;
    GPtrArray *places = news_places(shared->store, &error);
    if (!places) {
        log_error("- queue=nntp: %s", error->message);
        return NULL;
    }
    NewsRound *round = g_new0(NewsRound, 1);
    round->places = places;
    round->faults = g_string_new(NULL);
    return round;
}

void news_round_free(NewsRound *round)
{
    if (!round)
        return;
    g_ptr_array_unref(round->places);
    g_string_free(round->faults, TRUE);
    g_free(round);
}

/* One step for one list. */
static void fetch_for(Runner *runner, NewsRound *round, const NewsPlace *place)
{
    ListRunner *shared = runner_data(runner);
    bool more = false;
    g_autoptr(GError) fault = NULL;
    g_autoptr(List) list = list_by_id(shared->store, place->list_id, &fault);
    if (!list && g_error_matches(fault, FAIL, FAIL_MISSING))
        return;
    bool done = list && (!list->settings->gateway_to_mail || news_fetch(runner, list, &more, &fault));
    round->more = round->more || more;
    if (done || (list && runner_stopping(runner)))
        return;
    log_error("- list=%s newsgroup=%s result=later (%s)", place->list_id, place->newsgroup, fault->message);
    if (!news_of(runner)->down)
        g_string_append_printf(round->faults, "%s%s: %s", round->faults->len > 0 ? "; " : "", place->list_id,
                               fault->message);
}

bool news_fetch_step(Runner *runner, bool *more)
{
    News *news = news_of(runner);
    NewsRound *round = news->round = news->round ? news->round : round_new(runner);
    *more = false;
    if (round && round->next < round->places->len)
        fetch_for(runner, round, round->places->pdata[round->next++]);
    if (round && round->next < round->places->len)
        return false;
    g_free(news->faults);
    news->faults = round && round->faults->len > 0 ? g_strdup(round->faults->str) : NULL;
    *more = round && round->more;
    g_clear_pointer(&news->round, news_round_free);
    news_tell(runner);
    return true;
}
