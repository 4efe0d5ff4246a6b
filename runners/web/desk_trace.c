/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* This page shows what became of a post: each recipient with the attempts to reach him, of one list, or for operators
 * of all. */
#include <string.h>

#include "base/fail.h"
#include "base/trail/trail.h"
#include "lists/posts/post_trace.h"
#include "runners/web/desk.h"
#include "runners/web/waiting.h"

static const char *text_of(const json_t *row, const char *name)
{
    const char *text = json_string_value(json_object_get(row, name));
    return text ? text : "";
}

/* The object of the array whose "key" this is, made where there is none. */
static json_t *object_of(json_t *array, const char *key)
{
    size_t at;
    json_t *object;
    json_array_foreach(array, at, object)
        if (strcmp(text_of(object, "key"), key) == 0)
            return object;
    object = json_object();
    g_autofree char *valid = g_utf8_make_valid(key, -1);
    json_object_set_new(object, "key", json_string(valid));
    json_array_append_new(array, object);
    return object;
}

static json_t *array_of(json_t *object, const char *name)
{
    if (!json_object_get(object, name))
        json_object_set_new(object, name, json_array());
    return json_object_get(object, name);
}

/* Add a row to its mail: to a recipient's attempts, or to what was done with the mail. */
static void add_row(json_t *mails, const json_t *row)
{
    static const char *const lines[] = {"time", "program", "host", "dsn"};
    const char *email = text_of(row, "email"), *status = text_of(row, "status");
    json_t *mail = object_of(mails, text_of(row, "trace")), *view = json_object();
    for (size_t i = 0; i < G_N_ELEMENTS(lines); i++)
        desk_set_line(view, lines[i], text_of(row, lines[i]));
    desk_set_line(view, "text", text_of(row, *status ? "reply" : "text"));
    desk_set_line(mail, "of_list", text_of(row, "list"));
    if (!*email) {
        json_array_append_new(array_of(mail, "steps"), view);
        return;
    }
    if (*status)
        json_object_set_new(view,
                            strcmp(status, "sent") == 0      ? "is_sent"
                            : strcmp(status, "bounced") == 0 ? "is_bounced"
                                                             : "is_deferred",
                            json_true());
    json_t *member = object_of(array_of(mail, "members"), email);
    g_autofree char *uri = g_uri_escape_string(email, NULL, false);
    json_object_set_new(member, "uri", json_string(uri));
    desk_set_line(member, "address", email);
    json_array_append_new(array_of(member, "attempts"), view);
}

/* The key of what was typed; for a page of a list its number alone will do. g_free() */
static char *key_of(const Desk *desk, const char *typed, GError **error)
{
    const char *number = typed + (*typed == '#');
    if (desk->list && *number && strlen(number) < TRACE_DIGITS && strspn(number, "0123456789") == strlen(number))
        return g_strdup_printf("%s#%s", desk->list->list_id, number);
    return post_trace_find_key(desk_store(desk), typed, error);
}

static void set_uri(json_t *view, const char *name, const char *text)
{
    g_autofree char *uri = g_uri_escape_string(text, NULL, false);
    json_object_set_new(view, name, json_string(uri));
}

/* The hosts that may know more. */
static void set_hosts(json_t *view, const json_t *names)
{
    size_t at;
    const json_t *name;
    json_t *hosts = json_array();
    json_array_foreach(names, at, name) {
        json_t *host = json_object();
        desk_set_line(host, "host", json_string_value(name));
        json_array_append_new(hosts, host);
    }
    json_object_set_new(view, "hosts", hosts);
    json_object_set_new(view, "not_asked", json_true());
}

/* Set what was found. False: *error is set, or the place is none. */
static bool set_found(const Desk *desk, PostTrace *trace, const char *place, json_t *view, GError **error)
{
    int64_t since;
    size_t at;
    json_t *row;
    g_autoptr(json_t) rows = json_array();
    if (!post_trace_begin(trace, place) || !post_trace_read(trace, rows, error) ||
        !trail_since(trace->directory, &since, error))
        return false;
    g_autoptr(json_t) not_asked = post_trace_not_asked(desk_store(desk), desk->call->web->config, error);
    if (!not_asked)
        return false;
    if (json_array_size(not_asked) > 0)
        set_hosts(view, not_asked);
    json_t *mails = array_of(view, "mails");
    json_array_foreach(rows, at, row)
        add_row(mails, row);
    if (trace->next)
        set_uri(view, "next", trace->next);
    if (since)
        web_set_time(view, "since", since);
    json_object_set_new(view, "nothing", json_boolean(json_array_size(rows) == 0));
    json_object_set_new(view, "damaged", json_boolean(trace->damaged > 0));
    json_object_set_new(view, "more_mails", json_boolean(trace->more_mails));
    return true;
}

static void show(Desk *desk, json_t *view)
{
    GError *error = NULL;
    const WebCall *call = desk->call;
    g_autofree char *typed = web_query(call, "of"), *address = web_query(call, "address");
    g_autofree char *place = web_query(call, "from");
    g_strstrip(typed ? typed : (typed = g_strdup("")));
    g_strstrip(address ? address : (address = g_strdup("")));
    json_object_set_new(view, "typed", json_string(typed));
    json_object_set_new(view, "typed_address", json_string(address));
    set_uri(view, "typed_uri", typed);
    set_uri(view, "address_uri", address);
    g_autofree char *key = *typed ? key_of(desk, typed, &error) : NULL;
    g_auto(PostTrace) trace = {.directory = config_string(call->web->config, "trail", "directory"),
                               .key = key,
                               .list = desk->list,
                               .address = *address ? address : NULL,
                               .most = DESK_PAGE};
    bool unknown = g_error_matches(error, FAIL, FAIL_MISSING) || g_error_matches(error, FAIL, FAIL_NEVER);
    if (unknown)
        g_clear_error(&error);
    json_object_set_new(view, "nothing", json_boolean(unknown));
    if (key)
        set_found(desk, &trace, place, view, &error);
    if (!error) {
        desk_page(desk, 200, "desk_trace", view);
        return;
    }
    json_decref(view);
    web_fail(desk->call, error);
}

static void get_of_list(WebCall *call)
{
    g_auto(Desk) desk = {0};
    if (!desk_open(&desk, call, MAY_LIST))
        return;
    g_autofree char *path = g_uri_escape_string(desk.list->list_id, NULL, false);
    show(&desk, json_pack("{so}", "action", json_sprintf("%s/desk/list/%s/trace", call->web->base, path)));
}

static void get_of_site(WebCall *call)
{
    g_auto(Desk) desk = {0};
    if (desk_open_site(&desk, call))
        show(&desk, json_pack("{so sb}", "action", json_sprintf("%s/desk/site/trace", call->web->base), "all", true));
}

const WebRoute web_desk_trace[] = {
    {"GET", "/desk/list/{}/trace", get_of_list},
    {"GET", "/desk/site/trace", get_of_site},
    {.verb = NULL},
};
