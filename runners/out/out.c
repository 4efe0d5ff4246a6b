/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * The runner out: delivers the entries of the queues out and retry. One event
 * loop drives all connections; after each round of events comes one turn of
 * bookkeeping (turn()): what was delivered is made safe, what is over leaves, new
 * entries are claimed, and only then do free connections get new work.
 */
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/config.h"
#include "base/contract.h"
#include "base/fail.h"
#include "base/fs.h"
#include "base/log.h"
#include "runners/keys.h"
#include "runners/out/finish.h"
#include "runners/out/job.h"
#include "runners/out/marks.h"
#include "runners/out/report.h"
#include "runners/out/scheduler.h"
#include "runners/out/transport.h"
#include "switchboard/claim.h"
#include "switchboard/recover.h"

#define OUT_QUEUE "out"
/* Entries claimed in one turn: sessions wait while they are read. */
#define CLAIM_MAX 64
#define SWEEP_INTERVAL (3600 * CLOCK_SECOND)
/* Beats are no more frequent than this. */
#define BEAT_MIN (CLOCK_SECOND / 10)
/* How long the farewells of connections may take when stopping. */
#define FAREWELL (2 * CLOCK_SECOND)

typedef struct Out {
    struct event_base *base;
    const Child *child;
    Config *config;
    Slice slice;
    Spool *spool;
    Inbox *inboxes[SOURCES];
    struct event *watches[SOURCES];
    struct event *wake, *master, *timer;
    Hop *hop;
    GPtrArray *transports;
    Scheduler scheduler;
    Marks marks;
    Finish finish;
    GQueue held;        /* of Job, oldest first */
    GQueue over;        /* of Job: to be finished in the next turn */
    size_t entries_max; /* held at a time */
    unsigned first;     /* the source that claims first in the next turn */
    bool every_recipient;
    bool stopping;
    int64_t stop_at;    /* monotonic */
    uint64_t progress;
    int64_t heartbeat_us, beat_at, beaten, sweep_at;
} Out;

/* What is on the disk is no longer what we think: the next start recovers. */
G_NORETURN static void die(const char *doing, const GError *error)
{
    log_fatal(CHILD_EXIT_LATER, "%s: %s", doing, error->message);
}

/* --- the master --------------------------------------------------------- */

/* An event loop that comes round is moving, also while it waits for a slow server: the protocol's own time-outs
 * end that. */
static void beat(Out *out)
{
    int64_t oldest = 0;
    size_t backlog = out->held.length;
    for (int i = 0; i < SOURCES; i++) {
        int64_t first = 0;
        backlog += inbox_backlog(out->inboxes[i], clock_now(), &first);
        if (first > 0 && (oldest == 0 || first < oldest))
            oldest = first;
    }
    const Job *job = out->held.head ? out->held.head->data : NULL;
    out->beaten = clock_monotonic();
    out->beat_at = out->beaten + out->heartbeat_us;
    child_beat(++out->progress, out->finish.done, backlog, oldest, job ? entry_text(job->entry) : NULL);
}

/* --- jobs --------------------------------------------------------------- */

static Transport *find_transport(Out *out, Entry *entry)
{
    const char *fallback = config_string(out->config, "out", "default_transport");
    const char *name = meta_string(entry_meta(entry), KEY_TRANSPORT, fallback);
    for (guint i = 0; i < out->transports->len; i++)
        if (strcmp(transport_name(out->transports->pdata[i]), name) == 0)
            return out->transports->pdata[i];
    return NULL;
}

static void job_ends(Out *out, Job *job)
{
    scheduler_remove(&out->scheduler, job);
    g_queue_push_tail(&out->over, job);
}

/* The rest of the job is not tried now. */
static void defer_job(Out *out, Job *job, const char *reason)
{
    size_t before = job->deferred;
    job_defer_rest(job, reason);
    report_deferral(job, job->deferred - before, reason);
    if (job_over(job))
        job_ends(out, job);
}

/* Makes a job of a claimed entry. The crash count covers what looks into the
 * octets. */
