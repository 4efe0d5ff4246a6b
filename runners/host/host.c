/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * Says to the other hosts that share the database that this one lives: renews its lease three times in its length, and
 * writes into the spool what it was told (lists/hosts/this_host.h). When the database is away, or the row was taken
 * over, it writes nothing more, and what only one host may do ends here by itself.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/contract.h"
#include "base/fail.h"
#include "base/log.h"
#include "lists/hosts/host_state.h"
#include "lists/hosts/limit_share.h"
#include "lists/hosts/this_host.h"
#include "lists/site/site_state.h"
#include "runners/process.h"
#include "store/hosts/generation.h"
#include "store/maintain.h"
#include "store/place.h"

#define RENEWALS 3                   /* in a lease */
#define MARGIN 5                     /* a fifth of the lease is kept for clocks that go unlike */
#define SKEW_MAX (60 * CLOCK_SECOND) /* between this host's clock and the database's */
#define MASTER_SECONDS 5             /* for its answer; less than what the others wait for after a renewal */
#define SHARE_MARGIN 4               /* a quarter of the time for which a part is kept, for what is under way then */
#define SURVEY_INTERVAL (60 * CLOCK_SECOND)
#define LOOK_INTERVAL (2 * CLOCK_SECOND) /* a renewal that takes longer is looked at */

typedef struct HostRunner {
    const Child *child;
    const Config *config;
    Store *store;
    Spool *spool;
    Host *host;
    ThisHost said; /* to the other processes of this host */
    bool mute;     /* the last time that could not be done */
    int begun;     /* limit_share_begin() */
    int64_t lease;
    bool taking_less;  /* the processes of this host were told of a smaller part of the limits */
    int64_t due;       /* monotonic: of the next renewal */
    int64_t survey_at; /* monotonic: when the master is asked again */
    uint64_t renewals;
    double pace;                     /* recipients a second; 0: not known */
    int64_t measured_at, recipients; /* monotonic; served up to then by the processes that lived */
    bool busy;                       /* some waited then */
    GThread *looker;
    GMutex lock; /* for what follows */
    GCond ends;
    bool ending;
    int64_t asked_at; /* monotonic: when the renewal under way began; 0: there is none */
} HostRunner;

/* ---- what a renewal waits for ----
 *
 * A commit waits for the synchronous standby without end, so that this process can say nothing then. A thread asks over
 * a connection of its own, for reading goes on. */

static bool tell_standby(Store **store, const Config *config)
{
    int64_t since = 0;
    if (!*store)
        *store = store_open_configured(config, false, NULL);
    if (!*store || !host_waits_for_standby(*store, &since, NULL) || since == 0)
        return false;
    g_autofree char *time = clock_text(since);
    g_autofree char *notice = g_strdup_printf(
        "since %s the database waits for its synchronous standby, which is away or slow: nothing can be written, and "
        "nothing is lost; bring the standby back, or do without it (synchronous_standby_names)", time);
    log_warn("%s", notice);
    child_notice(CHILD_NOTICE_DATABASE, notice);
    return true;
}

static void *look(void *data)
{
    HostRunner *own = data;
    Store *store = NULL;
    int64_t told = 0; /* of that renewal */
    g_mutex_lock(&own->lock);
    while (!own->ending) {
        g_cond_wait_until(&own->ends, &own->lock, g_get_monotonic_time() + LOOK_INTERVAL);
        int64_t asked = own->asked_at;
        g_mutex_unlock(&own->lock);
        if (asked != 0 && asked != told && clock_monotonic() - asked > LOOK_INTERVAL &&
            tell_standby(&store, own->config))
            told = asked;
        if (told != 0 && asked != told) {
            log_info("the database does not wait for its standby any more");
            child_notice(CHILD_NOTICE_DATABASE, NULL);
            told = 0;
        }
        if (asked == 0)
            g_clear_pointer(&store, store_free);
        g_mutex_lock(&own->lock);
    }
    g_mutex_unlock(&own->lock);
    store_free(store);
    return NULL;
}

static void note_renewal(HostRunner *own, bool begins)
{
    g_mutex_lock(&own->lock);
    own->asked_at = begins ? clock_monotonic() : 0;
    g_mutex_unlock(&own->lock);
}

/* ---- what this host says of itself ---- */

