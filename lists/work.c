/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/work.h"

#include <stdarg.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "runners/keys.h"
#include "switchboard/intake.h"
#include "switchboard/meta.h"

#define FLUSH_ROWS 100 /* in one transaction: others wait for the write lock meanwhile */

typedef struct WorkEntry {
    char *queue;
    json_t *meta;
    GPtrArray *pieces;
    char **recipients;
} WorkEntry;

struct Work {
    Store *store;
    WorkSite site;
    Actor actor;
    char *became, *host; /* the actor's address since work_become(), and host since work_set_host() */
    int64_t now;
    GPtrArray *entries; /* of WorkEntry */
    GArray *rows;       /* of int64_t: numbers of the rows that work_keep() left */
    bool begun;         /* by work_begin(), and neither committed nor cancelled yet */
};

void work_site_init(WorkSite *site, const Config *config)
{
    *site = (WorkSite){
        .config = config,
        .site_owner = config_string(config, "site", "site_owner"),
        .hostname = config_string(config, "site", "hostname"),
        .templates = config_string(config, "site", "template_directory"),
        .delimiter = config_string(config, "lmtp", "verp_delimiter")[0],
        .answers_a_day = config_integer(config, "site", "max_autoresponses_per_day"),
        .pending_request_life = config_duration(config, "site", "pending_request_life"),
        .moderator_request_life = config_duration(config, "site", "moderator_request_life"),
        .held_notice_interval = config_duration(config, "site", "held_notice_interval"),
        .gathers = queue_is_worked(config, "task"),
        .tells = queue_is_worked(config, "hooks"),
        .keeps_maps = queue_is_worked(config, "task") && config_string(config, "mta", "maps_directory"),
    };
}

static void work_entry_free(void *data)
{
    WorkEntry *entry = data;
    g_free(entry->queue);
    json_decref(entry->meta);
    g_ptr_array_unref(entry->pieces);
    g_strfreev(entry->recipients);
    g_free(entry);
}

Work *work_new(Store *store, const WorkSite *site, const Actor *actor)
{
    Work *work = g_new0(Work, 1);
    work->store = store;
    work->site = *site;
    work->actor = *actor;
    work->now = clock_now();
    work->entries = g_ptr_array_new_with_free_func(work_entry_free);
    work->rows = g_array_new(false, false, sizeof(int64_t));
    return work;
}

void work_free(Work *work)
{
    if (!work)
        return;
    if (work->begun)
        store_rollback(work->store);
    g_ptr_array_unref(work->entries);
    g_array_unref(work->rows);
    g_free(work->became);
    g_free(work->host);
    g_free(work);
}

Store *work_store(const Work *work)
{
    return work->store;
}

const WorkSite *work_site(const Work *work)
{
    return &work->site;
}

const Actor *work_actor(const Work *work)
{
    return &work->actor;
}

const char *work_by(const Work *work)
{
    return work->actor.address ? work->actor.address : "operator";
}

int64_t work_now(const Work *work)
{
    return work->now;
}

void work_become(Work *work, ActorRole role, const char *address)
{
    char *became = g_strdup(address);
    g_free(work->became);
    work->became = became;
    work->actor.role = role;
    work->actor.address = became;
}

void work_set_host(Work *work, const char *host)
{
    char *copy = g_strdup(host);
    g_free(work->host);
    work->actor.host = work->host = copy;
}

void work_entry(Work *work, const char *queue, json_t *meta, GPtrArray *pieces, char **recipients)
{
    WorkEntry *entry = g_new0(WorkEntry, 1);
    entry->queue = g_strdup(queue);
    entry->meta = meta;
    entry->pieces = pieces;
    entry->recipients = recipients;
    g_ptr_array_add(work->entries, entry);
}

unsigned work_entries(const Work *work)
{
    return work->entries->len;
}

void work_log(const Work *work, const char *list_id, const char *format, ...)
{
    if (work->actor.door == DOOR_SHELL)
        return;
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    log_info("%s list=%s %s", work->actor.from ? work->actor.from : "-", list_id, text);
}

