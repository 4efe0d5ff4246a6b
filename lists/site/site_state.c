/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/site/site_state.h"

#include "base/auto.h"
#include "base/clock.h"
#include "base/control.h"
#include "lists/making/setting_check.h"
#include "lists/posts/scheduled_post.h"
#include "store/hosts/canary.h"
#include "store/hosts/host.h"
#include "store/hosts/task_job.h"
#include "store/lists/template_text.h"
#include "store/outbox.h"
#include "store/people/account.h"
#include "store/people/bounce.h"
#include "store/people/departure.h"
#include "store/people/pending.h"
#include "store/people/source.h"
#include "store/posts/fragment.h"
#include "store/posts/held.h"
#include "store/posts/scheduled.h"

#define BRAKES_SHOWN 20
#define LATE (15 * 60 * CLOCK_SECOND) /* nobody does what the timer should */

static json_t *text_or_null(const char *text)
{
    g_autofree char *valid = text ? g_utf8_make_valid(text, -1) : NULL;
    return valid ? json_string(valid) : json_null();
}

static json_t *time_or_null(int64_t time)
{
    g_autofree char *text = time > 0 ? clock_text(time) : NULL;
    return text ? json_string(text) : json_null();
}

json_t *site_state_exchange(const Config *config, const char *socket, json_t *request, int seconds, GError **error)
{
    const char *directory = config_string(config, "master", "runtime_directory");
    auto_fd fd = control_connect(directory, socket, seconds, error);
    if (fd >= 0)
        return control_exchange(fd, request, error);
    json_decref(request);
    return NULL;
}

json_t *site_state_ask(const Config *config, int seconds, GError **error)
{
    return site_state_exchange(config, CONTROL_SOCKET, json_pack("{ss}", "verb", "status"), seconds, error);
}

/* ---- the parts: NULL with the error where one cannot be read ---- */

static json_t *fragments_of(Store *store, const Config *config, GError **error)
{
    const char *host = config_string(config, "site", "hostname");
    FragmentCount count;
    int64_t early;
    if (!fragment_count(store, host, &count, error) ||
        !fragment_count_early(store, host, clock_now() - FRAGMENT_EARLY_TOLD, &early, error))
        return NULL;
    return json_pack("{sI sI sI sI so}", "open_sets", (json_int_t)count.sets, "parts", (json_int_t)count.parts,
                     "octets", (json_int_t)count.octets, "early", (json_int_t)early, "oldest",
                     time_or_null(count.oldest));
}

static json_t *held_of(Store *store, G_GNUC_UNUSED const Config *config, GError **error)
{
    HeldRoom room;
    int64_t count, oldest;
    if (!held_count(store, &count, &oldest, error) || !held_room(store, NULL, &room, error))
        return NULL;
    return json_pack("{sI so sI}", "count", (json_int_t)count, "since", time_or_null(oldest), "bytes",
                     (json_int_t)room.all);
}

static json_t *requests_of(Store *store, G_GNUC_UNUSED const Config *config, GError **error)
{
    int64_t count, oldest;
    return pending_count(store, clock_now(), &count, &oldest, error)
               ? json_pack("{sI so}", "count", (json_int_t)count, "since", time_or_null(oldest))
               : NULL;
}

static json_t *left_of(Store *store, const Config *config, GError **error)
{
    int64_t count, oldest;
    return outbox_count(store, config_string(config, "site", "hostname"), &count, &oldest, error)
               ? json_pack("{sI so sb}", "count", (json_int_t)count, "since", time_or_null(oldest), "late",
                           oldest && clock_now() - oldest > LATE)
               : NULL;
}

static json_t *template_faults_of(Store *store, G_GNUC_UNUSED const Config *config, GError **error)
{
    int64_t count;
    return template_text_count_faults(store, &count, error) ? json_integer(count) : NULL;
}

static json_t *source_faults_of(Store *store, G_GNUC_UNUSED const Config *config, GError **error)
{
    int64_t count;
    return source_count_faults(store, &count, error) ? json_integer(count) : NULL;
}

/* Families that lists belong to and the configuration does not have. */
static json_t *families_gone_of(Store *store, const Config *config, GError **error)
{
    g_autoptr(GPtrArray) gone = setting_check_families(store, config, error);
    json_t *all = gone ? json_array() : NULL;
    for (guint at = 0; gone && at < gone->len; at++) {
        const ListNamed *one = gone->pdata[at];
        json_array_append_new(all, json_pack("{so sI so}", "name", text_or_null(one->value), "lists",
                                             (json_int_t)one->lists, "list", text_or_null(one->posting_address)));
    }
    return all;
}

/* Of posts that were to be sent at a time that is over. */
static json_t *scheduled_late_of(Store *store, G_GNUC_UNUSED const Config *config, GError **error)
{
    int64_t count, oldest;
    return scheduled_count_due(store, clock_now() - SCHEDULED_LATE, &count, &oldest, error)
               ? json_pack("{sI so}", "count", (json_int_t)count, "since", time_or_null(oldest))
               : NULL;
}

/* Of mail domains of which too many left a list at once: how many there are, and who waits. */
static json_t *leave_brakes_of(Store *store, G_GNUC_UNUSED const Config *config, GError **error)
{
    int64_t closed, waiting;
    return leave_brake_sum(store, clock_now(), &closed, &waiting, error)
               ? json_pack("{sI sI}", "domains", (json_int_t)closed, "waiting", (json_int_t)waiting)
               : NULL;
}

