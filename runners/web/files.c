/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Files that are served as they are: the style sheet, the icon, and what robots may read. */
#include <string.h>

#include "runners/web/web.h"

static void answer_file(WebCall *call, const char *type, const char *tag, const char *content, size_t length)
{
    http_set_header(call->http, "Cache-Control", "public, max-age=3600");
    http_set_header(call->http, "X-Content-Type-Options", "nosniff");
    g_autoptr(GBytes) bytes = g_bytes_new(content, length);
    web_shared(call, type, tag, bytes);
}

static void get_file(WebCall *call)
{
    const ThemeFile *file = theme_file(call->web->theme, call->args[0]);
    if (!file) {
        web_missing(call, NULL);
        return;
    }
    size_t length;
    const char *content = g_bytes_get_data(file->content, &length);
    answer_file(call, file->type, file->tag, content, length);
}

static void get_robots(WebCall *call)
{
    static const char *const closed[] = {
        "/confirm/",        "/sign-in",         "/my", "/decide/", "/u/", "/search", "/archive/*/search",
        "/archive/*/*/raw", "/archive/*/*/mbox"};
    g_autoptr(GString) rules = g_string_new("User-agent: *\n");
    for (size_t i = 0; i < G_N_ELEMENTS(closed); i++)
        g_string_append_printf(rules, "Disallow: %s%s\n", call->web->base, closed[i]);
    answer_file(call, "text/plain; charset=utf-8", "\"3\"", rules->str, rules->len);
}

const WebRoute web_files[] = {
    {"GET", "/robots.txt", get_robots},
    {"GET", "/files/{}", get_file},
    {.verb = NULL},
};
