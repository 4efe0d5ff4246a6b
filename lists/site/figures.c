/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/site/figures.h"

#include "base/clock.h"
#include "lists/hosts/host_state.h"
#include "store/hosts/canary.h"
#include "store/hosts/host.h"
#include "store/hosts/task_job.h"
#include "store/lists/template_text.h"
#include "store/outbox.h"
#include "store/people/account.h"
#include "store/people/departure.h"
#include "store/people/pending.h"
#include "store/people/source.h"
#include "store/people/stranger.h"
#include "store/posts/fragment.h"
#include "store/posts/held.h"
#include "switchboard/meta.h"

static double age_of(int64_t time)
{
    return time ? (double)MAX(clock_now() - time, 0) / CLOCK_SECOND : 0;
}

static void begin(GString *text, const char *name, const char *type, const char *help)
{
    g_string_append_printf(text, "# HELP listrunner_%s %s\n# TYPE listrunner_%s %s\n", name, help, name, type);
}

static bool add_waiting(Store *store, const char *hostname, GString *text, GError **error)
{
    FragmentCount count;
    HeldRoom room;
    int64_t strangers, held, held_since, asked, asked_since, left, left_since, texts, sources, early, closed, braked;
    if (!held_count(store, &held, &held_since, error) || !held_room(store, NULL, &room, error) ||
        !stranger_count(store, &strangers, error) || !pending_count(store, clock_now(), &asked, &asked_since, error) ||
        !leave_brake_sum(store, clock_now(), &closed, &braked, error) ||
        !outbox_count(store, hostname, &left, &left_since, error) ||
        !template_text_count_faults(store, &texts, error) || !source_count_faults(store, &sources, error) ||
        !fragment_count(store, hostname, &count, error) ||
        !fragment_count_early(store, hostname, clock_now() - FRAGMENT_EARLY_TOLD, &early, error))
        return false;
    const struct {
        const char *name, *help;
        double value;
    } gauges[] = {
        {"held_posts", "Posts that wait for a moderator.", (double)held},
        {"held_oldest_seconds", "How long the oldest of them has waited; 0: there is none.", age_of(held_since)},
        {"held_bytes", "Bytes that held posts take in the database.", (double)room.all},
        {"held_bytes_strangers", "Those of posts whose senders are not on the list.", (double)room.strangers},
        {"strangers", "Nonmembers that are known only because a post of theirs was held.", (double)strangers},
        {"moderator_requests", "Requests to join or leave that wait for a moderator.", (double)asked},
        {"moderator_requests_oldest_seconds", "How long the oldest of them has waited; 0: there is none.",
         age_of(asked_since)},
        {"leave_brakes", "Mail domains of which too many left a list at once, so that further ones wait.",
         (double)closed},
        {"leave_brake_requests", "Members of these who were made to wait for a moderator.", (double)braked},
        {"outbox_entries", "Changes of which nobody has made sure yet that their mail is in its queue.", (double)left},
        {"outbox_oldest_seconds", "How long the oldest of them has waited; 0: there is none.", age_of(left_since)},
        {"template_faults", "Texts of letters that could not be fetched, or have a fault.", (double)texts},
        {"source_faults", "Sources of members that failed or shrank at their last try.", (double)sources},
        {"fragment_open_sets", "Messages that wait for parts.", (double)count.sets},
        {"fragment_parts", "Their parts that are there.", (double)count.parts},
        {"fragment_octets", "Octets of these.", (double)count.octets},
        {"fragment_oldest_seconds", "How long the oldest of them has waited; 0: there is none.", age_of(count.oldest)},
        {"fragment_early", "Messages given up in the last hour before their parts were there, to make room.",
         (double)early},
    };
    for (size_t i = 0; i < G_N_ELEMENTS(gauges); i++) {
        begin(text, gauges[i].name, "gauge", gauges[i].help);
        g_string_append_printf(text, "listrunner_%s %.17g\n", gauges[i].name, gauges[i].value);
    }
    return true;
}

static const struct {
    const char *name, *type, *help;
} job_figures[] = {
    {"task_runs_total", "counter", "How often the timer did a job."},
    {"task_failures_total", "counter", "How often it failed."},
    {"task_last_run_seconds", "gauge", "How long ago its last run ended."},
    {"task_failed", "gauge", "Whether its last run failed."},
    {"task_late_seconds", "gauge", "How long it has been due; 0: it is not."},
};