/* Before an entry is tried again that the system would not let us work on. */
#define UNREADABLE_DELAY (60 * CLOCK_SECOND)

static void adopt(Out *out, Entry *entry, unsigned source)
{
    g_autoptr(GError) error = NULL;
    Job *job = entry_begin_work(entry, &error) ? job_new(entry, source, &error) : NULL;
    entry_end_work(entry, NULL);
    if (!job) {
        g_autoptr(GError) fault = NULL;
        bool never = g_error_matches(error, FAIL, FAIL_NEVER);
        if (!never)
            log_error("%s queue=%s result=later (%s)", entry_trace(entry), queue_name(entry_queue(entry)),
                      error->message);
        if (never ? !finish_shunt(&out->finish, entry, source, error, &fault)
                  : !inbox_release(out->inboxes[source], entry, clock_now() + UNREADABLE_DELAY, &fault))
            die("set an entry aside", fault);
        return;
    }
    g_queue_push_tail_link(&out->held, &job->held);
    job->transport = find_transport(out, entry);
    if (job_over(job))
        job_ends(out, job); /* a crash came between its last mark and its end */
    else if (!job->transport)
        defer_job(out, job, "its transport is not configured");
    else if (transport_closed_for(job->transport) > 0)
        defer_job(out, job, transport_trouble(job->transport));
    else
        scheduler_add(&out->scheduler, job);
}

/* --- what transports ask ------------------------------------------------ */

static Batch *on_next(void *data, Transport *transport, size_t limit)
{
    Out *out = data;
    return out->stopping ? NULL : scheduler_next(&out->scheduler, transport, limit);
}

static size_t on_waiting(void *data, Transport *transport, size_t limit, size_t enough)
{
    Out *out = data;
    return out->stopping ? 0 : scheduler_waiting(&out->scheduler, transport, limit, enough);
}

static void keep_last_reply(Job *job, const Batch *batch)
{
    for (guint i = 0; i < batch->fates->len; i++) {
        const Fate *fate = &g_array_index(batch->fates, Fate, i);
        if (fate->verdict != SMTP_LATER)
            continue;
        g_free(job->last_reply);
        job->last_reply = g_strdup(fate->text);
    }
}

static void on_finished(void *data, Batch *batch)
{
    Out *out = data;
    Job *job = batch->job;
    g_autoptr(GError) error = NULL;
    out->progress++;
    job->batches--;
    if (batch->unstarted) {
        job_requeue(job, batch);
        scheduler_returned(&out->scheduler, batch);
        return;
    }
    if (!marks_batch(&out->marks, batch, &error))
        die("mark recipients", error);
    keep_last_reply(job, batch);
    report_batch(batch, out->every_recipient);
    scheduler_returned(&out->scheduler, batch);
    batch_free(batch);
    if (job_over(job))
        job_ends(out, job);
}

static void on_failed(void *data, Transport *transport, const char *reason)
{
    Out *out = data;
    for (GList *link = out->held.head, *next; link; link = next) {
        next = link->next;
        Job *job = link->data;
        if (job->transport == transport && !job_over(job))
            defer_job(out, job, reason);
    }
}

static const TransportOwner transport_owner = {on_next, on_waiting, on_finished, on_failed};

/* --- the turn ----------------------------------------------------------- */

/* How many entries may be claimed now. While no connection stands, one at a time, and none
 * until a connection may be tried: what waits for a server that is away is
 * best left where it is. */
static size_t claim_quota(const Out *out)
{
    if (out->stopping || out->held.length >= out->entries_max)
        return 0;
    bool connected = false;
    bool open = false;
    for (guint i = 0; i < out->transports->len; i++) {
        connected |= transport_connected(out->transports->pdata[i]);
        open |= transport_closed_for(out->transports->pdata[i]) == 0;
    }
    if (!connected)
        return open && out->held.length == 0 ? 1 : 0;
    return MIN(out->entries_max - out->held.length, CLAIM_MAX);
}

