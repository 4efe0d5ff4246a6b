/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/list_runner.h"

#include <stdarg.h>
#include <string.h>

#include "base/clock.h"
#include "base/contract.h"
#include "base/fail.h"
#include "base/log.h"
#include "posting/external.h"
#include "posting/keys.h"
#include "posting/order.h"
#include "runners/keys.h"
#include "store/secret.h"

static void archiver_clear(void *data)
{
    PostArchiver *archiver = data;
    g_free((char *)archiver->list_url);
    g_free((char *)archiver->permalink);
}

/* Where the archives of well-known services are, unless the configuration says so. */
static void fill_places(PostArchiver *archiver, const char *type, const char *url)
{
    if (strcmp(type, "mail-archive") == 0 && !archiver->list_url)
        archiver->list_url = g_strdup("https://www.mail-archive.com/$list_name@$mail_host/");
    if (strcmp(type, "hyperkitty") != 0 || !url)
        return;
    const char *slash = g_str_has_suffix(url, "/") ? "" : "/";
    if (!archiver->list_url)
        archiver->list_url = g_strdup_printf("%s%slist/$list_name@$mail_host/", url, slash);
    if (!archiver->permalink)
        archiver->permalink = g_strdup_printf("%s%slist/$list_name@$mail_host/message/$hash/", url, slash);
}

static GArray *read_archivers(const Config *config)
{
    GArray *archivers = g_array_new(true, true, sizeof(PostArchiver));
    g_array_set_clear_func(archivers, archiver_clear);
    for (const char *const *name = config_family(config, "archiver"); *name; name++) {
        g_autofree char *section = g_strconcat("archiver.", *name, NULL);
        const char *type = config_string(config, section, "type");
        PostArchiver archiver = {.name = *name,
                                 .list_url = g_strdup(config_string(config, section, "list_url")),
                                 .permalink = g_strdup(config_string(config, section, "permalink")),
                                 .public_only = strcmp(type, "mail-archive") == 0};
        fill_places(&archiver, type, config_string(config, section, "url"));
        if (config_bool(config, section, "enabled"))
            g_array_append_val(archivers, archiver);
        else
            archiver_clear(&archiver);
    }
    return archivers;
}

/* The master must not take a runner for stalled that waits for a program of the site. */
static bool alive(void *data)
{
    Runner *runner = data;
    runner_progress(runner);
    return !runner_stopping(runner);
}

bool list_runner_start(Runner *runner, GError **error)
{
    const Config *config = runner_config(runner);
    const char *path = config_string(config, "store", "path");
    Store *store = store_open(config_string(config, "store", "driver"), path, false, error);
    if (!store)
        return false;
    int log = -1;
    if (!store_leave_sync(store, &log, error)) {
        store_free(store);
        return false;
    }
    runner_sync_along(runner, log);
    ListRunner *own = g_new0(ListRunner, 1);
    own->store = store;
    own->lists = list_cache_new(store);
    own->kept = g_ptr_array_new_with_free_func((GDestroyNotify)list_runner_post_free);
    own->archivers = read_archivers(config);
    work_site_init(&own->site, config);
    own->no_requests = !queue_is_worked(config, "command");
    own->copies = (PostCopies){
        .verp_interval = config_integer(config, "pipeline", "verp_delivery_interval"),
        .verp_personalized = config_bool(config, "pipeline", "verp_personalized_deliveries"),
        .unsubscribe_url = config_string(config, "pipeline", "unsubscribe_url"),
    };
    const char *converter = config_string(config, "handlers", "html_to_plain_text_command");
    own->dkim_keys = keys_read(config);
    own->rule_programs = external_read(config, "rules");
    own->handler_programs = external_read(config, "handlers");
    own->orders = orders_new(config);
    own->post_site = (PostSite){
        .orders = own->orders,
        .alive = alive,
        .data = runner,
        .keys = own->dkim_keys,
        .rule_programs = own->rule_programs,
        .handler_programs = own->handler_programs,
        .header_match_target = config_string(config, "rules", "header_match_action"),
        .hold_digest = config_bool(config, "rules", "hold_digest"),
        .remove_dkim = config_bool(config, "handlers", "remove_dkim_headers"),
        .news = config_string(config, "nntp", "host") && queue_is_worked(config, POST_NEWS),
    };
    if (converter)
        g_shell_parse_argv(converter, NULL, &own->post_site.html_to_text, NULL); /* config check told of a fault */
    runner_set_data(runner, own);
    return true;
}