static bool add_jobs(Store *store, GString *text, GError **error)
{
    g_autoptr(GPtrArray) jobs = task_job_all(store, error);
    for (size_t i = 0; jobs && i < G_N_ELEMENTS(job_figures); i++) {
        const char *name = job_figures[i].name;
        begin(text, name, job_figures[i].type, job_figures[i].help);
        for (unsigned at = 0; at < jobs->len; at++) {
            const TaskJob *job = jobs->pdata[at];
            const double figures[] = {(double)job->runs, (double)job->failures, age_of(job->ended_at), *job->fault != 0,
                                      age_of(job->due_at)};
            if (!job->nobodys)
                g_string_append_printf(text, "listrunner_%s{job=\"%s\"} %.17g\n", name, job->name, figures[i]);
        }
    }
    return jobs != NULL;
}

static const struct {
    const char *name, *help;
} account_figures[] = {
    {"account_counted", "How many mailboxes or networks are counted in the hour or day that runs."},
    {"account_total", "What their counts come to together."},
    {"account_greatest", "The greatest of these counts."},
};

/* Add the rows about mail from strangers (store/people/account.h). */
static bool add_accounts(Store *store, GString *text, GError **error)
{
    AccountSum sums[ACCOUNT_KINDS];
    for (int kind = 0; kind < ACCOUNT_KINDS; kind++)
        if (!account_sum(store, (AccountKind)kind, clock_now(), &sums[kind], error))
            return false;
    for (size_t i = 0; i < G_N_ELEMENTS(account_figures); i++) {
        const char *name = account_figures[i].name;
        begin(text, name, "gauge", account_figures[i].help);
        for (int kind = 0; kind < ACCOUNT_KINDS; kind++) {
            const int64_t figures[] = {sums[kind].counted, sums[kind].total, sums[kind].greatest};
            g_string_append_printf(text, "listrunner_%s{kind=\"%s\"} %" G_GINT64_FORMAT "\n", name,
                                   account_kind_text((AccountKind)kind), figures[i]);
        }
    }
    return true;
}

static const struct {
    const char *name, *help;
} host_figures[] = {
    {"host_up", "Whether the lease of the host runs."},
    {"host_draining", "Whether the host takes no new mail."},
    {"host_seen_timestamp_seconds", "When the host was last heard of."},
    {"host_backlog", "Entries that the runners of the host have to do, as it said last."},
    {"host_waiting", "Entries that wait for a person on the host, as it said last."},
};

static json_t *no_time(G_GNUC_UNUSED int64_t time)
{
    return json_null();
}

/* Of several hosts. */
static bool add_hosts(Store *store, GString *text, GError **error)
{
    g_autoptr(GPtrArray) hosts = host_all(store, error);
    for (size_t i = 0; hosts && hosts->len > 0 && i < G_N_ELEMENTS(host_figures); i++) {
        const char *name = host_figures[i].name;
        begin(text, name, "gauge", host_figures[i].help);
        for (guint at = 0; at < hosts->len; at++) {
            const Host *host = hosts->pdata[at];
            g_autoptr(json_t) row = host_state(host, no_time);
            const json_t *backlog = json_object_get(row, "backlog"), *waiting = json_object_get(row, "waiting");
            const int64_t figures[] = {host->living, host->draining, host->seen_at / CLOCK_SECOND,
                                       json_is_integer(backlog) ? json_integer_value(backlog) : -1,
                                       json_is_integer(waiting) ? json_integer_value(waiting) : -1};
            if (figures[i] >= 0) /* else it is not known */
                g_string_append_printf(text, "listrunner_%s{host=\"%s\"} %" G_GINT64_FORMAT "\n", name, host->name,
                                       figures[i]);
        }
    }
    return hosts != NULL;
}

/* Of mails that this host sends through the MTA and back. */
static bool add_canary(Store *store, const char *hostname, GString *text, GError **error)
{
    g_auto(Canary) canary = {0};
    if (!canary_read(store, hostname, &canary, error))
        return false;
    if (!canary.mail)
        return true;
    begin(text, "canary_missing_seconds", "gauge",
          "How long mails that Listrunner sent itself through the MTA are missing; 0: they come.");
    g_string_append_printf(text, "listrunner_canary_missing_seconds %.17g\n", age_of(canary.missing_since));
    begin(text, "canary_seconds", "gauge", "How long ago such a mail came back.");
    g_string_append_printf(text, "listrunner_canary_seconds %.17g\n", age_of(canary.back_at));
    return true;
}

bool figures_of_store(Store *store, const char *hostname, GString *text, GError **error)
{
    return add_waiting(store, hostname, text, error) && add_accounts(store, text, error) &&
           add_jobs(store, text, error) && add_hosts(store, text, error) && add_canary(store, hostname, text, error);
}
