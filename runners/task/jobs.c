/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/task/jobs.h"

#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/trail/trail.h"
#include "lists/kept.h"
#include "lists/letters/held_notice.h"
#include "lists/letters/template_host.h"
#include "lists/letters/template_name.h"
#include "lists/letters/template_set.h"
#include "lists/making/mta_maps.h"
#include "lists/posts/digest_send.h"
#include "lists/posts/held_post.h"
#include "lists/posts/refused.h"
#include "lists/posts/scheduled_post.h"
#include "lists/sources/source.h"
#include "lists/unit.h"
#include "net/http_client.h"
#include "store/lists/list_log.h"
#include "store/lists/list_setting.h"
#include "store/maintain.h"
#include "store/people/account.h"
#include "store/people/departure.h"
#include "store/people/pending.h"
#include "store/people/session.h"
#include "store/people/stranger.h"
#include "store/people/vacation.h"
#include "store/posts/autoresponse.h"
#include "store/posts/ticket.h"

#define MINUTE (60 * CLOCK_SECOND)

/* ---- sources of members ---- */

/* Sources that are due are read (lists/sources/source.h). One that fails is told in the log and in its row, where
 * status and the metrics find it, and does not keep the others from their turn. */
static bool commit(Work *work, void *data, GError **error)
{
    const JobPlace *place = data;
    return work_commit(work, runner_spool(place->runner), error);
}

/* Asked while a source is read, too, when the claim is not to be looked at in the database. */
static bool alive(void *data)
{
    const JobPlace *place = data;
    runner_progress(place->runner);
    return !runner_stopping(place->runner);
}

static bool refresh_one(const JobPlace *place, MemberSource *source, int64_t *done, GError **error)
{
    const Actor actor = {.role = ACTOR_OPERATOR, .door = DOOR_TIMER, .from = "task"};
    const SourceRun run = {.read = source_read,
                           .store = place->store,
                           .site = place->site,
                           .actor = &actor,
                           .interval = config_duration(place->config, "site", "source_interval"),
                           .commit = commit,
                           .alive = alive,
                           .data = (void *)place};
    g_auto(SourceResult) result = {0};
    g_autoptr(GError) fault = NULL;
    bool told = source_refresh(&run, source, &result, &fault);
    *done += result.joined + result.left;
    if (result.fault)
        log_warn("- queue=task job=sources list=%s source=%s: %s", source->list_id, source->name,
                 result.fault->message);
    else if (result.joined + result.left > 0)
        log_info("- queue=task job=sources list=%s source=%s joined=%" G_GINT64_FORMAT " left=%" G_GINT64_FORMAT,
                 source->list_id, source->name, result.joined, result.left);
    /* Somebody refreshes or sets it in the shell, or has removed it or its list. */
    if (told || g_error_matches(fault, FAIL, FAIL_RACE) || g_error_matches(fault, FAIL, FAIL_MISSING))
        return true;
    g_propagate_prefixed_error(error, g_steal_pointer(&fault), "%s, source %s: ", source->list_id, source->name);
    return false;
}

/* The job that reads members of lists from sources outside the site. */
static bool refresh_sources(const JobPlace *place, int64_t *done, GError **error)
{
    g_autoptr(GError) first = NULL;
    g_autoptr(GPtrArray) due = source_due(place->store, place->now, error);
    for (guint at = 0; due && at < due->len && !job_stops(place); at++) {
        g_autoptr(GError) fault = NULL;
        if (!refresh_one(place, due->pdata[at], done, &fault) && !first)
            first = g_steal_pointer(&fault);
    }
    if (first)
        g_propagate_error(error, g_steal_pointer(&first));
    return due && !first;
}

/* ---- texts of letters ---- */

/*
 * The texts of letters that come from a URI are fetched: those that were set since, those that are too old, and after a
 * pause those that could not be had. What cannot be fetched, or cannot be a text, changes nothing but the fault that
 * `listrunner template ls` shows; a text with a placeholder that is not filled in is used, since who set the URI may
 * find out only there what is wrong with it.
 */
