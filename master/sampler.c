/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "master/sampler.h"

#include "base/clock.h"
#include "master/group.h"
#include "master/history.h"

#define INTERVAL 60 /* seconds */
#define HISTORY_FILE "history"

struct Sampler {
    const Master *master;
    struct event *timer;
    History *history;
    GHashTable *last; /* "RUNNER INSTANCE STARTS" -> Counted */
};

/* Counted holds the counters of a process since its start. */
typedef struct Counted {
    uint64_t done;
    Delays delays;
} Counted;

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
    Sampler *sampler = data;
    const GPtrArray *groups = sampler->master->groups;
    g_autofree HistorySample *samples = g_new0(HistorySample, groups->len + 1);
    GHashTable *now = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    Delays delays = {0};
    for (guint i = 0; i < groups->len; i++)
        samples[i] = sample_of(groups->pdata[i], sampler->last, now, &delays);
    history_add(sampler->history, clock_now(), samples, groups->len, &delays);
    g_hash_table_unref(sampler->last);
    sampler->last = now;
}

Sampler *sampler_new(const Master *master)
{
    Sampler *sampler = g_new0(Sampler, 1);
    sampler->master = master;
    sampler->history = history_open(master->state_dir, HISTORY_FILE);
    sampler->last = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    sampler->timer = event_new(master->base, -1, EV_PERSIST, on_minute, sampler);
    event_add(sampler->timer, &(struct timeval){INTERVAL, 0});
    return sampler;
}

void sampler_free(Sampler *sampler)
{
    if (!sampler)
        return;
    event_free(sampler->timer);
    history_free(sampler->history);
    g_hash_table_unref(sampler->last);
    g_free(sampler);
}

json_t *sampler_json(const Sampler *sampler, const char *range)
{
    return history_json(sampler->history, range, clock_now());
}