void work_into(Work *work, WorkTake *take, void *data)
{
    for (unsigned at = 0; at < work->entries->len; at++) {
        const WorkEntry *entry = work->entries->pdata[at];
        Draft *draft = draft_new(entry->queue, json_deep_copy(entry->meta));
        for (unsigned piece = 0; piece < entry->pieces->len; piece++)
            draft_add_message(draft, entry->pieces->pdata[piece]);
        if (entry->recipients && *entry->recipients)
            draft_set_addresses(draft, g_strdupv(entry->recipients));
        take(data, draft);
    }
    g_ptr_array_set_size(work->entries, 0);
}

/* ---- the outbox ---- */

static GBytes *joined(const GPtrArray *pieces)
{
    GByteArray *all = g_byte_array_new();
    for (unsigned at = 0; at < pieces->len; at++) {
        size_t length;
        const void *octets = g_bytes_get_data(pieces->pdata[at], &length);
        g_byte_array_append(all, octets, (guint)length);
    }
    return g_byte_array_free_to_bytes(all);
}

static bool keep_entry(const Work *work, const char *owner, const WorkEntry *entry, GError **error)
{
    g_autoptr(GBytes) message = joined(entry->pieces);
    g_autofree char *meta = meta_print(entry->meta);
    g_autofree char *recipients = entry->recipients ? g_strjoinv("\n", entry->recipients) : g_strdup("");
    OutboxRow row = {.queue = entry->queue, .meta = meta, .recipients = recipients, .message = message,
                     .made_at = work->now};
    if (!outbox_add(work->store, owner, &row, error))
        return false;
    g_array_append_val(work->rows, row.number);
    return true;
}

bool work_keep(Work *work, const char *entry, GError **error)
{
    for (unsigned at = 0; at < work->entries->len; at++)
        if (!keep_entry(work, entry, work->entries->pdata[at], error))
            return false;
    return true;
}

static char **split_recipients(const OutboxRow *row)
{
    return *row->recipients ? g_strsplit(row->recipients, "\n", -1) : NULL;
}

bool work_recall(Work *work, const char *entry, GError **error)
{
    g_autoptr(GPtrArray) rows = outbox_of(work->store, entry, error);
    if (!rows)
        return false;
    for (unsigned at = 0; at < rows->len; at++) {
        const OutboxRow *row = rows->pdata[at];
        json_t *meta = meta_parse(row->meta, strlen(row->meta), error);
        if (!meta)
            return false;
        GPtrArray *pieces = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
        g_ptr_array_add(pieces, g_bytes_ref(row->message));
        work_entry(work, row->queue, meta, pieces, split_recipients(row));
    }
    return true;
}

/* The draft that a row stands for: the same name, whoever makes it and however often. */
static Draft *row_draft(const OutboxRow *row, GError **error)
{
    json_t *meta = meta_parse(row->meta, strlen(row->meta), error);
    if (!meta)
        return NULL;
    if (meta_integer(meta, META_ARRIVAL, 0) <= 0)
        meta_set_integer(meta, META_ARRIVAL, row->made_at);
    meta_set_integer(meta, META_ORDINAL, row->number);
    meta_set_bool(meta, KEY_OUTBOX, true);
    Draft *draft = draft_new(row->queue, meta);
    draft_add_message(draft, row->message);
    char **recipients = split_recipients(row);
    if (recipients)
        draft_set_addresses(draft, recipients);
    return draft;
}

static bool effect_recorded(Store *store, Draft *draft, bool *recorded, GError **error)
{
    int64_t number;
    g_autofree char *effect = name_effect(draft_queue(draft), draft_name(draft)->hash);
    return store_find_effect(store, effect, recorded, &number, error);
}