static void claim_from(Out *out, unsigned source, size_t limit, GPtrArray *entries)
{
    g_autoptr(GError) error = NULL;
    if (limit > 0 && !inbox_claim(out->inboxes[source], limit, false, entries, &error))
        log_error("claim: %s", error->message);
}

/* Each source gets half, and what the other does not need. They take turns. */
static void claim(Out *out, GPtrArray *claimed[SOURCES])
{
    size_t quota = claim_quota(out);
    if (quota == 0)
        return;
    unsigned one = out->first;
    unsigned other = 1 - one;
    claim_from(out, one, (quota + 1) / 2, claimed[one]);
    claim_from(out, other, quota - claimed[one]->len, claimed[other]);
    claim_from(out, one, quota - claimed[one]->len - claimed[other]->len, claimed[one]);
    out->first = other;
    for (int i = 0; i < SOURCES; i++)
        if (claimed[i]->len > 0)
            marks_touch(&out->marks, inbox_queue(out->inboxes[i]));
}

static void adopt_all(Out *out, GPtrArray *claimed[SOURCES])
{
    size_t longest = MAX(claimed[SOURCE_OUT]->len, claimed[SOURCE_RETRY]->len);
    for (guint i = 0; i < longest; i++)
        for (unsigned source = 0; source < SOURCES; source++)
            if (i < claimed[source]->len)
                adopt(out, claimed[source]->pdata[i], source);
}

static void finish_all(Out *out)
{
    g_autoptr(GError) error = NULL;
    if (!marks_store_bounces(&out->marks, out->spool, &error))
        die("mark recipients", error);
    Job *job;
    while ((job = g_queue_pop_head(&out->over)) != NULL) {
        g_queue_unlink(&out->held, &job->held);
        if (!finish_job(&out->finish, job, &error))
            die("end an entry", error);
    }
    if (!finish_commit(&out->finish, &error))
        die("commit", error);
}

static void turn(Out *out)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) fresh = g_ptr_array_new();
    g_autoptr(GPtrArray) old = g_ptr_array_new();
    GPtrArray *claimed[SOURCES] = {fresh, old};
    finish_all(out);
    for (int i = 0; i < SOURCES; i++)
        if (!inbox_refresh(out->inboxes[i], &error))
            die("list the queue", error);
    claim(out, claimed);
    bool moved = out->marks.directories->len > 0;
    if (!marks_sync(&out->marks, &error))
        die("sync", error);
    adopt_all(out, claimed);
    for (guint i = 0; i < out->transports->len; i++)
        transport_feed(out->transports->pdata[i]);
    int64_t now = clock_monotonic();
    if (now >= out->beat_at || (moved && now >= out->beaten + BEAT_MIN))
        beat(out);
}

/* --- the loop ----------------------------------------------------------- */

static void sweep(Out *out)
{
    int64_t age = config_duration(out->config, "spool", "tmp_lifetime");
    out->sweep_at = clock_monotonic() + SWEEP_INTERVAL;
    for (int i = 0; i < SOURCES; i++) {
        Queue *queue = inbox_queue(out->inboxes[i]);
        unsigned swept = 0;
        g_autoptr(GError) error = NULL;
        if (!recover_sweep(queue, out->slice, age, &swept, &error))
            log_warn("sweep: %s", error->message);
        else if (swept > 0)
            log_info("queue %s: removed %u abandoned files", queue_name(queue), swept);
    }
}

/* Microseconds until something must happen without any event. */
static int64_t next_wake(const Out *out)
{
    int64_t wait = out->beat_at - clock_monotonic();
    if (!g_queue_is_empty((GQueue *)&out->over))
        return 0;
    for (guint i = 0; i < out->transports->len; i++) {
        int64_t closed = transport_closed_for(out->transports->pdata[i]);
        if (closed > 0)
            wait = MIN(wait, closed);
    }
    for (int i = 0; claim_quota(out) > 0 && i < SOURCES; i++) {
        int64_t due = inbox_wait(out->inboxes[i], clock_now());
        if (due >= 0)
            wait = MIN(wait, due);
    }
    if (out->stopping)
        wait = MIN(wait, out->stop_at - clock_monotonic());
    return MAX(wait, 0);
}

