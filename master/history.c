/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "master/history.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "master/supervisor.h"
#include "master/worker.h"

#define HISTORY_FILE "history"
#define INTERVAL 60 /* seconds between two samples */
#define MAGIC "LRHIST2"
#define BYTE_ORDER_MARK 0x01020304
#define NAME_SIZE 32

static const struct {
    const char *name;
    int64_t period; /* seconds */
    unsigned first, slots; /* in the file */
} ranges[] = {
    {"hour", 60, 0, 60},
    {"day", 15 * 60, 60, 96},
    {"month", 6 * 3600, 60 + 96, 124},
};
#define SLOTS (60 + 96 + 124)

typedef struct HistoryFigures {
    uint32_t done, backlog, oldest;
} HistoryFigures;

typedef struct HistorySlot {
    int64_t begin; /* seconds since 1970; 0: never written */
    HistoryFigures of[HISTORY_RUNNERS];
} HistorySlot;

/* How long mail took that was tried or settled in the time of the slot of that number. */
typedef struct HistoryDelays {
    uint32_t counts[DELAY_KINDS][DELAYS_COLUMNS];
} HistoryDelays;

/* The file, and the memory. */
typedef struct HistoryRing {
    char magic[8];
    uint32_t byte_order, size;
    char names[HISTORY_RUNNERS][NAME_SIZE]; /* "": none yet */
    HistorySlot slots[SLOTS];
    HistoryDelays delays[SLOTS];
} HistoryRing;

struct History {
    int fd;     /* -1: there is no file */
    bool mute;  /* the last write failed, and that was said */
    HistoryRing ring;
    const Master *master; /* NULL: nobody is followed */
    struct event *timer;
    GHashTable *last; /* "RUNNER INSTANCE STARTS" -> Counted, at the last sample */
};

/* Counted holds the counters of a process since its start. */
typedef struct Counted {
    uint64_t done;
    Delays delays;
} Counted;

/* ---- the file ---- */

static void write_part(History *history, const void *part, size_t size)
{
    off_t place = (off_t)((const char *)part - (const char *)&history->ring);
    bool written = history->fd < 0 || TEMP_FAILURE_RETRY(pwrite(history->fd, part, size, place)) == (ssize_t)size;
    if (!written && !history->mute)
        log_warn("figures of the last hours cannot be kept: %s", g_strerror(errno));
    history->mute = !written;
}

History *history_open(int dir_fd)
{
    History *history = g_new0(History, 1);
    HistoryRing *ring = &history->ring;
    history->fd = openat(dir_fd, HISTORY_FILE, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0640);
    if (history->fd < 0)
        log_warn("figures of the last hours cannot be kept: %s: %s", HISTORY_FILE, g_strerror(errno));
    ssize_t got = history->fd >= 0 ? TEMP_FAILURE_RETRY(pread(history->fd, ring, sizeof *ring, 0)) : -1;
    /* A whole ring of this version is taken up; another one is begun anew. */
    bool usable = got == (ssize_t)sizeof *ring && memcmp(ring->magic, MAGIC, sizeof ring->magic) == 0 &&
                  ring->byte_order == BYTE_ORDER_MARK && ring->size == sizeof *ring;
    for (unsigned i = 0; usable && i < HISTORY_RUNNERS; i++)
        usable = memchr(ring->names[i], '\0', NAME_SIZE) && g_utf8_validate(ring->names[i], -1, NULL);
    if (usable)
        return history;
    memset(ring, 0, sizeof *ring);
    memcpy(ring->magic, MAGIC, sizeof ring->magic);
    ring->byte_order = BYTE_ORDER_MARK;
    ring->size = sizeof *ring;
    write_part(history, ring, sizeof *ring);
    return history;
}

void history_free(History *history)
{
    if (!history)
        return;
    if (history->timer)
        event_free(history->timer);
    g_clear_pointer(&history->last, g_hash_table_unref);
    if (history->fd >= 0)
        close(history->fd);
    g_free(history);
}

