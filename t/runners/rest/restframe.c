/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "t/runners/rest/restframe.h"

#include <string.h>

#include <glib/gstdio.h>

#include "lists/people/token.h"

static Http http;
static char *directory;

/* ---- in place of runners/server/http.c ---- */

const Config *http_config(const Http *own)
{
    return own->config;
}

void http_set_data(Http *own, void *data)
{
    own->data = data;
}

void *http_data(const Http *own)
{
    return own->data;
}

const char *http_verb(const HttpCall *call)
{
    return call->verb;
}

const char *http_path(const HttpCall *call)
{
    return call->path;
}

const char *http_query(const HttpCall *call)
{
    return call->query ? call->query : "";
}

const char *http_header(const HttpCall *call, const char *name)
{
    return strcmp(name, "Authorization") == 0   ? call->credentials
           : strcmp(name, "Content-Type") == 0  ? call->type
           : strcmp(name, "Host") == 0          ? call->host
           : strcmp(name, "If-None-Match") == 0 ? call->tag
                                                : NULL;
}

const char *http_body(const HttpCall *call, size_t *length)
{
    *length = call->length;
    return call->length > 0 ? call->body : "";
}

const char *http_peer(const HttpCall *call)
{
    return call->peer ? call->peer : "127.0.0.1";
}

void *http_sender(const HttpCall *call)
{
    return call->sender;
}

void http_set_header(HttpCall *call, const char *name, const char *value)
{
    if (!call->fields)
        call->fields = g_string_new(NULL);
    g_string_append_printf(call->fields, "%s: %s\n", name, value);
}

const char *http_reason(int status)
{
    return "Reason";
}

void http_answer(HttpCall *call, int status, const char *type, const char *body, size_t length)
{
    call->answers++;
    call->status = status;
    g_free(call->media);
    call->media = g_strdup(type);
    if (!call->text)
        call->text = g_string_new(NULL);
    if (length > 0)
        g_string_append_len(call->text, body, (gssize)length);
}

/* A long answer, which rest_frame_handle() fetches to its end. */
struct HttpStream {
    HttpCall *call;
    const HttpStreamSpec *spec;
    void *data;
};
static HttpStream flow; /* without call: there is none */

HttpStream *http_stream(HttpCall *call, const char *type, const HttpStreamSpec *spec, void *data)
{
    g_assert_true(spec->finite); /* nobody notes events here */
    http_answer(call, 200, type, "", 0);
    flow = (HttpStream){call, spec, data};
    return &flow;
}

void http_stream_send(HttpStream *stream, const char *octets, size_t length)
{
    g_string_append_len(stream->call->text, octets, (gssize)length);
}

void http_stream_finish(HttpStream *stream)
{
    stream->spec->closed(stream);
    stream->call = NULL;
}

void http_stream_end(HttpStream *stream)
{
    http_stream_finish(stream);
}

bool http_stream_busy(const HttpStream *stream)
{
    return true;
}

void *http_stream_data(const HttpStream *stream)
{
    return stream->data;
}

struct event_base *http_loop(const Http *own)
{
    return NULL;
}

/* ---- requests and answers ---- */

void http_call_clear(HttpCall *call)
{
    g_clear_pointer(&call->media, g_free);
    if (call->text)
        g_string_free(g_steal_pointer(&call->text), TRUE);
    if (call->fields)
        g_string_free(g_steal_pointer(&call->fields), TRUE);
}

char *http_call_field(const HttpCall *call, const char *name)
{
    g_auto(GStrv) lines = g_strsplit(call->fields ? call->fields->str : "", "\n", -1);
    const size_t length = strlen(name);
    for (char **line = lines; *line; line++)
        if (g_str_has_prefix(*line, name) && g_str_has_prefix(*line + length, ": "))
            return g_strdup(*line + length + 2);
    return NULL;
}