#define RETRY (5 * MINUTE)
#define PATIENCE (10 * CLOCK_SECOND) /* for one text */
#define TURN (30 * CLOCK_SECOND)     /* for all of a run; the others wait for the next */

/* The text, or NULL with what is wrong. */
static char *fetch_text(const JobPlace *place, const TemplateText *row, GError **error)
{
    bool file = g_str_has_prefix(row->uri, "file:"), public_only = false;
    /* The site may name other hosts since the text was set. */
    if (!file && !template_host_allows(place->site->template_hosts, row->place, row->uri, &public_only, error))
        return NULL;
    const HttpRequest request = {.url = row->uri,
                                 .files = file,
                                 .public_only = public_only,
                                 .user = row->username,
                                 .password = row->password,
                                 .timeout = PATIENCE,
                                 .answer_max = LIST_TEXT_MAX,
                                 .alive = runner_alive,
                                 .data = place->runner};
    g_auto(HttpAnswer) answer = {0};
    if ((file && !template_file_allowed(place->site, row->uri, error)) || !http_get(&request, &answer, error))
        return NULL;
    if (!file && answer.status != 200)
        fail(error, FAIL_NEVER, "%s answered %ld", row->uri, answer.status);
    else if (answer.cut)
        fail(error, FAIL_NEVER, "%s is longer than %d octets", row->uri, LIST_TEXT_MAX);
    else if (!g_utf8_validate_len(answer.body->str, answer.body->len, NULL))
        fail(error, FAIL_NEVER, "%s is no text in UTF-8", row->uri);
    else
        return g_strdup(answer.body->str);
    return NULL;
}

/* The job that fetches texts of letters from their URIs. */
static bool fetch_templates(const JobPlace *place, int64_t *done, GError **error)
{
    int64_t refresh = config_duration(place->config, "site", "template_refresh"), end = clock_monotonic() + TURN;
    g_autoptr(GHashTable) silent = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GPtrArray) stale = template_text_stale(place->store, place->now - refresh, place->now - RETRY, error);
    for (guint at = 0; stale && at < stale->len && clock_monotonic() < end; at++) {
        TemplateText *row = stale->pdata[at];
        g_autoptr(GError) fault = NULL;
        if (job_stops(place))
            break;
        /* A server that does not answer is asked once a run. */
        const char *host = strstr(row->uri, "://");
        size_t length = host ? (size_t)(host - row->uri) + 3 + strcspn(host + 3, "/") : strlen(row->uri);
        g_autofree char *source = g_strndup(row->uri, length);
        if (!g_hash_table_contains(silent, source)) {
            const TemplateName *name = template_name_find(row->name);
            g_autofree char *text = fetch_text(place, row, &fault);
            if (runner_stopping(place->runner))
                return true;
            if (!text && g_error_matches(fault, FAIL, FAIL_LATER))
                g_hash_table_add(silent, g_steal_pointer(&source));
            if (text && name)
                template_check(name, text, &fault);
            g_free(row->text);
            g_free(row->fault);
            row->text = g_steal_pointer(&text);
            row->fault = g_strdup(fault ? fault->message : "");
            row->fetched_at = clock_now();
            *done += row->text != NULL;
            if (fault)
                log_warn("- queue=task job=templates template=%s place=%s: %s", row->name,
                         *row->place ? row->place : "site", fault->message);
            if (!template_text_fetched(place->store, row, error))
                return false;
        }
        runner_progress(place->runner);
    }
    return stale != NULL;
}

/* ---- jobs ---- */

#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)

/* ---- one list after the other, each in a unit of work of its own ---- */

typedef bool ListJob(Work *work, const List *list, int64_t *done, GError **error);

