/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/watch/queues.h"

#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "lists/keys.h"
#include "store/hosts/canary.h"
#include "switchboard/intake.h"
#include "switchboard/meta.h"
#include "switchboard/slice.h"

/* queue NULL: that of the runner's section. */
static const struct {
    const char *runner, *queue;
} worked[] = {{"pipeline", NULL}, {"archive", NULL}, {"digest", NULL}, {"virgin", NULL}, {"bounces", NULL},
              {"command", NULL},  {"nntp", NULL},    {"out", "retry"}, {"out", "notice"}};

unsigned queues_slices(const Config *config, const char *runner)
{
    unsigned most;
    config_instances(config, runner, &most);
    return most;
}

unsigned queues_slice_for(const char *key, unsigned slices)
{
    g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA1);
    uint8_t hash[HASH_SIZE];
    gsize size = sizeof hash;
    g_checksum_update(sum, (const guchar *)key, -1);
    g_checksum_get_digest(sum, hash, &size);
    return slice_of(hash, slices);
}

/* A shard key that leads to the slice; g_free(). */
static char *key_for(unsigned slice, unsigned slices)
{
    for (unsigned at = 0;; at++) {
        g_autofree char *key = g_strdup_printf("canary %u", at);
        if (queues_slice_for(key, slices) == slice)
            return g_steal_pointer(&key);
    }
}

/* Is it the program that came with this one? Another one would take the entry for mail. */
static bool is_ours(const Config *config, const char *runner, const char *section)
{
    g_autofree char *directory = g_path_get_dirname(config_string(config, "runner.watch", "command"));
    g_autofree char *own = g_build_filename(directory, runner, NULL);
    return g_str_equal(own, config_string(config, section, "command"));
}

/* The queue of this line of the table; NULL: it has no turn. Borrowed. */
static const char *queue_of(const Config *config, size_t at)
{
    g_autofree char *section = g_strconcat("runner.", worked[at].runner, NULL);
    if (!config_bool(config, section, "start") || !is_ours(config, worked[at].runner, section))
        return NULL;
    return worked[at].queue ? worked[at].queue : config_string(config, section, "queue");
}

static const char *own_name(const Queues *queues)
{
    return config_string(queues->config, "site", "hostname");
}

static const Canary *row_of(const GPtrArray *rows, const char *queue, unsigned slice)
{
    for (guint at = 0; at < rows->len; at++)
        if (g_strcmp0(canary_queue(rows->pdata[at]), queue) == 0 && ((const Canary *)rows->pdata[at])->out == slice)
            return rows->pdata[at];
    return NULL;
}

static bool put(const Queues *queues, const char *queue, unsigned slice, unsigned slices, GError **error)
{
    g_autofree char *shard = key_for(slice, slices), *family = g_strconcat(CANARY_QUEUE, queue, NULL);
    const CanaryWay way = {family, slice, 0};
    char name[NAME_SIZE];
    json_t *meta = json_object();
    meta_set_string(meta, META_SHARD, shard);
    meta_set_bool(meta, META_CANARY, true);
    meta_set_string(meta, KEY_ENVELOPE_SENDER, ""); /* for out: a delivery to nobody */
    g_autoptr(Draft) draft = draft_new(queue, meta);
    Intake intake = {.draft = draft};
    name_format(draft_name(draft), name);
    /* The row comes first: an entry without one would be looked for by nobody. A name that is taken is of that hash. */
    if (!canary_sent(queues->store, own_name(queues), &way, name, clock_now(), error))
        return false;
    if (intake_store(queues->spool, &intake, 1, false))
        return true;
    g_propagate_error(error, intake.error);
    return false;
}

bool queues_put(Queues *queues, const GPtrArray *rows, GError **error)
{
    g_autoptr(GError) first = NULL;
    for (size_t at = 0; at < G_N_ELEMENTS(worked); at++) {
        const char *queue = queue_of(queues->config, at);
        unsigned slices = queues_slices(queues->config, worked[at].runner);
        unsigned slice = (unsigned)(queues->count % slices);
        const Canary *row = queue ? row_of(rows, queue, slice) : NULL;
        if (queue && (!row || !row->missing_since))
            put(queues, queue, slice, slices, first ? NULL : &first);
    }
    queues->count++;
    bool done = !first;
    if (first)
        g_propagate_error(error, g_steal_pointer(&first));
    return done;
}

typedef struct QueueSearch {
    EntryName wanted;
    bool found;
} QueueSearch;

static void visit(void *data, Queue *queue, const char *file, const EntryName *name, const char *rest)
{
    QueueSearch *search = data;
    (void)queue;
    (void)file;
    (void)rest;
    search->found |= memcmp(name->hash, search->wanted.hash, HASH_SIZE) == 0;
}

/* Most lie there as they were stored. One that was put off has another time in its name. */
static bool lies_there(Queue *queue, const char *text, bool *there, GError **error)
{
    static const char *const suffixes[] = {".msg", ".bak"};
    QueueSearch search = {.found = false};
    if (!name_parse(text, &search.wanted, NULL)) {
        *there = false;
        return true;
    }
    for (size_t at = 0; at < G_N_ELEMENTS(suffixes) && !search.found; at++) {
        g_autofree char *file = g_strconcat(text, suffixes[at], NULL);
        search.found = faccessat(queue_fd(queue), file, F_OK, 0) == 0;
    }
    bool done = search.found || queue_visit(queue, visit, &search, error);
    *there = search.found;
    return done;
}

bool queues_look(const Queues *queues, const GPtrArray *rows, bool late_too, bool *under_way, GError **error)
{
    int64_t patience = config_duration(queues->config, "watch", "patience"), now = clock_now();
    for (guint at = 0; at < rows->len; at++) {
        const Canary *row = rows->pdata[at];
        const char *name = canary_queue(row);
        bool late = now - row->sent_at > patience, there;
        if (!name || !row->missing_since || (late && !late_too))
            continue;
        const CanaryWay way = {row->family, row->out, 0};
        Queue *queue = spool_target(queues->spool, name, error);
        if (!queue || !lies_there(queue, row->mail, &there, error) ||
            (!there && !canary_back(queues->store, own_name(queues), &way, now, error)))
            return false;
        *under_way |= there && !late;
    }
    return true;
}

static bool is_known(const Queues *queues, const char *name, int64_t slice)
{
    for (size_t at = 0; at < G_N_ELEMENTS(worked); at++)
        if (g_strcmp0(queue_of(queues->config, at), name) == 0)
            return slice < queues_slices(queues->config, worked[at].runner);
    return false;
}

bool queues_forget(const Queues *queues, const GPtrArray *rows, GError **error)
{
    for (guint at = 0; at < rows->len; at++) {
        const Canary *row = rows->pdata[at];
        const char *name = canary_queue(row);
        const CanaryWay way = {row->family, row->out, row->in};
        if (name && !is_known(queues, name, row->out) &&
            !canary_forget_way(queues->store, own_name(queues), &way, error))
            return false;
    }
    return true;
}
