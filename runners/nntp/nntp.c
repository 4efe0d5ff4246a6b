/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * The nntp runner connects lists with news groups: it posts each entry of its queue to the news group of its list, and
 * looks at the groups of all lists now and then.
 *
 * A post that the server has already by its Message-ID, in this group, was posted at an earlier try that nobody could
 * note, and is done. In another group it was posted by somebody else (the author, or another list): then it is posted
 * under a Message-ID of ours, which is the same at each try.
 *
 * From a group to its list: the number of the last article that was looked at and the entries of those that go to the
 * list are written in one transaction (lists/work.h), so an article comes to the list once, whatever is killed when.
 * Several processes may look at a group at a time: who finds the number moved does nothing.
 */
#include <glib.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/secret.h"
#include "lists/hosts/this_host.h"
#include "lists/keys.h"
#include "lists/posts/injection.h"
#include "net/nntp_client.h"
#include "runners/nntp/article.h"
#include "runners/posts/list_runner.h"
#include "store/lists/list_setting.h"
#include "store/lists/news.h"

#define TRY_AGAIN (5 * CLOCK_SECOND)
/* Of one step: others wait for the database meanwhile, and posts to groups for the connection. */
#define ARTICLES_MOST 50
#define OCTETS_MOST (4 << 20)
#define COMMANDS_MOST 1000
#define STEP_US (5 * CLOCK_SECOND)

/* A look at the groups of all lists, one step at a time. */
typedef struct NewsRound {
    GPtrArray *places; /* of NewsPlace */
    guint next;        /* the place whose turn is next */
    bool more;         /* a group has more articles than were fetched */
    GString *faults;   /* groups that cannot be read, and why, for people */
} NewsRound;

typedef struct News {
    NntpSettings settings;
    char *port, *user, *password;
    SmtpTls *tls;
    NntpClient *client;   /* NULL: none is open */
    char *down;           /* why the server could not be used; NULL: it could */
    int64_t down_since;   /* clock_now() */
    int64_t try_at;       /* monotonic: not to be tried before */
    int64_t look_at;      /* monotonic: when groups are looked at */
    NewsRound *round;     /* the look that is being done; NULL: none is */
    int64_t last_arrival; /* us: of the last article that was put into the queue in */
    char *faults;         /* of the last look, for people; NULL: none */
} News;

static News *news_of(Runner *runner)
{
    return ((ListRunner *)runner_data(runner))->more;
}

/* ---- the connection ---- */

/* Tell the master what a person must know: that the server or some groups cannot be used; or that all is well. */
static void tell_master(Runner *runner)
{
    const News *news = news_of(runner);
    if (news->down) {
        g_autofree char *since = clock_text(news->down_since);
        g_autofree char *text = g_strdup_printf("since %s the news server cannot be used, and posts to news groups "
                                                "wait: %s", since, news->down);
        child_notice(CHILD_NOTICE_WORK, text);
    } else if (news->faults) {
        g_autofree char *text = g_strdup_printf("news groups that cannot be read: %s", news->faults);
        child_notice(CHILD_NOTICE_WORK, text);
    } else {
        child_notice(CHILD_NOTICE_WORK, NULL);
    }
}

static void set_down(Runner *runner, const char *why)
{
    News *news = news_of(runner);
    if (!news->down)
        news->down_since = clock_now();
    g_free(news->down);
    news->down = g_strdup(why);
    tell_master(runner);
}

/* Return the connection, borrowed, and make it if there is none. NULL, with FAIL_LATER: the server cannot be used, and
 * is not tried again for some seconds. */
static NntpClient *news_client(Runner *runner, GError **error)
{
    News *news = news_of(runner);
    g_autoptr(GError) fault = NULL;
    if (news->client)
        return news->client;
    if (news->down && clock_monotonic() < news->try_at) {
        fail(error, FAIL_LATER, "%s", news->down);
        return NULL;
    }
    if (news->settings.host)
        news->client = nntp_client_open(&news->settings, &fault);
    else
        fail(&fault, FAIL_LATER, "[nntp] host is not set");
    if (!news->client) {
        news->try_at = clock_monotonic() + TRY_AGAIN;
        set_down(runner, fault->message);
        g_propagate_error(error, g_steal_pointer(&fault));
        return NULL;
    }
    g_clear_pointer(&news->down, g_free);
    tell_master(runner);
    return news->client;
}

/* A call on the connection failed: close it, unless only something is missing there. */
static void give_up_connection(Runner *runner, const GError *error)
{
    News *news = news_of(runner);
    if (!g_error_matches(error, FAIL, FAIL_MISSING))
        g_clear_pointer(&news->client, nntp_client_free);
}