static bool work_on_list(const JobPlace *place, const char *list_id, ListJob *job, int64_t *done, GError **error)
{
    const Actor actor = {.role = ACTOR_OPERATOR, .door = DOOR_TIMER, .from = "task"};
    g_autoptr(Work) work = work_new(place->store, place->site, &actor);
    g_autoptr(GError) missing = NULL;
    if (!work_begin_people(work, list_id, error))
        return false;
    g_autoptr(List) list = list_by_id(place->store, list_id, &missing);
    if (!list || !job(work, list, done, list ? error : NULL)) {
        work_cancel(work);
        if (list || g_error_matches(missing, FAIL, FAIL_MISSING)) /* gone meanwhile */
            return !list;
        return fail_with(error, &missing);
    }
    return work_commit(work, runner_spool(place->runner), error);
}

/* A list that fails does not keep the others from their turn; the first fault is told. */
static bool work_on_lists(const JobPlace *place, char **list_ids, ListJob *job, int64_t *done, GError **error)
{
    g_auto(GStrv) all = list_ids;
    g_autoptr(GError) first = NULL;
    for (char **one = all; one && *one && !job_stops(place); one++) {
        g_autoptr(GError) fault = NULL;
        int64_t count = 0;
        if (!work_on_list(place, *one, job, &count, &fault)) {
            g_prefix_error(&fault, "%s: ", *one);
            if (!first)
                first = g_steal_pointer(&fault);
        }
        *done += count;
        runner_progress(place->runner);
    }
    if (!first)
        return all != NULL;
    return fail_with(error, &first);
}

/* ---- jobs ---- */

static void tell_progress(void *runner)
{
    runner_progress(runner);
}

/* Store and remove what is left of units. Queues that no unit in the database names are looked through when the process
 * starts and once an hour: what a process left there that died before its commit was never decided, and nobody misses
 * it. One step does not wait for the others, since a unit whose rows cannot be read fails until a person has looked. */