/* Sum up the children of one runner. */
static json_t *runner_said(const json_t *group)
{
    json_int_t backlog = 0, done = 0;
    const char *oldest = NULL;
    size_t at;
    json_t *child;
    json_array_foreach(json_object_get(group, "children"), at, child) {
        const char *since = json_string_value(json_object_get(child, "oldest"));
        backlog += json_integer_value(json_object_get(child, "backlog"));
        done += json_integer_value(json_object_get(child, "done"));
        if (since && (!oldest || strcmp(since, oldest) < 0)) /* of one length until the year 2286 */
            oldest = since;
    }
    return json_pack("{sO sI sI ss*}", "runner", json_object_get(group, "runner"), "backlog", backlog, "done", done,
                     "oldest", oldest);
}

/* Whether no queue holds an entry but those whose entries wait for a person. */
static bool look_for_entries(Spool *spool, bool *empty)
{
    g_auto(GStrv) names = spool_every_queue(spool, NULL, NULL);
    *empty = names != NULL;
    for (char **name = names; name && *name && *empty; name++) {
        bool waits = strcmp(*name, HOLD_QUEUE) == 0 || strcmp(*name, SHUNT_QUEUE) == 0 ||
                     strcmp(*name, CORRUPT_QUEUE) == 0;
        Queue *queue = waits ? NULL : spool_queue(spool, *name, NULL);
        if (!waits && (!queue || !queue_is_empty(queue, empty, NULL)))
            return false;
    }
    return names != NULL;
}

/* Learn how many recipients a second this host serves while it has some to serve, which is what it gets done
 * (runners/posts/fan_out.h). A look that finds nothing to do says nothing. */
static void measure(HostRunner *own, const json_t *runners)
{
    int64_t now = clock_monotonic(), recipients = 0, backlog = 0;
    size_t at, place;
    json_t *group, *child;
    json_array_foreach(runners, at, group) {
        const char *name = json_string_value(json_object_get(group, "runner"));
        json_array_foreach(json_object_get(g_strcmp0(name, "out") == 0 ? group : NULL, "children"), place, child) {
            recipients += json_integer_value(json_object_get(child, "recipients"));
            backlog += json_integer_value(json_object_get(child, "backlog"));
        }
    }
    double seconds = (double)(now - own->measured_at) / CLOCK_SECOND;
    if (own->busy && own->measured_at > 0 && recipients > own->recipients && seconds > 0) {
        double pace = (double)(recipients - own->recipients) / seconds;
        own->pace = own->pace > 0 ? (own->pace + pace) / 2 : pace;
    }
    own->measured_at = now;
    own->recipients = recipients;
    own->busy = backlog > 0;
}

/* Set what the next renewal writes, and where the door for the other hosts and the pages are, if there are any. said is
 * consumed. */
static void say(HostRunner *own, json_t *said)
{
    if (config_bool(own->config, "runner.door", "start"))
        json_object_set_new(said, "door", json_string(config_string(own->config, "host", "address")));
    if (config_bool(own->config, "runner.web", "start"))
        json_object_set_new(said, "web", json_string(config_string(own->config, "site", "web_url")));
    json_object_set_new(said, "schema", json_integer(store_newest_schema()));
    if (own->pace > 0)
        json_object_set_new(said, "pace", json_real(own->pace));
    char *text = json_dumps(said, JSON_COMPACT);
    g_free(own->host->state);
    own->host->state = g_strdup(text);
    free(text);
    json_decref(said);
}

/* Ask for what the next renewal writes: the master looks through the whole spool for it. */
static void survey(HostRunner *own)
{
    json_t *status = site_state_ask(own->config, MASTER_SECONDS, NULL), *runners = json_array(), *group;
    size_t at;
    json_array_foreach(json_object_get(status, "runners"), at, group)
        json_array_append_new(runners, runner_said(group));
    json_int_t waiting = 0;
    json_array_foreach(json_object_get(status, "waiting"), at, group)
        waiting += json_integer_value(json_object_get(group, "count"));
    json_t *said = json_pack("{so sb sI}", "runners", runners, "healthy",
                             json_is_true(json_object_get(status, "healthy")), "waiting", waiting);
    measure(own, json_object_get(status, "runners"));
    json_decref(status);
    say(own, said);
    /* Since when nothing is in the spool. An entry that goes back to a queue which was looked through before is missed
     * once, but no post goes back twice. */
    bool once, again;
    int64_t asked = clock_now();
    if (look_for_entries(own->spool, &once) && once && look_for_entries(own->spool, &again) && again)
        own->host->empty_at = asked;
    own->survey_at = clock_monotonic() + SURVEY_INTERVAL;
}