/* ---- samples ---- */

/* The place of a runner; -1: there is no room for one more. */
static int place_of(History *history, const char *runner)
{
    HistoryRing *ring = &history->ring;
    unsigned at = 0;
    while (at < HISTORY_RUNNERS && *ring->names[at] && strncmp(ring->names[at], runner, NAME_SIZE - 1) != 0)
        at++;
    if (at == HISTORY_RUNNERS)
        return -1;
    if (!*ring->names[at]) {
        g_strlcpy(ring->names[at], runner, NAME_SIZE);
        write_part(history, ring->names[at], NAME_SIZE);
    }
    return (int)at;
}

static uint32_t bounded(uint64_t figure)
{
    return (uint32_t)MIN(figure, UINT32_MAX);
}

void history_add(History *history, int64_t now, const HistorySample *samples, size_t count, const Delays *delays)
{
    int64_t seconds = now / CLOCK_SECOND;
    for (size_t range = 0; range < G_N_ELEMENTS(ranges); range++) {
        int64_t turn = seconds / ranges[range].period;
        const unsigned number = ranges[range].first + (unsigned)(turn % ranges[range].slots);
        HistorySlot *slot = &history->ring.slots[number];
        HistoryDelays *kept = &history->ring.delays[number];
        if (slot->begin != turn * ranges[range].period) {
            *slot = (HistorySlot){.begin = turn * ranges[range].period};
            *kept = (HistoryDelays){0};
        }
        for (size_t i = 0; i < count; i++) {
            int place = place_of(history, samples[i].runner);
            if (place < 0)
                continue;
            HistoryFigures *figures = &slot->of[place];
            figures->done = bounded((uint64_t)figures->done + samples[i].done);
            figures->backlog = MAX(figures->backlog, bounded(samples[i].backlog));
            figures->oldest = MAX(figures->oldest, bounded(samples[i].oldest));
        }
        for (int until = 0; until < DELAY_KINDS; until++)
            for (int i = 0; i < DELAYS_COLUMNS; i++)
                kept->counts[until][i] = bounded((uint64_t)kept->counts[until][i] + delays->counts[until][i]);
        write_part(history, slot, sizeof *slot);
        write_part(history, kept, sizeof *kept);
    }
}

static uint64_t rise(uint64_t before, uint64_t after)
{
    return after - MIN(before, after);
}

/* The figures of a runner since the sample before; how long its mail took is added to delays. */
static HistorySample sample_of(const Group *group, GHashTable *last, GHashTable *now, Delays *delays)
{
    static const Counted nothing;
    HistorySample sample = {.runner = group->plan->name};
    int64_t wall = clock_now();
    for (guint i = 0; i < group->workers->len; i++) {
        const Worker *worker = group->workers->pdata[i];
        const Beat *beat = &worker->watch.beat;
        char *key = g_strdup_printf("%s %u %u", sample.runner, worker->instance, worker->starts);
        const Counted counted = {.done = beat->done, .delays = beat->delays}, *before = g_hash_table_lookup(last, key);
        if (!before)
            before = &nothing;
        sample.done += rise(before->done, counted.done);
        for (int until = 0; until < DELAY_KINDS; until++)
            for (int k = 0; k < DELAYS_COLUMNS; k++)
                delays->counts[until][k] += rise(before->delays.counts[until][k], counted.delays.counts[until][k]);
        g_hash_table_insert(now, key, g_memdup2(&counted, sizeof counted));
        sample.backlog += beat->backlog;
        if (beat->oldest > 0 && beat->oldest < wall)
            sample.oldest = MAX(sample.oldest, (uint64_t)((wall - beat->oldest) / CLOCK_SECOND));
    }
    return sample;
}

