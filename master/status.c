/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "master/status.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/certificate.h"
#include "base/clock.h"
#include "base/confine.h"
#include "master/supervisor.h"
#include "master/worker.h"

static json_t *text_or_null(const char *text)
{
    return text && *text ? json_string(text) : json_null();
}

/* Seconds with a fraction, or null when there is no such moment. */
static json_t *seconds(int64_t from, int64_t to)
{
    return from && to ? json_real((double)MAX(to - from, 0) / (double)CLOCK_SECOND) : json_null();
}

static json_t *child_json(const Worker *worker)
{
    const Beat *beat = &worker->watch.beat;
    bool alive = worker->pid > 0;
    int64_t now = clock_monotonic(), timeout = worker->group->master->plan->limits.stall_timeout;
    bool stalled = alive && (worker->state == WORKER_READY || worker->state == WORKER_STARTING) &&
                   watch_stalled(&worker->watch, timeout, now);
    unsigned later = MAX(worker->starts, 1) - 1; /* starts after the first, those among them that were renewals */
    g_autofree char *oldest =
        g_strdup_printf("%" PRId64 ".%06" PRId64, beat->oldest / CLOCK_SECOND, beat->oldest % CLOCK_SECOND);
    return json_pack("{s:i,s:o,s:s,s:b,s:b,s:o,s:o,s:i,s:i,s:o,s:o,s:o,s:I,s:I,s:I,s:I,s:I,s:o,s:o,s:o,s:o,s:i}",
                     "instance", (int)worker->instance,
                     "pid", alive ? json_integer(worker->pid) : json_null(),
                     "state", worker_state_text(worker),
                     "healthy", (int)worker_healthy(worker),
                     "stalled", (int)stalled,
                     "stalled_for", seconds(stalled ? MIN(worker->watch.moved, worker->watch.spoke) : 0, now),
                     "down_for", seconds(worker->down, now),
                     "restarts", (int)(later - MIN(worker->renewals, later)),
                     "renewals", (int)worker->renewals,
                     "last_exit", text_or_null(worker->last_exit),
                     "retry_in", alive ? json_null() : seconds(worker->retry_at ? now : 0, worker->retry_at),
                     "age", alive ? seconds(worker->started, now) : json_null(),
                     "progress", (json_int_t)beat->progress,
                     "done", (json_int_t)beat->done,
                     "recipients", (json_int_t)delays_count(&beat->delays, DELAY_UNTIL_SETTLED),
                     "backlog", (json_int_t)beat->backlog,
                     "late", (json_int_t)(alive ? beat->late : 0),
                     "oldest", beat->oldest ? json_string(oldest) : json_null(),
                     "holding", text_or_null(beat->holding),
                     "notice", text_or_null(alive ? worker->watch.notice : NULL),
                     "beat_age", alive ? seconds(worker->watch.beaten, now) : json_null(),
                     "deaths", (int)worker_loops(worker));
}

static json_t *group_json(const Group *group, bool *healthy)
{
    json_t *children = json_array();
    for (guint i = 0; i < group->workers->len; i++) {
        const Worker *worker = g_ptr_array_index(group->workers, i);
        json_array_append_new(children, child_json(worker));
        *healthy &= worker_healthy(worker);
    }
    const PlanRunner *goal = supervisor_goal(group);
    const char *state = group->master->stopping ? "stopping"
                        : !group->changing      ? "running"
                        : goal                  ? "changing"
                                                : "removing";
    const PlanRunner *plan = goal ? goal : group->plan;
    json_t *scaled = group->scaled_at > 0 ? json_pack("{s:s,s:o}", "why", group->scaled_why, "age",
                                                      seconds(group->scaled_at, clock_now()))
                                          : json_null();
    return json_pack("{s:s,s:s,s:s,s:i,s:i,s:i,s:i,s:o,s:o,s:o}", "runner", group->plan->name, "queue",
                     group->plan->queue, "state", state, "instances", (int)group->plan->instances, "wanted",
                     goal ? (int)goal->instances : 0, "least", (int)plan->least, "most", (int)plan->most, "scaled",
                     scaled, "unconfined", text_or_null(plan->unconfined), "children", children);
}