/* ---- posting ---- */

static bool post_entry(Runner *runner, Entry *entry, const List *list, GError **error)
{
    const Config *config = runner_config(runner);
    const ListSettings *settings = list->settings;
    const ArticleRules rules = {
        .newsgroup = settings->linked_newsgroup, .list_id = list->list_id, .mail_host = list->mail_host,
        .approved = settings->newsgroup_moderation != NEWSGROUP_NONE ? list->posting_address : NULL,
        .remove = config_list(config, "nntp", "remove_headers"), .date = entry_arrival(entry),
    };
    g_autoptr(GBytes) post = entry_message(entry);
    g_autofree char *id = NULL, *said = NULL;
    g_autoptr(GError) fault = NULL;
    NntpClient *client = news_client(runner, error);
    if (!client)
        return false;

    /* One try with the Message-ID of the post, and one with our own, unless the group has the article: then it was an
     * earlier try of ours that the server knows it from, and not somebody else. */
    NntpVerdict verdict = NNTP_KNOWN;
    bool there = false, asked = true;
    for (int own = 0; own < 2 && asked && verdict == NNTP_KNOWN && !there; own++) {
        g_clear_pointer(&id, g_free);
        g_clear_pointer(&said, g_free);
        g_autoptr(GBytes) article = article_make(post, &rules, own, &id), head = NULL;
        asked = nntp_client_post(client, article, &verdict, &said, &fault) &&
                (verdict != NNTP_KNOWN || nntp_client_head(client, id, &head, &fault));
        there = head && article_is_in(head, rules.newsgroup);
    }
    if (!asked && !g_error_matches(fault, FAIL, FAIL_NEVER)) {
        give_up_connection(runner, fault);
        set_down(runner, fault->message);
    }
    if (!asked)
        return fail_with(error, &fault);
    if (verdict != NNTP_POSTED && !there)
        return fail(error, FAIL_NEVER, "the news server refuses it: %s", said);
    list_runner_log(entry, "message-id=%s newsgroup=%s result=posted (%s)", id, settings->linked_newsgroup, said);
    return true;
}

/* ---- from news groups to lists ---- */

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

/* Write entries and watermark. *moved: somebody else has moved the watermark, and nothing was written. */
static bool write_batch(Runner *runner, const FetchBatch *batch, bool *moved, GError **error)
{
    ListRunner *shared = runner_data(runner);
    News *news = news_of(runner);
    const List *list = batch->list;
    const char *newsgroup = list->settings->linked_newsgroup;
    const Actor actor = {.role = ACTOR_OPERATOR, .door = DOOR_TIMER, .from = "-"};
    g_autoptr(Work) work = work_new(shared->store, &shared->site, &actor);
    const Injection injection = {.list = list, .to = TO_POSTING, .host = work_site(work)->hostname, .door = "nntp"};
    int64_t watermark;
    if (!work_begin_people(work, list->list_id, error))
        return false;
    bool done = news_watermark(shared->store, list->list_id, newsgroup, &watermark, error);
    *moved = done && watermark != batch->before;
    for (guint at = 0; done && !*moved && at < batch->articles->len; at++) {
        GBytes *article = batch->articles->pdata[at];
        json_t *meta = injection_meta(&injection, article);
        meta_set_string(meta, KEY_FROM_NEWS, newsgroup);
        /* They go through the queue in the order of their numbers: each arrives a microsecond after the one before. */
        news->last_arrival = MAX(news->last_arrival + 1, work_now(work));
        meta_set_integer(meta, META_ARRIVAL, news->last_arrival);
        GPtrArray *pieces = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
        g_ptr_array_add(pieces, g_bytes_ref(article));
        work_entry(work, "in", meta, pieces, NULL);
    }
    if (done && !*moved && news_set_watermark(shared->store, list->list_id, newsgroup, batch->up_to, error))
        return work_commit(work, runner_spool(runner), error);
    work_cancel(work);
    return done && *moved;
}