void list_runner_stop(Runner *runner)
{
    ListRunner *own = runner_data(runner);
    if (!own)
        return;
    g_ptr_array_unref(own->kept);
    list_cache_free(own->lists);
    g_array_unref(own->archivers);
    verp_keys_free(own->keys);
    g_strfreev(own->post_site.html_to_text);
    g_ptr_array_unref(own->dkim_keys);
    g_ptr_array_unref(own->rule_programs);
    g_ptr_array_unref(own->handler_programs);
    orders_free(own->orders);
    store_free(own->store);
    g_free(own);
    runner_set_data(runner, NULL);
}

bool list_runner_refresh(Runner *runner, GError **error)
{
    ListRunner *own = runner_data(runner);
    g_autoptr(GError) gone = NULL;
    if (!store_present(own->store, &gone)) /* the one that is there is opened at the next start */
        log_fatal(CHILD_EXIT_LATER, "%s", gone->message);
    list_cache_refresh(own->lists);
    if (own->keys && clock_monotonic() >= own->keys_until)
        g_clear_pointer(&own->keys, verp_keys_free);
    g_ptr_array_set_size(own->kept, 0);
    own->taken = 0;
    return true;
}

bool list_runner_begin(Runner *runner, GError **error)
{
    ListRunner *own = runner_data(runner);
    return list_runner_refresh(runner, error) && store_begin(own->store, error);
}

bool list_runner_end(Runner *runner, GError **error)
{
    ListRunner *own = runner_data(runner);
    return store_commit(own->store, error);
}

#define KEYS_LIFETIME (60 * CLOCK_SECOND)

VerpKeys *list_runner_keys(Runner *runner, GError **error)
{
    ListRunner *own = runner_data(runner);
    if (own->keys)
        return own->keys;
    g_autoptr(GPtrArray) secrets = secret_all(own->store, error);
    if (!secrets)
        return NULL;
    own->keys = verp_keys_new(secrets);
    own->keys_until = clock_monotonic() + KEYS_LIFETIME;
    return own->keys;
}

static bool read_entry(ListRunnerPost *own, ListRunner *shared, GError **error)
{
    Entry *entry = own->entry;
    json_t *meta = entry_meta(entry);
    g_autoptr(GError) fault = NULL;
    const List *list = list_cache_get(shared->lists, entry_list(entry), &fault);
    if (!list) {
        if (g_error_matches(fault, FAIL, FAIL_MISSING))
            return fail(error, FAIL_NEVER, "there is no list %s", entry_list(entry));
        g_propagate_error(error, g_steal_pointer(&fault));
        return false;
    }
    g_autoptr(GBytes) octets = entry_message(entry);
    own->message = message_new(octets);
    Post *post = &own->post;
    post->store = shared->store;
    post->lists = shared->lists;
    post->site = &shared->post_site;
    post->list = list;
    post->message = own->message;
    post->sender = meta_string(meta, KEY_SENDER, "");
    post->recipient = meta_string(meta, KEY_RECIPIENT, NULL);
    post->message_id = meta_string(meta, KEY_MESSAGE_ID, NULL);
    post->trace = entry_trace(entry);
    post->site_owner = shared->site.site_owner;
    post->no_requests = shared->no_requests;
    post->archivers = (const PostArchiver *)shared->archivers->data;
    post->copies = &shared->copies;
    post->now = clock_now();
    post->size = g_bytes_get_size(octets);
    post->left = meta_string(meta, KEY_LEFT, NULL);
    post->left_reason = meta_string(meta, KEY_LEFT_REASON, NULL);
    post->moderated = meta_bool(meta, KEY_MODERATED, false);
    post->from_news = meta_string(meta, KEY_FROM_NEWS, NULL) != NULL;
    post->member = g_strdup(meta_string(meta, KEY_MEMBER, NULL));
    return true;
}

ListRunnerPost *list_runner_post_new(Runner *runner, Entry *entry, Outcome *outcome, GError **error)
{
    g_autoptr(ListRunnerPost) own = g_new0(ListRunnerPost, 1);
    post_init(&own->post);
    own->entry = entry;
    own->outcome = outcome;
    if (!read_entry(own, runner_data(runner), error) ||
        !list_runner_find_effect(runner, entry, &own->before, &own->number, error))
        return NULL;
    return g_steal_pointer(&own);
}

void list_runner_post_free(ListRunnerPost *own)
{
    if (!own)
        return;
    post_clear(&own->post);
    message_free(own->message);
    work_free(own->letters);
    g_free(own);
}

