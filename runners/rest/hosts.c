/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* /listrunner/hosts: the hosts that share the database, as the verbs of `listrunner host` show and change them. */
#include "lists/hosts/host_state.h"
#include "runners/rest/resources.h"
#include "store/hosts/lost_spool.h"

static json_t *time_or_null(int64_t time)
{
    return time > 0 ? json_time(time) : json_null();
}

static json_t *host_json(const Call *call, const Host *host)
{
    g_autofree char *name = segment(host->name);
    json_t *object = host_state(host, time_or_null);
    json_object_set_new(object, "self_link", json_link(call, "listrunner/hosts/%s", name));
    return object;
}

json_t *hosts_json(const Call *call, Store *store, GError **error)
{
    g_autoptr(GPtrArray) hosts = host_all(store, error);
    json_t *entries = hosts ? json_array() : NULL;
    for (guint at = 0; hosts && at < hosts->len; at++)
        json_array_append_new(entries, host_json(call, hosts->pdata[at]));
    return entries;
}

static void get_all(Call *call)
{
    g_auto(Page) page = {0};
    GError *error = NULL;
    Store *store = page_begin(call, "", "", &page) ? rest_store(call) : NULL;
    if (!store)
        return;
    g_autoptr(GPtrArray) hosts = host_all(store, &error);
    for (guint at = 0; hosts && at < hosts->len; at++)
        if (page_takes(&page))
            page_add(&page, host_json(call, hosts->pdata[at]));
    answer_page(call, NULL, &page, &error);
}

/* The host that the path names, in any case; NULL: 404 or 503 was answered. */
static Host *find_host(Call *call, Store *store)
{
    GError *error = NULL;
    g_autoptr(GPtrArray) hosts = store ? host_all(store, &error) : NULL;
    for (guint at = 0; hosts && at < hosts->len; at++)
        if (g_ascii_strcasecmp(((const Host *)hosts->pdata[at])->name, call->args[0]) == 0)
            return g_ptr_array_steal_index(hosts, at);
    if (hosts)
        answer_refusal(call, 404, "there is no host %s", call->args[0]);
    else if (store)
        rest_fail(call, error);
    return NULL;
}

static void get(Call *call)
{
    Store *store = form_expect(call, "", "") ? rest_store(call) : NULL;
    g_autoptr(Host) host = find_host(call, store);
    if (host)
        answer_json(call, 200, host_json(call, host));
}

static void answer_done(Call *call, bool done, GError **error)
{
    if (done)
        answer_empty(call, 204);
    else
        rest_fail(call, *error);
}

static void change(Call *call)
{
    GError *error = NULL;
    bool draining = false;
    Store *store = form_expect(call, "draining", "") && form_bool(call, "draining", &draining) ? rest_store(call)
                                                                                               : NULL;
    g_autoptr(Host) host = find_host(call, store);
    if (host)
        answer_done(call, host_set_draining(store, host->name, draining, &error), &error);
}

static json_t *lost_json(const Call *call, const LostSpool *lost)
{
    json_t *things = json_array();
    g_autofree char *name = segment(call->args[0]);
    for (guint at = 0; at < lost->things->len; at++) {
        const LostThing *thing = lost->things->pdata[at];
        json_array_append_new(things,
                              json_pack("{ss so so so}", "kind", thing->kind, "list_id", json_words(thing->list_id),
                                        "name", json_words(thing->name), "time", json_time(thing->time)));
    }
    return json_pack("{so so so so}", "things", things, "seen_at", time_or_null(lost->seen_at), "since",
                     time_or_null(lost->since), "self_link", json_link(call, "listrunner/hosts/%s/lost", name));
}

static void get_lost(Call *call)
{
    GError *error = NULL;
    g_auto(LostSpool) lost = {0};
    Store *store = form_expect(call, "", "") ? rest_store(call) : NULL;
    g_autoptr(Host) host = find_host(call, store);
    if (host && lost_spool_remove(store, host->name, true, &lost, &error))
        answer_json(call, 200, lost_json(call, &lost));
    else if (host)
        rest_fail(call, error);
}

static void remove_host(Call *call)
{
    GError *error = NULL;
    bool lost_too = false;
    g_auto(LostSpool) lost = {0};
    Store *store = form_expect(call, "", "lost") && form_bool(call, "lost", &lost_too) ? rest_store(call) : NULL;
    g_autoptr(Host) host = find_host(call, store);
    if (host)
        answer_done(call,
                    lost_too ? lost_spool_remove(store, host->name, false, &lost, &error)
                             : host_remove(store, host->name, &error),
                    &error);
}

static const RestField fields[] = {
    {"*", MAY_SITE, MAY_SITE},
    {0},
};

const RestRoute rest_hosts[] = {
    {"GET", "listrunner/hosts", OF_SITE, MAY_SITE, fields, get_all, "The hosts that share the database"},
    {"GET", "listrunner/hosts/{name}", OF_SITE, MAY_SITE, fields, get, "One of them, with what it said of itself"},
    {"PATCH", "listrunner/hosts/{name}", OF_SITE, MAY_SITE, fields, change,
     "Let it take no new mail (draining), or take it again"},
    {"DELETE", "listrunner/hosts/{name}", OF_SITE, MAY_SITE, fields, remove_host,
     "Forget a host that was stopped; with lost, one whose spool is lost"},
    {"GET", "listrunner/hosts/{name}/lost", OF_SITE, MAY_SITE, fields, get_lost,
     "What is lost with the spool of a dead host"},
    {0},
};
