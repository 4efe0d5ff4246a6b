/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * Requests of any bytes into the whole REST interface, over a real database: each is answered once, with JSON that can
 * be read, and never with a fault of ours. "POST /3.1/lists?a=b", a line with the type of the body or empty, the body.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "switchboard/meta.h"
#include "t/fuzz/fuzz.h"
#include "t/runners/rest/restframe.h"

static void judge(const HttpCall *call)
{
    bool own = strstr(call->path, "listrunner") || strcmp(call->path, "/metrics") == 0; /* these ask the master */
    require(call->answers == 1 && call->status >= 200 && (call->status < 500 || own));
    require(!call->fields || g_utf8_validate(call->fields->str, -1, NULL));
    bool json = call->media && call->text->len > 0 && strstr(call->media, "json");
    /* Ids of version 3.0 are larger than jansson's integers. */
    g_autoptr(json_t) read =
        json ? json_loadb(call->text->str, call->text->len, JSON_DECODE_INT_AS_REAL, NULL) : NULL;
    require(read || !json);
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
    static bool started;
    if (!started) {
        rest_frame_open("attempts_per_minute = 1000000\n");
        atexit(rest_frame_close);
        started = true;
    }
    g_autofree char *first = take_line(&at, end), *type = take_line(&at, end);
    g_auto(GStrv) words = g_strsplit(first, " ", 2);
    const char *verb = words[0] && g_strv_contains(verbs, words[0]) ? words[0] : verbs[size % 7];
    g_auto(GStrv) target = g_strsplit(words[0] && words[1] ? words[1] : "/3.1/lists", "?", 2);
    HttpCall call = {.verb = verb, .path = target[0] ? target[0] : "/", .type = *type ? type : NULL, .body = at,
                     .query = target[0] ? target[1] : NULL, .length = (size_t)(end - at),
                     .credentials = "Basic YTpi" /* a:b */};
    rest_frame_handle(&call);
    judge(&call);
    http_call_clear(&call);
    return 0;
}
