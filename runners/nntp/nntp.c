/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * The nntp runner: posts each entry of its queue to the news group of its list, and looks at the groups of all lists
 * now and then (fetch.c).
 *
 * A post that the server has already by its Message-ID, in this group, was posted at an earlier try that nobody could
 * note, and is done. In another group it was posted by somebody else (the author, or another list): then it is posted
 * under a Message-ID of ours, which is the same at each try.
 */
#include "runners/nntp/nntp.h"

#include <string.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/secret_file.h"
#include "lists/hosts/this_host.h"
#include "lists/keys.h"
#include "runners/nntp/article.h"
#include "store/lists/list_setting.h"

#define TRY_AGAIN (5 * CLOCK_SECOND)

News *news_of(Runner *runner)
{
    return ((ListRunner *)runner_data(runner))->more;
}

/* ---- the connection ---- */

void news_tell(Runner *runner)
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
    news_tell(runner);
}

NntpClient *news_client(Runner *runner, GError **error)
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
    news_tell(runner);
    return news->client;
}

void news_failed(Runner *runner, const GError *error)
{
    News *news = news_of(runner);
    if (!g_error_matches(error, FAIL, FAIL_MISSING))
        g_clear_pointer(&news->client, nntp_client_free);
}

/* ---- posting ---- */

/* Whether the server knows the article from an earlier try of ours, or else from somebody else. */
static bool find_in_group(NntpClient *client, const char *id, const char *newsgroup, bool *there, GError **error)
{
    GBytes *found;
    if (!nntp_client_head(client, id, &found, error))
        return false;
    g_autoptr(GBytes) head = found;
    *there = head && article_is_in(head, newsgroup);
    return true;
}

/* One try with the Message-ID of the post, and one with our own. *said is the last answer. */
static bool post_article(NntpClient *client, GBytes *post, const ArticleRules *rules, char **id, char **said,
                         GError **error)
{
    NntpVerdict verdict = NNTP_KNOWN;
    bool there = false;
    for (int own = 0; own < 2 && verdict == NNTP_KNOWN && !there; own++) {
        g_clear_pointer(id, g_free);
        g_clear_pointer(said, g_free);
        g_autoptr(GBytes) article = article_make(post, rules, own, id);
        if (!nntp_client_post(client, article, &verdict, said, error) ||
            (verdict == NNTP_KNOWN && !find_in_group(client, *id, rules->newsgroup, &there, error)))
            return false;
    }
    return verdict == NNTP_POSTED || there || fail(error, FAIL_NEVER, "the news server refuses it: %s", *said);
}

static bool post_entry(Runner *runner, Entry *entry, const List *list, GError **error)
{
    const Config *config = runner_config(runner);
    bool moderated = list->settings->newsgroup_moderation != NEWSGROUP_NONE;
    const ArticleRules rules = {
        .newsgroup = list->settings->linked_newsgroup, .list_id = list->list_id, .mail_host = list->mail_host,
        .approved = moderated ? list->posting_address : NULL,
        .remove = config_list(config, "nntp", "remove_headers"), .date = entry_arrival(entry),
    };
    g_autoptr(GBytes) post = entry_message(entry);
    g_autofree char *id = NULL, *said = NULL;
    g_autoptr(GError) fault = NULL;
    NntpClient *client = news_client(runner, error);
    if (!client)
        return false;
    if (!post_article(client, post, &rules, &id, &said, &fault)) {
        bool refused = g_error_matches(fault, FAIL, FAIL_NEVER);
        if (!refused) {
            news_failed(runner, fault);
            set_down(runner, fault->message);
        }
        return fail_with(error, &fault);
    }
    list_runner_log(entry, "message-id=%s newsgroup=%s result=posted (%s)", id, list->settings->linked_newsgroup, said);
    return true;
}

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
    bool more, done = news_fetch(runner, list, &more, error);
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

/* Of several hosts, one fetches. */
static bool may_fetch(Runner *runner)
{
    int64_t until;
    g_autoptr(GError) unknown = NULL;
    Store *store = ((ListRunner *)runner_data(runner))->store;
    if (this_host_claims(store, runner_spool(runner), runner_config(runner), "news", &until, &unknown))
        return until > 0;
    log_error("- queue=nntp: %s", unknown->message);
    return false;
}

/* Posts to groups do not wait for what comes from there: the queue is looked at after each step. */
static int64_t idle(Runner *runner)
{
    News *news = news_of(runner);
    bool looks = news->settings.host && runner_slice(runner).index == 0;
    int64_t pause = config_duration(runner_config(runner), "nntp", "poll_interval");
    if (looks && (news->round || clock_monotonic() >= news->look_at) && !may_fetch(runner)) {
        g_clear_pointer(&news->round, news_round_free);
        news->look_at = clock_monotonic() + pause;
    }
    if (looks && (news->round || clock_monotonic() >= news->look_at)) {
        bool more;
        if (!news_fetch_step(runner, &more))
            return 0;
        news->look_at = clock_monotonic() + (more ? 0 : pause);
        if (more)
            return 0;
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
        news_round_free(news->round);
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