void list_runner_keep(Runner *runner, ListRunnerPost *own)
{
    ListRunner *shared = runner_data(runner);
    g_ptr_array_add(shared->kept, own);
}

/* The entries come in the order in which they were kept, less those that failed meanwhile. */
ListRunnerPost *list_runner_take(Runner *runner, const Outcome *outcome)
{
    ListRunner *shared = runner_data(runner);
    while (shared->taken < shared->kept->len) {
        ListRunnerPost *own = g_steal_pointer(&shared->kept->pdata[shared->taken++]);
        if (own->outcome == outcome)
            return own;
        list_runner_post_free(own);
    }
    log_panic("an entry is finished that was not kept");
}

static bool settle_one(Runner *runner, ListRunnerPost *own, ListRunnerSettle *settle, GError **error)
{
    Store *store = ((ListRunner *)runner_data(runner))->store;
    if (!store_savepoint(store, error))
        return false;
    bool done = settle(runner, own, &own->outcome->error);
    store_savepoint_end(store, done);
    if (!done)
        g_ptr_array_set_size(own->outcome->drafts, 0);
    return true;
}

bool list_runner_settle(Runner *runner, ListRunnerSettle *settle, GError **error)
{
    ListRunner *shared = runner_data(runner);
    bool begun = false;
    for (unsigned at = 0; at < shared->kept->len; at++) {
        ListRunnerPost *own = shared->kept->pdata[at];
        if (!own->settles || own->outcome->error)
            continue;
        if (!begun && !store_begin(shared->store, error))
            return false;
        begun = true;
        if (!settle_one(runner, own, settle, error)) {
            store_rollback(shared->store);
            return false;
        }
    }
    return !begun || store_commit(shared->store, error);
}

char *list_runner_effect(const Entry *entry)
{
    return name_effect(queue_name(entry_queue(entry)), entry_name(entry)->hash);
}

bool list_runner_find_effect(Runner *runner, Entry *entry, bool *before, int64_t *number, GError **error)
{
    ListRunner *own = runner_data(runner);
    g_autofree char *name = list_runner_effect(entry);
    return store_find_effect(own->store, name, before, number, error);
}

bool list_runner_record_effect(Runner *runner, Entry *entry, int64_t number, GError **error)
{
    ListRunner *own = runner_data(runner);
    g_autofree char *name = list_runner_effect(entry);
    return store_record_effect(own->store, name, number, error);
}

bool list_runner_record_outbox(Runner *runner, Entry *entry, GError **error)
{
    ListRunner *own = runner_data(runner);
    bool before;
    int64_t number;
    if (!meta_bool(entry_meta(entry), KEY_OUTBOX, false))
        return true;
    if (!store_begin(own->store, error))
        return false;
    if (list_runner_find_effect(runner, entry, &before, &number, error) &&
        (before || list_runner_record_effect(runner, entry, 0, error)))
        return store_commit(own->store, error);
    store_rollback(own->store);
    return false;
}

static Draft *draft_without_message(const char *queue, Entry *entry)
{
    json_t *meta = json_deep_copy(entry_meta(entry));
    json_object_del(meta, META_ORDINAL);
    json_object_del(meta, META_SHARD);
    json_object_del(meta, META_FAULT);
    json_object_del(meta, KEY_OUTBOX);
    return draft_new(queue, meta);
}

Draft *list_runner_draft_pieces(const char *queue, Entry *entry, const GPtrArray *pieces)
{
    Draft *draft = draft_without_message(queue, entry);
    for (guint at = 0; at < pieces->len; at++)
        draft_add_message(draft, pieces->pdata[at]);
    return draft;
}

Draft *list_runner_draft(const char *queue, Entry *entry, const Message *message)
{
    Draft *draft = draft_without_message(queue, entry);
    g_autoptr(GBytes) head = message_head(message), body = message_body(message);
    draft_add_message(draft, head);
    draft_add_message(draft, body);
    return draft;
}

Work *list_runner_work(ListRunner *own, Entry *entry)
{
    Actor actor = {.role = ACTOR_ADDRESS, .door = DOOR_MAIL, .from = entry_trace(entry),
                   .address = meta_string(entry_meta(entry), KEY_SENDER, "")};
    return work_new(own->store, &own->site, &actor);
}

static void take(void *data, Draft *draft)
{
    outcome_add(data, draft);
}

void list_runner_work_into(Work *work, Outcome *outcome)
{
    work_into(work, take, outcome);
}

void list_runner_log(Entry *entry, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    log_info("%s list=%s queue=%s %s", entry_trace(entry), entry_list(entry), queue_name(entry_queue(entry)), text);
}