static bool settle_units(const JobPlace *place, int64_t *done, GError **error)
{
    static int64_t thorough_at;
    Spool *spool = runner_spool(place->runner);
    int64_t now = clock_monotonic();
    bool thorough = now >= thorough_at;
    (void)done;
    if (thorough)
        thorough_at = now + HOUR;
    bool settled = unit_settle(place->store, spool, thorough, error);
    if (thorough) {
        /* Names that a killed backup left keep mail that was removed since. While a backup is at work, it has the lock.
         * The directory itself stays for who may just be about to take that. */
        g_autofree char *aside = g_build_filename(spool_path(spool), SPOOL_BACKUP, NULL);
        g_autofree char *names = g_build_filename(aside, "moment", NULL);
        auto_fd turn = open(aside, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (turn >= 0 && access(names, F_OK) == 0 && flock(turn, LOCK_EX | LOCK_NB) == 0) {
            log_info("a backup that was interrupted left %s, which is removed", names);
            if (!fs_remove_tree(names, settled ? error : NULL))
                settled = false;
        }
    }
    if (thorough && !kept_forget_gone(place->store, spool, place->now - HOUR, settled ? error : NULL))
        settled = false;
    return settled;
}

static bool tell_gathered(const JobPlace *place, int64_t *done, GError **error)
{
    char **lists = held_lists(place->store, true, error);
    return lists && work_on_lists(place, lists, held_tell_gathered, done, error);
}

/* One that somebody else has sent, moved or dropped meanwhile is no fault. */
static bool send_one(const JobPlace *place, int64_t number, int64_t *done, GError **error)
{
    const Actor actor = {.role = ACTOR_OPERATOR, .door = DOOR_TIMER, .from = "task"};
    g_autoptr(Work) work = work_new(place->store, place->site, &actor);
    g_autoptr(GError) fault = NULL;
    g_autoptr(Scheduled) waiting = scheduled_find(place->store, number, &fault);
    if (!waiting)
        return fail_unless(error, FAIL_MISSING, &fault);
    if (!work_begin_people(work, waiting->list_id, error))
        return false;
    if (scheduled_post_due(work, number, &fault)) {
        bool kept = work_commit(work, runner_spool(place->runner), error);
        *done += kept;
        return kept;
    }
    work_cancel(work);
    g_autoptr(Scheduled) post = scheduled_find(place->store, number, NULL);
    if (!post && g_error_matches(fault, FAIL, FAIL_MISSING))
        return true;
    g_propagate_prefixed_error(error, g_steal_pointer(&fault), "scheduled post %" G_GINT64_FORMAT " of %s: ", number,
                               post ? post->list_id : "an unknown list");
    return false;
}

/* Each for itself: one that cannot be sent does not keep the others. All faults are in the log, the first is told. */
static bool send_scheduled(const JobPlace *place, int64_t *done, GError **error)
{
    g_autoptr(GArray) numbers = scheduled_due(place->store, place->now, error);
    g_autoptr(GError) first = NULL;
    for (unsigned at = 0; numbers && at < numbers->len && !job_stops(place); at++) {
        g_autoptr(GError) fault = NULL;
        if (!send_one(place, g_array_index(numbers, int64_t, at), done, &fault)) {
            log_error("- queue=task job=scheduled: %s", fault->message);
            if (!first)
                first = g_steal_pointer(&fault);
        }
        runner_progress(place->runner);
    }
    if (!first)
        return numbers != NULL;
    return fail_with(error, &first);
}

/* In pieces, so that nobody waits long for the database. */
static bool discard_expired(const JobPlace *place, int64_t *done, GError **error)
{
    for (int64_t before = -1; before != *done && !job_stops(place);) {
        before = *done;
        char **lists = held_lists(place->store, false, error);
        if (!lists || !work_on_lists(place, lists, held_post_expire, done, error))
            return false;
    }
    return true;
}

/* Lists with held posts, and those with requests alone. */
static bool remind(const JobPlace *place, int64_t *done, GError **error)
{
    g_autoptr(GHashTable) lists = g_hash_table_new(g_str_hash, g_str_equal);
    g_auto(GStrv) held = held_lists(place->store, false, error);
    g_auto(GStrv) asked = held ? pending_lists(place->store, place->now, error) : NULL;
    if (!asked)
        return false;
    for (char **one = held; *one; one++)
        g_hash_table_add(lists, *one);
    for (char **one = asked; *one; one++)
        g_hash_table_add(lists, *one);
    g_autofree char **names = (char **)g_hash_table_get_keys_as_array(lists, NULL);
    return work_on_lists(place, g_strdupv(names), held_remind, done, error);
}

static bool send_digests(const JobPlace *place, int64_t *done, GError **error)
{
    char **lists = digest_send_lists(place->store, place->now, error);
    return lists && work_on_lists(place, lists, digest_send_due, done, error);
}

static bool expire_requests(const JobPlace *place, int64_t *done, GError **error)
{
    return pending_expire(place->store, place->now, done, error) && account_expire(place->store, place->now, error) &&
           departure_expire(place->store, place->now, NULL, error) && session_expire(place->store, place->now, error) &&
           list_log_expire(place->store, place->now - LIST_LOG_KEPT, error) &&
           leave_brake_expire(place->store, place->now - DAY, error);
}

static bool expire_strangers(const JobPlace *place, int64_t *done, GError **error)
{
    return stranger_expire(place->store, place->now - STRANGER_KEPT, tell_progress, place->runner, done, error);
}

static bool expire_tickets(const JobPlace *place, int64_t *done, GError **error)
{
    return ticket_expire(place->store, place->now, done, error);
}

static bool note_grace(const List *list, void *data)
{
    int64_t *longest = data;
    *longest = MAX(*longest, list->settings->autoresponse_grace_period);
    return true;
}

static bool expire_answers(const JobPlace *place, int64_t *done, GError **error)
{
    int64_t longest = DAY; /* for which nobody gets a second welcome or goodbye (lists/people/subscription.c) */
    return list_each(place->store, NULL, note_grace, &longest, error) &&
           autoresponse_expire(place->store, place->now - longest, done, error);
}

static bool turn_vacations(const JobPlace *place, int64_t *done, GError **error)
{
    return vacation_turn(place->store, place->now, done, error);
}

static bool forget_records(const JobPlace *place, int64_t *done, GError **error)
{
    (void)done;
    /* Records that belong to mail which is tried still are needed, however short that setting is. */
    int64_t tried = config_duration(place->config, "out", "maximal_queue_lifetime");
    int64_t keep = MAX(config_duration(place->config, "store", "remember"), tried + DAY);
    return store_expire(place->store, keep, error) &&
           store_give_back(place->store, tell_progress, place->runner, error);
}

/* Only after something changed in the database that lists are read from. */
static bool write_mta_maps(const JobPlace *place, int64_t *done, GError **error)
{
    static int64_t written; /* for this state of the database; 0: none */
    const char *directory = config_string(place->config, "mta", "maps_directory");
    int64_t version = directory ? store_version(place->store) : written;
    if (version == written)
        return true;
    bool exim = g_str_equal(config_string(place->config, "mta", "maps_format"), "exim");
    if (!mta_maps_write(place->store, place->config, exim ? MTA_EXIM : MTA_POSTFIX, directory, error))
        return false;
    written = version;
    (*done)++;
    return true;
}

static bool tidy_trail(const JobPlace *place, int64_t *done, GError **error)
{
    const Config *config = place->config;
    int64_t keep = config_duration(config, "trail", "keep");
    return !config_bool(config, "trail", "enabled") ||
           trail_tidy(config_string(config, "trail", "directory"), config_size(config, "trail", "size"),
                      place->now - keep, done, error);
}

static bool tidy_refused(const JobPlace *place, int64_t *done, GError **error)
{
    return refused_tidy(place->config, place->now, done, error);
}

const TimerJob timer_jobs[] = {
    {"outbox", MINUTE, "entries", settle_units, true},
    {"held-notices", MINUTE, "posts", tell_gathered, false},
    {"scheduled", MINUTE, "posts", send_scheduled, false},
    {"held-expiry", HOUR, "posts", discard_expired, false},
    {"digests", MINUTE, "posts", send_digests, false},
    {"requests", HOUR, "requests", expire_requests, false},
    {"vacations", MINUTE, "people", turn_vacations, false},
    {"tickets", HOUR, "tickets", expire_tickets, false},
    {"autoresponses", DAY, "records", expire_answers, false},
    {"strangers", DAY, "nonmembers", expire_strangers, false},
    {"records", HOUR, "records", forget_records, false},
    {MTA_MAPS_JOB, MINUTE, "times", write_mta_maps, true},
    {"trail", HOUR, "files", tidy_trail, true},
    {"refused", HOUR, "mails", tidy_refused, true},
    {"templates", MINUTE, "texts", fetch_templates, false},
    {"sources", MINUTE, "members", refresh_sources, false},
    {"reminders", 0, "reminded-of", remind, false},
    {NULL, 0, NULL, NULL, false},
};

int64_t timer_job_next(const TimerJob *job, const Config *config, int64_t now)
{
    if (job->interval > 0)
        return now + job->interval;
    const char *text = config_string(config, "task", "reminder_time");
    if (g_str_equal(text, "never"))
        return INT64_MAX;
    /* The next time that this host's clock shows the text ("08:00"). */
    unsigned hour = 8, minute = 0;
    sscanf(text, "%2u:%2u", &hour, &minute);
    g_autoptr(GDateTime) local = g_date_time_new_from_unix_local(now / CLOCK_SECOND);
    g_autoptr(GDateTime) today =
        g_date_time_new_local(g_date_time_get_year(local), g_date_time_get_month(local),
                              g_date_time_get_day_of_month(local), (int)MIN(hour, 23), (int)MIN(minute, 59), 0);
    g_autoptr(GDateTime) next = g_date_time_compare(today, local) > 0 ? g_date_time_ref(today)
                                                                      : g_date_time_add_days(today, 1);
    return g_date_time_to_unix(next) * CLOCK_SECOND;
}