static void on_minute(evutil_socket_t fd, short what, void *data)
{
    History *history = data;
    const GPtrArray *groups = history->master->groups;
    g_autofree HistorySample *samples = g_new0(HistorySample, groups->len + 1);
    GHashTable *now = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    Delays delays = {0};
    for (guint i = 0; i < groups->len; i++)
        samples[i] = sample_of(groups->pdata[i], history->last, now, &delays);
    history_add(history, clock_now(), samples, groups->len, &delays);
    g_hash_table_unref(history->last);
    history->last = now;
}

void history_follow(History *history, const Master *master)
{
    history->master = master;
    history->last = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    history->timer = event_new(master->base, -1, EV_PERSIST, on_minute, history);
    event_add(history->timer, &(struct timeval){INTERVAL, 0});
}

/* ---- looking back ---- */

static json_t *figure_or_null(const HistorySlot *slot, uint32_t figure)
{
    return slot ? json_integer(figure) : json_null();
}

/* A time to milliseconds, as a JSON number; null: there is none. */
static json_t *seconds_json(const uint64_t counts[DELAYS_COLUMNS], double part)
{
    double seconds = delays_within(counts, part);
    return seconds < 0 ? json_null() : json_real((double)(int64_t)(seconds * 1000 + 0.5) / 1000);
}

static json_t *delays_json(const History *history, size_t range, DelayUntil until, int64_t last)
{
    json_t *half = json_array(), *most = json_array();
    uint64_t all[DELAYS_COLUMNS] = {0}, recipients = 0;
    for (int64_t turn = last - ranges[range].slots + 1; turn <= last; turn++) {
        const unsigned number = ranges[range].first + (unsigned)(turn % ranges[range].slots);
        bool known = history->ring.slots[number].begin == turn * ranges[range].period;
        uint64_t counts[DELAYS_COLUMNS] = {0};
        for (int i = 0; known && i < DELAYS_COLUMNS; i++) {
            counts[i] = history->ring.delays[number].counts[until][i];
            all[i] += counts[i];
            recipients += counts[i];
        }
        json_array_append_new(half, seconds_json(counts, 0.5));
        json_array_append_new(most, seconds_json(counts, 0.99));
    }
    return json_pack("{so so sI so so}", "half", half, "most", most, "recipients", (json_int_t)recipients, "all_half",
                     seconds_json(all, 0.5), "all_most", seconds_json(all, 0.99));
}

json_t *history_json(const History *history, const char *range, int64_t now)
{
    size_t at = 0;
    while (at < G_N_ELEMENTS(ranges) && strcmp(ranges[at].name, range) != 0)
        at++;
    if (at == G_N_ELEMENTS(ranges))
        return NULL;
    json_t *runners = json_object();
    int64_t last = now / CLOCK_SECOND / ranges[at].period;
    for (unsigned place = 0; place < HISTORY_RUNNERS && *history->ring.names[place]; place++) {
        json_t *done = json_array(), *backlog = json_array(), *oldest = json_array();
        for (int64_t turn = last - ranges[at].slots + 1; turn <= last; turn++) {
            const HistorySlot *slot = &history->ring.slots[ranges[at].first + (unsigned)(turn % ranges[at].slots)];
            const HistoryFigures *figures = &slot->of[place];
            if (slot->begin != turn * ranges[at].period)
                slot = NULL;
            json_array_append_new(done, figure_or_null(slot, figures->done));
            json_array_append_new(backlog, figure_or_null(slot, figures->backlog));
            json_array_append_new(oldest, figure_or_null(slot, figures->oldest));
        }
        json_object_set_new(runners, history->ring.names[place],
                            json_pack("{so so so}", "done", done, "backlog", backlog, "oldest", oldest));
    }
    g_autofree char *until = clock_text(now);
    return json_pack("{sI ss so s{so so}}", "period", (json_int_t)ranges[at].period, "until", until, "runners", runners,
                     "delays", "tried", delays_json(history, at, DELAY_UNTIL_TRIED, last), "settled",
                     delays_json(history, at, DELAY_UNTIL_SETTLED, last));
}