/* The queues whose directory was there (SPOOL/.queues names them) and cannot be listed now: [{queue, fault}]. */
static json_t *missing_json(const char *spool)
{
    json_t *missing = json_array();
    g_autofree char *path = g_build_filename(spool, ".queues", NULL);
    auto_fd above = open(spool, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *records = above >= 0 ? opendir(path) : NULL;
    for (const struct dirent *found; records && (found = readdir(records)) != NULL;) {
        if (*found->d_name == '.')
            continue;
        struct stat of_spool, status;
        auto_fd fd = openat(above, found->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        const char *fault = NULL;
        bool gone = fd < 0 && errno == ENOENT;
        if (fd < 0)
            fault = g_strerror(errno);
        else if (fstat(above, &of_spool) == 0 && fstat(fd, &status) == 0 && of_spool.st_dev != status.st_dev)
            fault = "it is on another file system than the spool"; /* whose renames would fail */
        if (fault)
            json_array_append_new(
                missing, json_pack("{s:s,s:s,s:b}", "queue", found->d_name, "fault", fault, "gone", (int)gone));
    }
    if (records)
        closedir(records);
    return missing;
}

json_t *status_json(Master *master)
{
    bool healthy = true;
    const char *unable;
    confine_possible(&unable);
    json_t *runners = json_array();
    for (guint i = 0; i < master->groups->len; i++)
        json_array_append_new(runners, group_json(g_ptr_array_index(master->groups, i), &healthy));
    json_t *missing = missing_json(master->plan->spool), *certificates = json_array();
    /* Of files that cannot be read those say so that need them. */
    for (guint at = 0; at < master->plan->certificates->len; at++) {
        const CertificateFile *file = master->plan->certificates->pdata[at];
        int64_t end;
        if (certificate_end(file, &end, NULL))
            json_array_append_new(certificates, json_pack("{ss ss ss sI}", "setting", file->setting, "file", file->path,
                                                          "readers", file->readers ? file->readers : "", "end",
                                                          (json_int_t)(end / CLOCK_SECOND)));
    }
    healthy &= json_array_size(missing) == 0;
    g_autofree char *since = clock_text(master->since);
    return json_pack("{s:b,s:i,s:s,s:s,s:s,s:s,s:b,s:o,s:o,s:o,s:o,s:o,s:I}", "ok", 1, "pid", (int)getpid(), "version",
                     PACKAGE_VERSION, "since", since, "config", master->config_path, "state",
                     master->stopping ? "stopping" : "running", "healthy", (int)healthy, "fault",
                     text_or_null(master->reload_fault), "runners", runners, "missing", missing, "no_confinement",
                     text_or_null(unable), "certificates", certificates,
                     "clock_set_back",
                     (json_int_t)(watch_clock(&master->clock, clock_now(), clock_monotonic()) / CLOCK_SECOND));
}

/* ---- the same as figures ---- */

typedef struct Metric {
    const char *key, *name, *type, *help;
} Metric;

static const Metric child_metrics[] = {
    {"healthy", "up", "gauge", "1 when the process works."},
    {"restarts", "restarts_total", "counter", "Starts after the first, but renewals."},
    {"renewals", "renewals_total", "counter", "Times that it left to be started anew, for a file that was replaced."},
    {"done", "done_total", "counter", "Entries (sessions of a listener) finished since its start."},
    {"backlog", "backlog", "gauge", "Entries that are ready or held."},
    {"late", "late_entries", "gauge", "Entries put off several times for a fault that may pass; the log says which."},
    {"notice", "notice", "gauge", "1 when listrunner status shows something about the process though it works."},
};

static const Metric destination_metrics[] = {
    {"window", "destination_window", "gauge", "Connections that may be at work at once; 0: dead."},
    {"busy", "destination_busy", "gauge", "Connections at work."},
    {"sessions", "destination_sessions", "gauge", "Connections."},
    {"waiting_recipients", "destination_waiting_recipients", "gauge", "Recipients in memory that wait."},
    {"tokens", "destination_tokens", "gauge", "What is in the token bucket."},
    {"sent", "destination_sent_total", "counter", "Recipients delivered."},
    {"refused_messages", "destination_refused_messages", "gauge",
     "Messages that wait because the site's own relay refuses us, or them."},
    {"deferred", "destination_deferred_total", "counter", "Recipients deferred."},
    {"bounced", "destination_bounced_total", "counter", "Recipients refused for good."},
    {"flights", "destination_flights_total", "counter", "Times that several transactions went out together."},
    {"connections", "destination_connections_total", "counter", "Connections made."},
    {"refused_connections", "destination_refused_connections_total", "counter", "Connections that failed."},
    {"died", "destination_deaths_total", "counter", "Times that it was declared dead."},
    {"throttled", "destination_throttled_total", "counter", "Replies that asked for less."},
};

static void add_head(GString *text, const char *name, const char *type, const char *help)
{
    g_string_append_printf(text, "# HELP listrunner_%s %s\n# TYPE listrunner_%s %s\n", name, help, name, type);
}

static void add_value(GString *text, const json_t *value)
{
    char digits[G_ASCII_DTOSTR_BUF_SIZE];
    if (json_is_boolean(value) || json_is_string(value) || json_is_null(value))
        g_string_append(text, json_is_true(value) || json_is_string(value) ? "1" : "0");
    else
        g_string_append(text, g_ascii_dtostr(digits, sizeof digits, json_number_value(value)));
    g_string_append_c(text, '\n');
}

/* A label's value: backslash, quote and line feed are escaped. */
static void add_label(GString *text, const char *name, const json_t *value, bool last)
{
    g_string_append_printf(text, "%s=\"", name);
    if (json_is_integer(value))
        g_string_append_printf(text, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    for (const char *at = json_string_value(value); at && *at; at++) {
        if (*at == '\\' || *at == '"')
            g_string_append_c(text, '\\');
        if (*at == '\n')
            g_string_append(text, "\\n");
        else
            g_string_append_c(text, *at);
    }
    g_string_append(text, last ? "\"" : "\",");
}

/* The numbers of the site, which are not about one process or destination. */
static void add_site(GString *text, const json_t *status)
{
    static const char back[] = "clock_set_back_seconds", end[] = "certificate_end_seconds";
    static const struct {
        const char *key, *name, *help;
    } waiting[] = {
        {"count", "waiting_entries", "Entries that wait for a person: shunt, hold, corrupt, preserved; strange: no "
                                     "files; unworked: in a queue that no runner works."},
        {"age", "waiting_oldest_seconds", "How long the oldest of them has waited."},
    };
    size_t at;
    json_t *one;
    for (size_t i = 0; i < G_N_ELEMENTS(waiting); i++) {
        add_head(text, waiting[i].name, "gauge", waiting[i].help);
        json_array_foreach(json_object_get(status, "waiting"), at, one) {
            g_string_append_printf(text, "listrunner_%s{", waiting[i].name);
            add_label(text, "kind", json_object_get(one, "kind"), false);
            add_label(text, "queue", json_object_get(one, "queue"), true);
            g_string_append(text, "} ");
            add_value(text, json_object_get(one, waiting[i].key));
        }
    }
    add_head(text, "queue_missing", "gauge", "1 for a queue whose directory is gone or cannot be read.");
    json_array_foreach(json_object_get(status, "missing"), at, one) {
        g_string_append(text, "listrunner_queue_missing{");
        add_label(text, "queue", json_object_get(one, "queue"), true);
        g_string_append(text, "} 1\n");
    }
    add_head(text, back, "gauge", "By how much the clock was set back lately: entries put off before wait longer.");
    g_string_append_printf(text, "listrunner_%s ", back);
    add_value(text, json_object_get(status, "clock_set_back"));
    add_head(text, end, "gauge", "When the certificates in a file of the configuration expire, as a time of Unix.");
    json_array_foreach(json_object_get(status, "certificates"), at, one) {
        g_string_append_printf(text, "listrunner_%s{", end);
        add_label(text, "setting", json_object_get(one, "setting"), false);
        add_label(text, "file", json_object_get(one, "file"), true);
        g_string_append(text, "} ");
        add_value(text, json_object_get(one, "end"));
    }
}

static void add_destination_labels(GString *text, const json_t *destination, bool last)
{
    add_label(text, "transport", json_object_get(destination, "transport"), false);
    add_label(text, "destination", json_object_get(destination, "name"), false);
    add_label(text, "instance", json_object_get(destination, "instance"), last);
}

/* One destination's buckets, sum and count. */
static void add_times(GString *text, const char *name, const json_t *destination)
{
    const json_t *seconds = json_object_get(destination, "seconds");
    size_t i;
    json_t *bucket;
    json_array_foreach(json_object_get(seconds, "buckets"), i, bucket) {
        const json_t *bound = json_array_get(bucket, 0);
        char digits[G_ASCII_DTOSTR_BUF_SIZE] = "+Inf";
        if (json_is_number(bound))
            g_ascii_formatd(digits, sizeof digits, "%g", json_number_value(bound));
        g_string_append_printf(text, "listrunner_%s_bucket{", name);
        add_destination_labels(text, destination, false);
        g_string_append_printf(text, "le=\"%s\"} ", digits);
        add_value(text, json_array_get(bucket, 1));
    }
    for (int part = 0; part < 2; part++) {
        g_string_append_printf(text, "listrunner_%s_%s{", name, part ? "count" : "sum");
        add_destination_labels(text, destination, true);
        g_string_append(text, "} ");
        add_value(text, json_object_get(seconds, part ? "count" : "sum"));
    }
}

static void add_destinations(GString *text, const json_t *destinations)
{
    static const char times[] = "destination_transaction_seconds";
    /* One gauge a state in which mail waits: 1 for the destinations that are in it. */
    static const struct {
        const char *state, *name, *help;
    } gauges[] = {
        {"dead", "destination_dead", "1 when it is dead."},
        {"suspended", "destination_suspended", "1 when it is suspended."},
        /* Another name than that of the counter, which some readers take without its "_total". */
        {"throttled", "destination_slowed", "1 when it is throttled: mail goes at the pace that it bears."},
    };
    size_t at;
    json_t *destination;
    for (size_t i = 0; i < G_N_ELEMENTS(destination_metrics); i++) {
        const Metric *metric = &destination_metrics[i];
        add_head(text, metric->name, metric->type, metric->help);
        json_array_foreach(destinations, at, destination) {
            g_string_append_printf(text, "listrunner_%s{", metric->name);
            add_destination_labels(text, destination, true);
            g_string_append(text, "} ");
            add_value(text, json_object_get(destination, metric->key));
        }
    }
    add_head(text, times, "histogram", "How long transactions took.");
    json_array_foreach(destinations, at, destination)
        add_times(text, times, destination);
    for (size_t i = 0; i < G_N_ELEMENTS(gauges); i++) {
        add_head(text, gauges[i].name, "gauge", gauges[i].help);
        json_array_foreach(destinations, at, destination) {
            const char *state = json_string_value(json_object_get(destination, "state"));
            g_string_append_printf(text, "listrunner_%s{", gauges[i].name);
            add_destination_labels(text, destination, true);
            g_string_append_printf(text, "} %d\n", g_strcmp0(state, gauges[i].state) == 0);
        }
    }
}

GString *status_metrics(const json_t *status, const json_t *destinations)
{
    GString *text = g_string_new(NULL);
    size_t g, c;
    json_t *group, *child;
    for (size_t i = 0; i < G_N_ELEMENTS(child_metrics); i++) {
        const Metric *metric = &child_metrics[i];
        add_head(text, metric->name, metric->type, metric->help);
        json_array_foreach(json_object_get(status, "runners"), g, group)
            json_array_foreach(json_object_get(group, "children"), c, child) {
                g_string_append_printf(text, "listrunner_%s{", metric->name);
                add_label(text, "runner", json_object_get(group, "runner"), false);
                add_label(text, "instance", json_object_get(child, "instance"), true);
                g_string_append(text, "} ");
                add_value(text, json_object_get(child, metric->key));
            }
    }
    add_site(text, status);
    add_destinations(text, destinations);
    return text;
}