/* Read and write one step. What was read before a fault is written, too. *more: the next step goes on at once. */
static bool fetch(Runner *runner, NntpClient *client, const List *list, bool *more, GError **error)
{
    ListRunner *shared = runner_data(runner);
    const char *newsgroup = list->settings->linked_newsgroup;
    g_autoptr(GPtrArray) articles = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
    FetchBatch batch = {.list = list, .articles = articles, .end = clock_monotonic() + STEP_US};
    NntpGroup group;
    bool moved = false;
    if (!nntp_client_group(client, newsgroup, &group, error) ||
        !news_watermark(shared->store, list->list_id, newsgroup, &batch.before, error))
        return false;
    batch.up_to = batch.before;
    batch.seen = MAX(batch.before, group.first - 1);
    if (batch.before == NEWS_NOWHERE) {
        /* At the first look, and after "listrunner news catchup": the list begins behind what is there. */
        batch.up_to = MAX(group.last, MAX(group.first - 1, 0));
        if (!write_batch(runner, &batch, &moved, error))
            return false;
        if (!moved)
            log_info("- list=%s newsgroup=%s result=begins behind article %" PRId64, list->list_id, newsgroup,
                     batch.up_to);
        return true;
    }
    /* The last number of a group never goes back (RFC 3977, 6), so this is another group of that name, and nobody but a
     * person knows which of its articles the list has had. */
    if (group.count > 0 && group.last >= group.first && group.last < batch.before)
        return fail(error, FAIL_LATER,
                    "the group ends at article %" PRId64 " now, and the list stands behind article %" PRId64
                    "; if the group was made anew: listrunner news catchup %s",
                    group.last, batch.before, list->posting_address);
    g_autoptr(GError) fault = NULL;
    bool read = read_some(runner, client, &batch, &group, &fault);
    if (batch.up_to > batch.before && !write_batch(runner, &batch, &moved, error))
        return false;
    if (!moved && articles->len > 0)
        log_info("- list=%s newsgroup=%s articles=%u watermark=%" PRId64 " result=taken-in", list->list_id, newsgroup,
                 articles->len, batch.up_to);
    *more = read && batch.up_to > batch.before && batch.seen < group.last;
    if (!read)
        g_propagate_error(error, g_steal_pointer(&fault));
    return read;
}

/* Put new articles of the list's group into the queue in, no more than a step has room for, and note how that went.
 * *more: the group has others. */
