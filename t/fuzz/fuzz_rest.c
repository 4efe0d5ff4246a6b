/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * Requests of any octets into the whole REST interface, over a real database: each is answered once, with JSON that can
 * be read, and never with a fault of ours. "POST /3.1/lists?a=b", a line with the type of the body or empty, the body.
 */
#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "runners/http.h"
#include "store/store.h"
#include "switchboard/meta.h"
#include "t/fuzz/fuzz.h"

int rest_main(int argc, char **argv);

struct Http {
    const HttpSpec *spec;
    Config *config;
    void *data;
};

struct HttpCall {
    char *verb, *path, *query, *type;
    const char *body;
    size_t length;
    unsigned answers;
};

static Http http;
static char *directory;

/* ---- in place of runners/http.c ---- */

int http_main(const HttpSpec *spec, int argc, char **argv)
{
    http.spec = spec;
    return 0;
}

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
    return call->query;
}

const char *http_header(const HttpCall *call, const char *name)
{
    if (strcmp(name, "Authorization") == 0)
        return "Basic YTpi"; /* a:b */
    return strcmp(name, "Content-Type") == 0 && *call->type ? call->type : NULL;
}

const char *http_body(const HttpCall *call, size_t *length)
{
    *length = call->length;
    return call->body;
}

const char *http_peer(const HttpCall *call)
{
    return "127.0.0.1";
}

void http_set_header(HttpCall *call, const char *name, const char *value)
{
    require(g_utf8_validate(value, -1, NULL));
}

const char *http_reason(int status)
{
    return "Reason";
}

void http_answer(HttpCall *call, int status, const char *type, const char *body, size_t length)
{
    bool own = strstr(call->path, "listrunner") || strcmp(call->path, "/metrics") == 0; /* these ask the master */
    require(call->answers++ == 0 && status >= 200 && (status < 500 || own));
    bool json = type && length > 0 && strstr(type, "json");
    /* Ids of version 3.0 are larger than jansson's integers. */
    g_autoptr(json_t) read = json ? json_loadb(body, length, JSON_DECODE_INT_AS_REAL, NULL) : NULL;
    require(read || !json);
}

HttpStream *http_stream(HttpCall *call, const char *type, const HttpStreamSpec *spec, void *data)
{
    abort(); /* nobody notes events here */
}

void http_stream_send(HttpStream *stream, const char *octets, size_t length)
{
}

void http_stream_end(HttpStream *stream)
{
}

bool http_stream_busy(const HttpStream *stream)
{
    return true;
}

void *http_stream_data(const HttpStream *stream)
{
    return NULL;
}

struct event_base *http_loop(const Http *own)
{
    return NULL;
}

/* ---- the target ---- */

static void leave(void)
{
    const char *const words[] = {"rm", "-rf", directory, NULL};
    http.spec->stop(&http);
    g_spawn_sync(NULL, (char **)words, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL, NULL);
}

static void start(void)
{
    GError *error = NULL;
    directory = g_dir_make_tmp("fuzz-rest-XXXXXX", &error);
    g_autofree char *path = g_build_filename(directory, "conf", NULL);
    g_autofree char *passwords = g_build_filename(directory, "passwd", NULL);
    g_autofree char *spool = g_build_filename(directory, "spool", NULL);
    g_autofree char *where = g_build_filename(directory, "db", NULL);
    g_autofree char *text = g_strdup_printf("[site]\nhostname = example.com\n[spool]\ndirectory = %s\n"
                                            "[store]\npath = %s\n[master]\nruntime_directory = %s\n[rest]\n"
                                            "password_file = %s\nattempts_per_minute = 1000000\n",
                                            spool, where, directory, passwords);
    require(g_mkdir(spool, 0700) == 0 && g_file_set_contents(path, text, -1, NULL) &&
            g_file_set_contents(passwords, "a:b\n", -1, NULL) && g_chmod(passwords, 0600) == 0);
    http.config = config_load(path, true, &error);
    g_assert_no_error(error);
    Store *store = store_open("sqlite", where, true, &error);
    g_assert_no_error(error);
    store_free(store);
    rest_main(0, NULL);
    http.spec->start(&http, &error);
    g_assert_no_error(error);
    atexit(leave);
}

/* Up to the line feed, which is passed over; g_free(). */
static char *take_line(const char **at, const char *end)
{
    const char *feed = memchr(*at, '\n', (size_t)(end - *at));
    char *line = g_strndup(*at, (gsize)((feed ? feed : end) - *at));
    *at = feed ? feed + 1 : end;
    g_strchomp(line);
    return line;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const verbs[] = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", NULL};
    const char *at = (const char *)data, *end = at + size;
    if (!http.spec)
        start();
    g_autofree char *first = take_line(&at, end), *type = take_line(&at, end);
    g_auto(GStrv) words = g_strsplit(first, " ", 2);
    const char *verb = words[0] && g_strv_contains(verbs, words[0]) ? words[0] : verbs[size % 7];
    g_auto(GStrv) target = g_strsplit(words[0] && words[1] ? words[1] : "/3.1/lists", "?", 2);
    HttpCall call = {.verb = (char *)verb, .path = target[0] ? target[0] : (char *)"/", .type = type, .body = at,
                     .query = target[0] && target[1] ? target[1] : (char *)"", .length = (size_t)(end - at)};
    http.spec->handle(&http, &call);
    require(call.answers == 1);
    return 0;
}