const char *http_call_word(const HttpCall *call, const char *name, json_t **object)
{
    *object = call->text ? json_loadb(call->text->str, call->text->len, JSON_DECODE_INT_AS_REAL, NULL)
                         : NULL;
    return json_string_value(json_object_get(*object, name));
}

static const RestField open_fields[] = {{"*", MAY_ANYBODY, MAY_ANYBODY}, {0}};
const RestRoute open_route = {.verb = "GET", .path = "open", .of = OF_SITE, .who = MAY_ANYBODY, .fields = open_fields};

void call_clear(Call *call)
{
    if (call->form.names)
        form_clear(&call->form);
    for (unsigned at = 0; at < REST_ARGS; at++)
        g_clear_pointer(&call->args[at], g_free);
}

/* ---- the runner ---- */

void rest_frame_open(const char *lines)
{
    GError *error = NULL;
    directory = g_dir_make_tmp("rest-XXXXXX", &error);
    g_autofree char *path = g_build_filename(directory, "conf", NULL);
    g_autofree char *passwords = g_build_filename(directory, "passwd", NULL);
    g_autofree char *spool = g_build_filename(directory, "spool", NULL);
    g_autofree char *where = g_build_filename(directory, "db", NULL);
    g_autofree char *text = g_strdup_printf("[site]\nhostname = example.com\n[spool]\ndirectory = %s\n"
                                            "[store]\npath = %s\n[master]\nruntime_directory = %s\n[rest]\n"
                                            "password_file = %s\n%s",
                                            spool, where, directory, passwords, lines);
    g_assert_true(g_mkdir(spool, 0700) == 0 && g_file_set_contents(path, text, -1, NULL) &&
                  g_file_set_contents(passwords, "a:b\n", -1, NULL) && g_chmod(passwords, 0600) == 0);
    http.config = config_load(path, true, &error);
    g_assert_no_error(error);
    Store *store = store_open("sqlite", where, true, &error);
    g_assert_no_error(error);
    store_free(store);
    http.spec = &rest_spec;
    http.spec->start(&http, &error);
    g_assert_no_error(error);
}

void rest_frame_handle(HttpCall *call)
{
    call->sender = http.spec->judge(&http, call->credentials, http_peer(call));
    http.spec->handle(&http, call);
    http.spec->sender_free(call->sender);
    while (flow.call)
        flow.spec->room(&flow);
}

int rest_frame_ask(HttpCall *call, json_t **answer)
{
    rest_frame_handle(call);
    g_assert_cmpuint(call->answers, ==, 1);
    if (answer)
        *answer = call->text->len > 0 ? json_loadb(call->text->str, call->text->len, 0, NULL) : NULL;
    http_call_clear(call);
    return call->status;
}

char *rest_frame_token(Store *store, const Token *like)
{
    GError *error = NULL;
    char id[TOKEN_ID_SIZE];
    const WorkSite site = {.site_owner = "root@example.com", .hostname = "example.com"};
    const Actor actor = {.role = ACTOR_OPERATOR, .door = DOOR_SHELL, .from = "test"};
    g_autoptr(Work) work = work_new(store, &site, &actor);
    g_autofree char *text = token_create(work, like, id, &error);
    g_assert_no_error(error);
    return g_strconcat("Bearer ", text, NULL);
}

Store *rest_frame_store(void)
{
    GError *error = NULL;
    g_autofree char *where = g_build_filename(directory, "db", NULL);
    Store *store = store_open("sqlite", where, false, &error);
    g_assert_no_error(error);
    return store;
}

void rest_frame_hide(bool hidden)
{
    g_autofree char *where = g_build_filename(directory, "db", NULL), *away = g_strconcat(where, "-away", NULL);
    g_assert_cmpint(g_rename(hidden ? where : away, hidden ? away : where), ==, 0);
}

void rest_frame_close(void)
{
    const char *const words[] = {"rm", "-rf", directory, NULL};
    http.spec->stop(&http);
    config_free(http.config);
    g_spawn_sync(NULL, (char **)words, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL, NULL);
    g_free(directory);
}