static void one_round(Out *out)
{
    int64_t wait = next_wake(out);
    struct timeval until = {.tv_sec = wait / CLOCK_SECOND, .tv_usec = wait % CLOCK_SECOND};
    if (wait > 0)
        event_add(out->timer, &until);
    event_base_loop(out->base, wait > 0 ? EVLOOP_ONCE : EVLOOP_ONCE | EVLOOP_NONBLOCK);
    turn(out);
}

static bool idle(const Out *out)
{
    return out->held.length == 0 && next_wake(out) > 0;
}

static void work(Out *out)
{
    while (!child_stopping()) {
        g_autoptr(GError) error = NULL;
        if (idle(out) && hop_owes(out->hop) && !hop_settle(out->hop, &error))
            die("settle", error);
        if (idle(out) && clock_monotonic() >= out->sweep_at)
            sweep(out);
        one_round(out);
    }
}

static size_t connections(const Out *out, size_t *busy)
{
    size_t count = 0;
    *busy = 0;
    for (guint i = 0; i < out->transports->len; i++) {
        count += transport_connections(out->transports->pdata[i]);
        *busy += transport_busy(out->transports->pdata[i]);
    }
    return count;
}

/* Transactions in progress come to their end, the rest goes back. */
static void leave(Out *out)
{
    g_autoptr(GError) error = NULL;
    size_t busy;
    out->stopping = true;
    out->stop_at = clock_monotonic() + config_duration(out->config, "master", "stop_timeout") * 8 / 10;
    for (guint i = 0; i < out->transports->len; i++)
        transport_stop(out->transports->pdata[i]);
    while (connections(out, &busy) > 0 && clock_monotonic() < out->stop_at) {
        if (busy == 0)
            out->stop_at = MIN(out->stop_at, clock_monotonic() + FAREWELL);
        one_round(out);
    }
    if (connections(out, &busy) > 0 && busy > 0)
        log_warn("stopping: %zu transactions are broken off", busy);
    g_ptr_array_set_size(out->transports, 0);
    turn(out);
    GList *link;
    while ((link = g_queue_pop_head_link(&out->held)) != NULL)
        if (!finish_put_back(&out->finish, link->data, &error))
            die("put an entry back", error);
    if (!marks_sync(&out->marks, &error) || !hop_settle(out->hop, &error))
        die("settle", error);
}

/* --- start and end ------------------------------------------------------ */

static void on_readable(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    (void)what;
    (void)data; /* the turn looks */
}

static void on_wake(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    (void)what;
    (void)data;
    child_reopen();
}

static void on_master(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    (void)what;
    (void)data;
    child_stop();
}

static struct event *watch(Out *out, int fd, event_callback_fn callback)
{
    if (fd < 0)
        return NULL;
    struct event *event = event_new(out->base, fd, EV_READ | EV_PERSIST, callback, out);
    event_add(event, NULL);
    return event;
}

static void set_up_events(Out *out)
{
    out->timer = evtimer_new(out->base, on_readable, out);
    out->wake = watch(out, out->child->wake_fd, on_wake);
    out->master = watch(out, out->child->status_fd, on_master);
    for (int i = 0; i < SOURCES; i++)
        out->watches[i] = watch(out, inbox_fd(out->inboxes[i]), on_readable);
}

static void read_settings(Out *out)
{
    const Config *config = out->config;
    out->entries_max = (size_t)config_integer(config, "spool", "batch_limit");
    out->heartbeat_us = config_duration(config, "master", "heartbeat_interval");
    out->every_recipient = config_bool(config, "out", "log_recipients");
    out->finish.backoff = (Backoff){
        .min_us = config_duration(config, "out", "minimal_backoff_time"),
        .max_us = config_duration(config, "out", "maximal_backoff_time"),
        .lifetime_us = config_duration(config, "out", "maximal_queue_lifetime"),
        .jitter = (unsigned)config_integer(config, "out", "backoff_jitter"),
    };
    scheduler_init(&out->scheduler, (size_t)config_integer(config, "out", "recipient_limit"));
    const char *const *names = config_family(config, "transport");
    out->transports = g_ptr_array_new_with_free_func((GDestroyNotify)transport_free);
    for (; *names; names++)
        g_ptr_array_add(out->transports,
                        transport_new(out->base, config, *names, out->slice.count, &transport_owner, out));
}