/* Under the write lock. Only where an earlier attempt may have been cut short the queue is looked through. */
static bool store_row(Store *store, Spool *spool, const OutboxRow *row, GError **error)
{
    g_autoptr(Draft) draft = row_draft(row, error);
    bool recorded = false;
    if (!draft || (row->touched && !effect_recorded(store, draft, &recorded, error)))
        return false;
    Intake intake = {.draft = draft};
    if (!recorded && !intake_store(spool, &intake, 1, row->touched)) {
        g_propagate_error(error, intake.error);
        return false;
    }
    return outbox_remove(store, row->number, error);
}

static bool end(Store *store, bool done, GError **error)
{
    if (done)
        return store_commit(store, error);
    store_rollback(store);
    return false;
}

/* *left: there may be more. */
static bool flush_some(Store *store, Spool *spool, bool *left, GError **error)
{
    if (!store_begin(store, error))
        return false;
    g_autoptr(GPtrArray) rows = outbox_waiting(store, FLUSH_ROWS, error);
    bool done = rows != NULL;
    for (unsigned at = 0; done && at < rows->len; at++)
        done = store_row(store, spool, rows->pdata[at], error);
    *left = done && rows->len == FLUSH_ROWS;
    return end(store, done, error);
}

bool work_flush(Store *store, Spool *spool, GError **error)
{
    g_autoptr(GPtrArray) first = outbox_waiting(store, 1, error);
    if (!first || first->len == 0)
        return first != NULL;
    bool left = outbox_touch(store, error), done = left;
    while (done && left)
        done = flush_some(store, spool, &left, error);
    return done;
}

/* Under the write lock: the rows of this unit from `from` to before `to`, those that nobody has touched in one group,
 * which shares its syncs. */
static bool store_own(Work *work, Spool *spool, unsigned from, unsigned to, GError **error)
{
    Intake group[FLUSH_ROWS] = {{0}};
    int64_t numbers[FLUSH_ROWS];
    size_t count = 0;
    bool done = true;
    for (unsigned at = from; done && at < to; at++) {
        OutboxRow *found = NULL;
        done = outbox_find(work->store, g_array_index(work->rows, int64_t, at), &found, error);
        g_autoptr(OutboxRow) row = found;
        if (row && row->touched) {
            done = store_row(work->store, spool, row, error);
        } else if (row) {
            numbers[count] = row->number;
            done = (group[count].draft = row_draft(row, error)) != NULL;
            count += done;
        }
    }
    if (done && count > 0)
        done = intake_store(spool, group, count, false);
    for (size_t at = 0; at < count; at++) {
        done = done && outbox_remove(work->store, numbers[at], error);
        draft_free(group[at].draft);
        if (group[at].error && error && !*error)
            *error = g_steal_pointer(&group[at].error);
        g_clear_error(&group[at].error);
    }
    return done;
}

/* What this unit left. */
static bool flush_own(Work *work, Spool *spool, GError **error)
{
    bool done = true;
    for (unsigned from = 0; done && from < work->rows->len; from += FLUSH_ROWS) {
        unsigned to = MIN(from + FLUSH_ROWS, work->rows->len);
        done = store_begin(work->store, error) &&
               end(work->store, store_own(work, spool, from, to, error), error);
    }
    g_array_set_size(work->rows, 0);
    return done;
}

bool work_begin(Work *work, GError **error)
{
    work->begun = store_begin(work->store, error);
    return work->begun;
}

void work_cancel(Work *work)
{
    store_rollback(work->store);
    work->begun = false;
    g_ptr_array_set_size(work->entries, 0);
    g_array_set_size(work->rows, 0);
}

bool work_commit(Work *work, Spool *spool, GError **error)
{
    if (!work_keep(work, NULL, error)) {
        work_cancel(work);
        return false;
    }
    work->begun = false;
    if (!store_commit(work->store, error))
        return false;
    g_ptr_array_set_size(work->entries, 0);
    g_autoptr(GError) why = NULL;
    if (!flush_own(work, spool, &why))
        log_warn("the change is made, but mail about it waits in the database until the next change or until the "
                 "runner task stores it: %s",
                 why->message);
    return true;
}
