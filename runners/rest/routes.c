/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Which function answers which call. */
#include <string.h>

#include "runners/rest/resources.h"
#include "runners/rest/rest.h"
#include "runners/server/http_path.h"

const RestRoute *const rest_tables[] = {
    rest_system,    rest_configuration, rest_domains,        rest_lists,       rest_config,
    rest_members,   rest_users,         rest_addresses,      rest_preferences, rest_held,
    rest_requests,  rest_bans,          rest_header_matches, rest_archivers,   rest_queues,
    rest_templates, rest_digests,       rest_others,         rest_operations,  rest_scheduled,
    rest_hosts,     rest_events,        rest_trace,          rest_sources,     rest_openapi,
    NULL,
};

/* Letters, digits and -._~ mean the same with a percent sign and without (RFC 3986, 6.2.2.2): here they have none;
 * g_free(). */
static char *plain(const char *path)
{
    GString *text = g_string_new(NULL);
    for (; *path; path++) {
        bool encoded = path[0] == '%' && g_ascii_isxdigit(path[1]) && g_ascii_isxdigit(path[2]);
        char byte = encoded ? (char)(g_ascii_xdigit_value(path[1]) << 4 | g_ascii_xdigit_value(path[2])) : 0;
        if (byte && (g_ascii_isalnum(byte) || strchr("-._~", byte))) {
            g_string_append_c(text, byte);
            path += 2;
        } else {
            g_string_append_c(text, *path);
        }
    }
    return g_string_free(text, FALSE);
}

/* "DELETE, GET"; g_free(). */
static char *listed(GPtrArray *verbs)
{
    static const char *const order[] = {"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"};
    g_autoptr(GString) text = g_string_new(NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(order); i++)
        if (g_ptr_array_find_with_equal_func(verbs, order[i], g_str_equal, NULL))
            g_string_append_printf(text, "%s%s", text->len ? ", " : "", order[i]);
    return g_string_free(g_steal_pointer(&text), FALSE);
}

/* Of several paths that fit, the one with the fewest braces counts: lists/find before lists/{list}. */
const RestRoute *rest_route(Call *call, const char *verb, const char *path, char **allow)
{
    g_autoptr(GPtrArray) verbs = g_ptr_array_new();
    g_autofree char *wanted = plain(path);
    const RestRoute *found = NULL;
    unsigned best = REST_ARGS + 1;
    *allow = NULL;
    for (size_t table = 0; rest_tables[table]; table++)
        for (const RestRoute *route = rest_tables[table]; route->verb; route++) {
            char *args[REST_ARGS] = {NULL};
            unsigned wild = http_path_braces(route->path);
            if (wild > best || !http_path_fits(route->path, wanted, args))
                continue;
            if (wild < best) {
                best = wild;
                found = NULL;
                g_ptr_array_set_size(verbs, 0);
            }
            g_ptr_array_add(verbs, (char *)route->verb);
            if (!found && strcmp(route->verb, verb) == 0) {
                found = route;
                http_path_clear(call->args, REST_ARGS);
                memcpy(call->args, args, sizeof args);
            } else {
                http_path_clear(args, REST_ARGS);
            }
        }
    if (verbs->len > 0) {
        g_ptr_array_add(verbs, (char *)"OPTIONS");
        if (g_ptr_array_find_with_equal_func(verbs, "GET", g_str_equal, NULL))
            g_ptr_array_add(verbs, (char *)"HEAD");
        *allow = listed(verbs);
    }
    return found;
}