static bool open_spool(Out *out, GError **error)
{
    g_autofree char *section = g_strdup_printf("runner.%s", out->child->runner);
    const char *queue = config_string(out->config, section, "queue");
    const char *queues[SOURCES] = {queue ? queue : OUT_QUEUE, RETRY_QUEUE};
    bool polling = g_strcmp0(config_string(out->config, "spool", "wakeup"), "poll") == 0;
    int64_t poll_us = polling ? config_duration(out->config, "spool", "poll_interval") : 0;
    fs_use_syncfs(g_strcmp0(config_string(out->config, "spool", "sync"), "syncfs") == 0);
    out->spool = spool_open(config_string(out->config, "spool", "directory"), error);
    for (int i = 0; out->spool && i < SOURCES; i++) {
        out->inboxes[i] = inbox_open(out->spool, queues[i], out->slice, poll_us, error);
        if (!out->inboxes[i])
            return false;
        out->finish.inboxes[i] = out->inboxes[i];
    }
    if (!out->spool)
        return false;
    out->hop = hop_new(out->spool);
    out->finish.spool = out->spool;
    out->finish.hop = out->hop;
    out->finish.marks = &out->marks;
    return true;
}

static bool set_up(Out *out, GError **error)
{
    out->child = child_init("out", error);
    if (!out->child)
        return false;
    out->config = config_load(config_default_path(out->child->config), true, error);
    if (!out->config)
        return false;
    g_autofree char *label = g_strdup_printf("%s[%u]", out->child->runner, out->child->instance);
    bool to_syslog = g_strcmp0(config_string(out->config, "site", "log"), "syslog") == 0;
    log_open(label, to_syslog ? LOG_TARGET_SYSLOG : LOG_TARGET_STDERR);
    log_set_verbose(config_bool(out->config, "site", "verbose"));
    out->slice = (Slice){out->child->instance, out->child->instances};
    if (!open_spool(out, error))
        return false;
    read_settings(out);
    set_up_events(out);
    return true;
}

static void free_event(struct event *event)
{
    if (event)
        event_free(event);
}

static void tear_down(Out *out)
{
    g_clear_pointer(&out->transports, g_ptr_array_unref);
    for (int i = 0; i < SOURCES; i++)
        free_event(out->watches[i]);
    free_event(out->wake);
    free_event(out->master);
    free_event(out->timer);
    event_base_loop(out->base, EVLOOP_NONBLOCK); /* connections are freed from the loop */
    event_base_free(out->base);
    g_clear_pointer(&out->hop, hop_free);
    for (int i = 0; i < SOURCES; i++)
        g_clear_pointer(&out->inboxes[i], inbox_free);
    g_clear_pointer(&out->spool, spool_free);
    g_clear_pointer(&out->config, config_free);
    finish_clear(&out->finish);
    marks_clear(&out->marks);
}

int main(int argc, char **argv)
{
    log_open("out", LOG_TARGET_STDERR);
    if (argc > 1) {
        g_printerr("usage: %s\nThis program is started by listrunner-master(8); see listrunner-out(8).\n", argv[0]);
        return CHILD_EXIT_USAGE;
    }
    Out out = {.base = event_base_new()};
    g_autoptr(GError) error = NULL;
    int code = CHILD_EXIT_OK;
    marks_init(&out.marks);
    finish_init(&out.finish);
    if (set_up(&out, &error)) {
        child_ready();
        beat(&out);
        work(&out);
        leave(&out);
    } else {
        log_error("cannot start: %s", error->message);
        code = g_error_matches(error, FAIL, FAIL_CONFIG) ? CHILD_EXIT_CONFIG : CHILD_EXIT_LATER;
    }
    tear_down(&out);
    return code;
}