/* Forms to join that pages took today, and links to sign in that were sent: how many, and whether no more are. The
 * first that was refused is counted, too. */
static json_t *form_letters_of(Store *store, const Config *config, GError **error)
{
    int64_t taken, links, most = config_integer(config, "site", "max_form_letters_per_day");
    if (!account_count(store, ACCOUNT_FORM_SITE, ACCOUNT_OF_SITE, clock_now(), &taken, error) ||
        !account_count(store, ACCOUNT_SIGN_IN_ALL, ACCOUNT_OF_SITE, clock_now(), &links, error))
        return NULL;
    bool reached = most > 0 && taken > most, links_reached = most > 0 && links > most;
    return json_pack("{sI sI sb sI sb}", "count", (json_int_t)(reached ? most : taken), "most", (json_int_t)most,
                     "reached", reached, "links", (json_int_t)(links_reached ? most : links), "links_reached",
                     links_reached);
}

/* Show the last runs of the timer, and whether a job that somebody has to do is late by more than it should be. */
static json_t *jobs_of(Store *store, G_GNUC_UNUSED const Config *config, GError **error)
{
    g_autoptr(GPtrArray) all = task_job_all(store, error);
    if (!all)
        return NULL;
    json_t *jobs = json_array();
    int64_t now = clock_now();
    for (unsigned at = 0; at < all->len; at++) {
        const TaskJob *job = all->pdata[at];
        if (job->nobodys)
            continue;
        json_array_append_new(jobs, json_pack("{ss so so sI sI sI so sb}", "name", job->name, "last_run",
                                              time_or_null(job->ended_at), "due_at", time_or_null(job->due_at), "done",
                                              (json_int_t)job->done, "runs", (json_int_t)job->runs, "failures",
                                              (json_int_t)job->failures, "fault", text_or_null(job->fault), "late",
                                              now - job->due_at > LATE));
    }
    return jobs;
}

/* Of several hosts: which live. */
static json_t *hosts_of(Store *store, G_GNUC_UNUSED const Config *config, GError **error)
{
    g_autoptr(GPtrArray) all = host_all(store, error);
    if (!all)
        return NULL;
    json_t *hosts = json_array();
    for (guint at = 0; at < all->len; at++) {
        const Host *host = all->pdata[at];
        json_array_append_new(hosts, json_pack("{ss sb sb so so}", "name", host->name, "living", host->living,
                                               "draining", host->draining, "seen_at", time_or_null(host->seen_at),
                                               "lease_until", time_or_null(host->lease_until)));
    }
    return hosts;
}

static json_t *canary_of(Store *store, const Config *config, GError **error)
{
    g_auto(Canary) canary = {0};
    if (!canary_read(store, config_string(config, "site", "hostname"), &canary, error))
        return NULL;
    json_t *age = canary.back_at ? json_integer(MAX(clock_now() - canary.back_at, 0) / CLOCK_SECOND) : json_null();
    bool missing = canary.missing_since &&
                   clock_now() - canary.missing_since > config_duration(config, "watch", "patience");
    return json_pack("{so so so so sb}", "sent_at", time_or_null(canary.sent_at), "back_at",
                     time_or_null(canary.back_at), "age", age, "missing_since", time_or_null(canary.missing_since),
                     "missing", missing);
}

static void add_brake(const BounceBrakeRow *row, void *data)
{
    json_array_append_new(data, json_pack("{so so so sI so}", "list", text_or_null(row->list_id), "domain",
                                          *row->domain ? text_or_null(row->domain) : json_null(), "reply",
                                          text_or_null(row->text), "members", (json_int_t)row->number, "since",
                                          time_or_null(row->closed_at)));
}

/* Of replies with which too many members of a list fail, so that nobody is charged for them. */
static json_t *bounce_brakes_of(Store *store, G_GNUC_UNUSED const Config *config, GError **error)
{
    json_t *brakes = json_array();
    if (bounce_brake_each(store, clock_now(), BRAKES_SHOWN, add_brake, brakes, error))
        return brakes;
    json_decref(brakes);
    return NULL;
}

static const struct {
    const char *name;
    json_t *(*read)(Store *store, const Config *config, GError **error);
} parts[] = {
    {"fragments", fragments_of},
    {"held", held_of},
    {"requests", requests_of},
    {"outbox", left_of},
    {"template_faults", template_faults_of},
    {"source_faults", source_faults_of},
    {"scheduled_late", scheduled_late_of},
    {"families_gone", families_gone_of},
    {"leave_brakes", leave_brakes_of},
    {"bounce_brakes", bounce_brakes_of},
    {"form_letters", form_letters_of},
    {"jobs", jobs_of},
    {"hosts", hosts_of},
    {"canary", canary_of},
};

void site_state_add(Store *store, const Config *config, json_t *state)
{
    g_autoptr(GError) error = NULL;
    for (size_t at = 0; at < G_N_ELEMENTS(parts); at++) {
        json_t *part = error ? NULL : parts[at].read(store, config, &error);
        json_object_set_new(state, parts[at].name, part ? part : json_null());
    }
    json_object_set_new(state, "store_fault", text_or_null(error ? error->message : NULL));
}

void site_state_without_store(json_t *state, const GError *fault)
{
    for (size_t at = 0; at < G_N_ELEMENTS(parts); at++)
        json_object_set_new(state, parts[at].name, json_null());
    json_object_set_new(state, "store_fault", text_or_null(fault ? fault->message : "it cannot be opened"));
}