static bool is_clock_good(int64_t now, GError **error)
{
    int64_t apart = clock_now() - now;
    return ABS(apart) < SKEW_MAX ||
           fail(error, FAIL_LATER, "the clock of this host is %" G_GINT64_FORMAT " s %s that of the database: set it",
                ABS(apart) / CLOCK_SECOND, apart > 0 ? "ahead of" : "behind");
}

/* Tell the other processes of this host until when it has the lease; 0: it has none. */
static bool write_down(HostRunner *own, int64_t until, GError **error)
{
    own->said.draining = own->host->draining;
    own->said.until = until;
    return this_host_write(own->spool, &own->said, error);
}

/* Bring this host's part of the limits to what is due. A smaller part is told to the processes first, and to the
 * database when they use no more; a greater one the other way round. asked: clock_boot() before the lease was asked
 * for. */
static bool divide_limits(HostRunner *own, int64_t asked, GError **error)
{
    Host *host = own->host;
    int64_t due, told = own->said.parts;
    bool alone, in_use;
    if (!host_share_due(own->store, host, &due, &alone, error))
        return false;
    /* A host that is alone goes on while the database is away. Another one that is cut off, or was stopped, may come
     * back meanwhile and take what it finds free. */
    int64_t kept = host_share_kept(own->lease);
    own->said.share_until = alone ? INT64_MAX : asked + kept - kept / SHARE_MARGIN;
    bool less = host->parts > 0 && host->parts < due;
    if ((host->parts == 0 || host->parts > due) && !host_share_raise(own->store, host, error))
        return false;
    own->said.parts = less ? due : host->parts;
    if (own->said.parts != told)
        log_info("limits toward others' servers: one part of %" G_GINT64_FORMAT
                 " is this host's; hosts=%" G_GINT64_FORMAT,
                 own->said.parts, due);
    if (!write_down(own, own->said.until, error))
        return false;
    own->taking_less = less;
    if (!less || !limit_share_in_use(own->spool, (unsigned)due, &in_use, error))
        return !less;
    own->taking_less = in_use;
    return in_use || host_share_lower(own->store, host, due, error);
}

/* Raise what tells this database from an older one, and note it for the processes of this host. */
static bool note_generation(HostRunner *own, int64_t now, GError **error)
{
    g_auto(Generation) found = {0};
    return generation_raise(own->store, own->host->spool, now, &found, error) &&
           generation_write(spool_fd(own->spool), &found, error);
}

/* The clock is judged first: a host that may do nothing gets no lease, by which it would keep others from doing it. The
 * same holds for one that cannot tell its processes. asked: clock_boot() before. */
static bool renew(HostRunner *own, GError **error)
{
    int64_t asked = clock_boot(), now;
    if (!host_clock(own->store, &now, error) || !is_clock_good(now, error) ||
        (own->mute && !write_down(own, 0, error)) || !host_renew(own->store, own->host, now, own->lease, error))
        return false;
    own->mute = !write_down(own, asked + own->lease - own->lease / MARGIN, error);
    if (own->mute)
        host_end(own->store, own->host, NULL);
    return !own->mute && note_generation(own, now, error) && divide_limits(own, asked, error);
}

static bool begin(HostRunner *own, GError **error)
{
    int64_t now, asked = clock_boot();
    char boot[CLOCK_BOOT_ID_SIZE];
    const char *spool = spool_id(own->spool, error);
    if (!spool)
        return false;
    if (!clock_boot_id(boot))
        return fail_errno(error, FAIL_LATER, "the system does not say when it was started");
    Host *host = own->host = g_new0(Host, 1);
    host->name = g_strdup(config_string(own->config, "site", "hostname"));
    host->spool = g_strdup(spool);
    host->boot = g_strdup(boot);
    host->version = g_strdup(PACKAGE_VERSION);
    say(own, json_object());
    host->connections = host_state_connections(own->config);
    if (!host_clock(own->store, &now, error) || !is_clock_good(now, error) ||
        !this_host_begin(own->store, own->spool, host, own->lease, &own->said, error) ||
        (own->begun = limit_share_begin(own->spool, error)) < 0)
        return false;
    if (write_down(own, asked + own->lease - own->lease / MARGIN, error) && note_generation(own, now, error) &&
        divide_limits(own, asked, error))
        return true;
    host_end(own->store, host, NULL);
    return false;
}