static bool fetch_from_group(Runner *runner, const List *list, bool *more, GError **error)
{
    ListRunner *shared = runner_data(runner);
    g_autoptr(GError) fault = NULL, unwritten = NULL;
    NntpClient *client = news_client(runner, &fault);
    *more = false;
    bool done = client && fetch(runner, client, list, more, &fault);
    if (client && !done)
        give_up_connection(runner, fault);
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

static void round_free(NewsRound *round)
{
    if (!round)
        return;
    g_ptr_array_unref(round->places);
    g_string_free(round->faults, TRUE);
    g_free(round);
}

/* Do the next step of the round of all lists that want it, and begin one if none is being done. Returns true when the
 * round is done, and has told the master what a person must know; *more: another is worth while at once. */
static bool fetch_step(Runner *runner, bool *more)
{
    ListRunner *shared = runner_data(runner);
    News *news = news_of(runner);
    *more = false;
    if (!news->round) {
        g_autoptr(GError) error = NULL;
        GPtrArray *places = news_places(shared->store, &error);
        if (places) {
            news->round = g_new0(NewsRound, 1);
            news->round->places = places;
            news->round->faults = g_string_new(NULL);
        } else {
            log_error("- queue=nntp: %s", error->message);
        }
    }
    NewsRound *round = news->round;
    if (round && round->next < round->places->len) {
        const NewsPlace *place = round->places->pdata[round->next++];
        bool further = false;
        g_autoptr(GError) fault = NULL;
        g_autoptr(List) list = list_by_id(shared->store, place->list_id, &fault);
        bool gone = !list && g_error_matches(fault, FAIL, FAIL_MISSING);
        bool done = list && (!list->settings->gateway_to_mail || fetch_from_group(runner, list, &further, &fault));
        round->more = round->more || further;
        if (!gone && !done && !(list && runner_stopping(runner))) {
            log_error("- list=%s newsgroup=%s result=later (%s)", place->list_id, place->newsgroup, fault->message);
            if (!news->down)
                g_string_append_printf(round->faults, "%s%s: %s", round->faults->len > 0 ? "; " : "", place->list_id,
                                       fault->message);
        }
    }
    if (round && round->next < round->places->len)
        return false;
    g_free(news->faults);
    news->faults = round && round->faults->len > 0 ? g_strdup(round->faults->str) : NULL;
    *more = round && round->more;
    g_clear_pointer(&news->round, round_free);
    tell_master(runner);
    return true;
}

/* ---- an entry ---- */

static bool handle(Runner *runner, Entry *entry, Outcome *outcome, GError **error)
{
    ListRunner *shared = runner_data(runner);
    g_autoptr(GError) missing = NULL;
    const List *list = list_cache_get(shared->lists, entry_list(entry), &missing);
    if (!list) {
        if (g_error_matches(missing, FAIL, FAIL_MISSING))
            return fail(error, FAIL_NEVER, "there is no list %s", entry_list(entry));
        return fail_with(error, &missing);
    }
    bool look = meta_bool(entry_meta(entry), KEY_NEWS_LOOK);
    bool linked = list->settings->linked_newsgroup && *list->settings->linked_newsgroup &&
                  (look ? list->settings->gateway_to_mail : list->settings->gateway_to_news);
    if (!linked) {
        list_runner_log(entry, "result=dropped (the list is no longer linked with a news group)");
        return true;
    }
    if (!look)
        return post_entry(runner, entry, list, error);
    bool more, done = fetch_from_group(runner, list, &more, error);
    if (more)
        news_of(runner)->look_at = 0;
    return done;
}

/* ---- start, idle, stop ---- */

static bool start(Runner *runner, GError **error)
{
    static const char *const levels[] = {"none", "starttls", "tls", NULL};
    const Config *config = runner_config(runner);
    if (!list_runner_start(runner, error))
        return false;
    News *news = g_new0(News, 1);
    ((ListRunner *)runner_data(runner))->more = news;
    const char *level = config_string(config, "nntp", "tls"), *user = config_string(config, "nntp", "user");
    NntpTls tls = NNTP_TLS_NONE;
    while (strcmp(levels[tls], level) != 0)
        tls++;
    if (tls != NNTP_TLS_NONE && !(news->tls = smtp_tls_new(config_string(config, "nntp", "tls_ca_file"), error)))
        return false;
    if (user && !(news->password = secret_file_line(config_string(config, "nntp", "password_file"), error))) {
        g_prefix_error(error, "[nntp] password_file: ");
        return false;
    }
    news->port = g_strdup_printf("%" G_GINT64_FORMAT, config_integer(config, "nntp", "port"));
    news->settings = (NntpSettings){
        .host = config_string(config, "nntp", "host"), .port = news->port, .user = user, .password = news->password,
        .tls = tls, .tls_context = news->tls, .timeout = config_duration(config, "nntp", "timeout"),
        .article_most = config_size(config, "nntp", "max_article_size"), .alive = runner_alive, .data = runner,
    };
    return true;
}

/* Posts to groups do not wait for what comes from there: the queue is looked at after each step. */
static int64_t idle(Runner *runner)
{
    News *news = news_of(runner);
    bool looks = news->settings.host && runner_slice(runner).index == 0;
    int64_t pause = config_duration(runner_config(runner), "nntp", "poll_interval"), until = 0;
    if (looks && (news->round || clock_monotonic() >= news->look_at)) {
        g_autoptr(GError) unknown = NULL;
        Store *store = ((ListRunner *)runner_data(runner))->store;
        bool more;
        if (!this_host_claims(store, runner_spool(runner), runner_config(runner), "news", &until, &unknown)) {
            log_error("- queue=nntp: %s", unknown->message);
            until = 0;
        }
        if (until <= 0) { /* of several hosts, one fetches, and it is another */
            g_clear_pointer(&news->round, round_free);
            news->look_at = clock_monotonic() + pause;
        } else {
            if (!fetch_step(runner, &more))
                return 0;
            news->look_at = clock_monotonic() + (more ? 0 : pause);
            if (more)
                return 0;
        }
    }
    g_clear_pointer(&news->client, nntp_client_free); /* nobody needs it now, and the server need not keep it */
    return looks ? MAX(news->look_at - clock_monotonic(), 0) : -1;
}

static void stop(Runner *runner)
{
    ListRunner *shared = runner_data(runner);
    News *news = shared ? shared->more : NULL;
    if (news) {
        nntp_client_free(news->client);
        round_free(news->round);
        smtp_tls_free(news->tls);
        g_free(news->port);
        g_free(news->password);
        g_free(news->down);
        g_free(news->faults);
        g_free(news);
    }
    list_runner_stop(runner);
}

static const RunnerSpec spec = {
    .name = "nntp",
    .longest_wait = RUNNER_WAIT_MAX,
    .durable_claim = true,
    .start = start,
    .begin_batch = list_runner_refresh,
    .handle = handle,
    .idle = idle,
    .stop = stop,
};

int main(int argc, char **argv)
{
    return runner_main(&spec, argc, argv);
}
