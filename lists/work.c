/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/work.h"

#include <stdarg.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "lists/keys.h"
#include "lists/unit.h"
#include "store/secret.h"
#include "switchboard/meta.h"

typedef struct WorkEntry {
    char *queue;
    json_t *meta;
    GPtrArray *pieces;
    char **recipients;
    int64_t due; /* 0: now */
} WorkEntry;

struct Work {
    Store *store;
    WorkSite site;
    Actor actor;
    char *became, *host, *name; /* the actor's address since work_become(), and host since work_set_host() */
    GBytes *cause; /* NULL: none */
    LoopKeys *loop_keys; /* NULL: not read yet */
    int64_t now;
    GPtrArray *entries; /* of WorkEntry */
    bool begun;         /* by work_begin(), and neither committed nor cancelled yet */
    bool unknown;       /* nobody knows whether it was committed */
    unsigned saved;     /* entries that there were at the savepoint */
};

void work_site_init(WorkSite *site, const Config *config)
{
    *site = (WorkSite){
        .config = config,
        .site_owner = config_string(config, "site", "site_owner"),
        .hostname = config_string(config, "site", "hostname"),
        .web_url = config_string(config, "site", "web_url"),
        .templates = config_string(config, "site", "template_directory"),
        .template_hosts = config_list(config, "site", "template_hosts"),
        .delimiter = config_string(config, "lmtp", "verp_delimiter")[0],
        .answers_a_day = config_integer(config, "site", "max_autoresponses_per_day"),
        .letters_per_host = config_integer(config, "site", "max_letters_per_host_per_day"),
        .form_letters = config_integer(config, "site", "max_form_letters_per_day"),
        .pending_request_life = config_duration(config, "site", "pending_request_life"),
        .moderator_request_life = config_duration(config, "site", "moderator_request_life"),
        .held_notice_interval = config_duration(config, "site", "held_notice_interval"),
        .gathers = queue_is_worked(config, "task"),
        .tells = queue_is_worked(config, "hooks"),
        .keeps_maps = queue_is_worked(config, "task") && config_string(config, "mta", "maps_directory"),
    };
}

char *work_site_page(const WorkSite *site, const char *path)
{
    const char *url = site->web_url;
    if (!url)
        return NULL;
    return g_strdup_printf("%.*s%s", (int)(strlen(url) - g_str_has_suffix(url, "/")), url, path);
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
    work->actor.name = work->name = g_strdup(actor->name);
    work->now = clock_now();
    work->entries = g_ptr_array_new_with_free_func(work_entry_free);
    return work;
}

void work_free(Work *work)
{
    if (!work)
        return;
    if (work->begun)
        store_rollback(work->store);
    g_ptr_array_unref(work->entries);
    g_clear_pointer(&work->cause, g_bytes_unref);
    g_clear_pointer(&work->loop_keys, loop_keys_free);
    g_free(work->became);
    g_free(work->host);
    g_free(work->name);
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
    return work->actor.address ? work->actor.address : work->actor.role == ACTOR_ADDRESS ? "-" : "operator";
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

void work_set_cause(Work *work, GBytes *message)
{
    g_bytes_ref(message);
    g_clear_pointer(&work->cause, g_bytes_unref);
    work->cause = message;
}

GBytes *work_cause(const Work *work)
{
    return work->cause;
}

const LoopKeys *work_loop_keys(Work *work, GError **error)
{
    g_autoptr(GPtrArray) secrets = work->loop_keys ? NULL : secret_all(work->store, error);
    if (secrets)
        work->loop_keys = loop_keys_new(secrets);
    return work->loop_keys;
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

void work_entry_due(Work *work, int64_t due)
{
    WorkEntry *entry = work->entries->pdata[work->entries->len - 1];
    entry->due = due;
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
        if (entry->due != 0)
            draft_set_due(draft, entry->due);
        take(data, draft);
    }
    g_ptr_array_set_size(work->entries, 0);
}

/* ---- rows of an entry in hand ---- */

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
    const KeptRow row = {
        .queue = entry->queue, .meta = meta, .recipients = recipients, .message = message, .made_at = work->now};
    return kept_add(work->store, work->site.kept_key, owner, &row, error);
}

bool work_keep(Work *work, const char *entry, GError **error)
{
    g_assert(work->site.kept_key);
    for (unsigned at = 0; at < work->entries->len; at++)
        if (!keep_entry(work, entry, work->entries->pdata[at], error))
            return false;
    return true;
}

bool work_recall(Work *work, const char *entry, GError **error)
{
    g_assert(work->site.kept_key);
    g_autoptr(GPtrArray) rows = kept_of(work->store, work->site.kept_key, entry, error);
    if (!rows)
        return false;
    for (unsigned at = 0; at < rows->len; at++) {
        const KeptRow *row = rows->pdata[at];
        json_t *meta = meta_parse(row->meta, strlen(row->meta), error);
        if (!meta)
            return false;
        GPtrArray *pieces = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
        g_ptr_array_add(pieces, g_bytes_ref(row->message));
        work_entry(work, row->queue, meta, pieces, *row->recipients ? g_strsplit(row->recipients, "\n", -1) : NULL);
    }
    return true;
}

/* ---- outside of runners ---- */

bool work_begin(Work *work, GError **error)
{
    return work->begun = store_begin_durable(work->store, error);
}

bool work_begin_people(Work *work, const char *list_id, GError **error)
{
    return work->begun = store_begin_people_durable(work->store, list_id, error);
}

void work_cancel(Work *work)
{
    store_rollback(work->store);
    work->begun = false;
    g_ptr_array_set_size(work->entries, 0);
}

bool work_savepoint(Work *work, GError **error)
{
    work->saved = work->entries->len;
    return store_savepoint(work->store, error);
}

void work_savepoint_end(Work *work, bool keep)
{
    store_savepoint_end(work->store, keep);
    if (!keep)
        g_ptr_array_set_size(work->entries, (int)work->saved);
}

static void take_draft(void *data, Draft *draft)
{
    g_ptr_array_add(data, draft);
}

bool work_commit(Work *work, Spool *spool, GError **error)
{
    g_autoptr(GPtrArray) drafts = g_ptr_array_new_with_free_func((GDestroyNotify)draft_free);
    work_into(work, take_draft, drafts);
    work->begun = false;
    g_assert(spool || drafts->len == 0);
    bool done = drafts->len == 0 ? store_commit(work->store, error)
                                 : unit_commit(work->store, spool, drafts, error);
    work->unknown = !done && store_commit_unknown(work->store);
    return done;
}

bool work_is_unknown(const Work *work)
{
    return work->unknown;
}