static bool start(void *data, const Process *process, GError **error)
{
    HostRunner *own = data;
    own->child = process->child;
    own->config = process->config;
    own->lease = config_duration(own->config, "host", "lease");
    own->store = store_open_for_work(own->config, error);
    own->spool = own->store ? spool_open(config_string(own->config, "spool", "directory"), error) : NULL;
    if (!own->spool || !begin(own, error))
        return false;
    own->looker = g_thread_new("standby", look, own);
    log_info("the host %s begins, epoch=%" G_GINT64_FORMAT, own->host->name, own->host->epoch);
    return true;
}

/* Give the part of the limits back if all processes that used it end in time. */
static void give_limits_back(HostRunner *own)
{
    g_autoptr(GError) error = NULL;
    int64_t until = clock_monotonic() + config_duration(own->config, "master", "stop_timeout") / 2;
    bool in_use = true;
    own->said.parts = 0;
    if (!write_down(own, 0, NULL))
        return;
    while (limit_share_in_use(own->spool, 0, &in_use, NULL) && in_use && clock_monotonic() < until)
        g_usleep(CLOCK_SECOND / 20);
    if (!in_use && !host_share_lower(own->store, own->host, 0, &error))
        log_warn("others do not use this host's part of the limits for a while: %s", error->message);
}

/* A host whose row was taken over, or removed, starts anew and finds out there what it may do. */
static void renew_now(HostRunner *own)
{
    g_autoptr(GError) error = NULL;
    own->due = clock_monotonic() + own->lease / RENEWALS;
    note_renewal(own, true);
    bool renewed = renew(own, &error);
    note_renewal(own, false);
    if (renewed) {
        own->renewals++;
        if (own->taking_less || own->host->parts == 0) /* others wait for it, or it waits for others */
            own->due = MIN(own->due, clock_monotonic() + CLOCK_SECOND);
        child_notice(CHILD_NOTICE_WORK, NULL);
    } else if (g_error_matches(error, FAIL, FAIL_RACE)) {
        log_fatal(CHILD_EXIT_LATER, "%s", error->message);
    } else {
        g_autofree char *notice = g_strdup_printf("the lease of this host is not renewed: %s", error->message);
        log_warn("%s", notice);
        child_notice(CHILD_NOTICE_WORK, notice);
        own->due = clock_monotonic() + CLOCK_SECOND;
    }
}

static void work(void *data)
{
    HostRunner *own = data;
    const Child *child = own->child;
    int64_t beat = config_duration(own->config, "master", "heartbeat_interval");
    own->due = clock_monotonic() + own->lease / RENEWALS;
    while (!child_stopping()) {
        struct pollfd fds[] = {{child->wake_fd, POLLIN, 0}, {child->status_fd, 0, 0}};
        int64_t wait = MIN(own->due - clock_monotonic(), beat);
        if (poll(fds, G_N_ELEMENTS(fds), (int)(MAX(wait, 0) / 1000) + 1) > 0 && (fds[1].revents & POLLERR))
            child_stop();
        child_reopen();
        if (!child_stopping() && clock_monotonic() >= own->due)
            renew_now(own);
        if (!child_stopping() && clock_monotonic() >= own->survey_at && !own->mute)
            survey(own);
        child_beat(own->renewals, own->renewals, 0, 0, NULL);
    }
}

static void stop(void *data)
{
    HostRunner *own = data;
    g_autoptr(GError) error = NULL;
    g_mutex_lock(&own->lock);
    own->ending = true;
    g_cond_signal(&own->ends);
    g_mutex_unlock(&own->lock);
    g_clear_pointer(&own->looker, g_thread_join);
    if (own->host && own->host->living)
        give_limits_back(own);
    if (own->host && own->host->living && !host_end(own->store, own->host, &error))
        log_warn("the others wait until the lease of this host ends: %s", error->message);
    g_clear_pointer(&own->host, host_free);
    if (own->begun >= 0)
        close(own->begun);
    this_host_clear(&own->said);
    store_free(own->store);
    spool_free(own->spool);
}

int main(int argc, char **argv)
{
    HostRunner own = {.begun = -1};
    const ProcessSpec spec = {.name = "host", .start = start, .work = work, .stop = stop};
    return process_main(&spec, &own, argc, argv);
}
