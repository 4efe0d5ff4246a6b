/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Which function answers which call; and /listrunner/openapi, the description of this interface (OpenAPI 3.1), which is
 * made from the tables of routes. */
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

/* Of several paths that fit, the one with the fewest braces counts: lists/find before lists/{list}. */
const RestRoute *rest_route(Call *call, const char *verb, const char *path, char **allow)
{
    static const char *const order[] = {"DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"};
    g_autoptr(GPtrArray) verbs = g_ptr_array_new();
    g_autofree char *wanted = plain(path);
    const RestRoute *found = NULL;
    unsigned best = REST_ARGS + 1;
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
    g_autoptr(GString) listed = g_string_new(NULL); /* "DELETE, GET" */
    if (verbs->len > 0)
        g_ptr_array_add(verbs, (char *)"OPTIONS");
    if (g_ptr_array_find_with_equal_func(verbs, "GET", g_str_equal, NULL))
        g_ptr_array_add(verbs, (char *)"HEAD");
    for (size_t i = 0; i < G_N_ELEMENTS(order); i++)
        if (g_ptr_array_find_with_equal_func(verbs, order[i], g_str_equal, NULL))
            g_string_append_printf(listed, "%s%s", listed->len ? ", " : "", order[i]);
    *allow = listed->len > 0 ? g_strdup(listed->str) : NULL;
    return found;
}

static json_t *schema_ref(const char *name)
{
    return json_pack("{s{so}}", "schema", "$ref", json_sprintf("#/components/schemas/%s", name));
}

static json_t *operation_of(const RestRoute *route)
{
    /* "GET lists/{list}/held" is "get_lists_by_list_held": it must differ for each operation. */
    g_autofree char *verb = g_ascii_strdown(route->verb, -1);
    g_autoptr(GString) id = g_string_new(verb);
    g_string_append_c(id, '_');
    for (const char *at = route->path; *at; at++)
        if (g_ascii_isalnum(*at))
            g_string_append_c(id, *at);
        else if (*at == '{')
            g_string_append(id, "by_");
        else if (*at != '}' && *at != '*')
            g_string_append_c(id, '_');
    json_t *parameters = json_array(); /* "lists/{list}/held/{id}": an object for each name in braces */
    for (const char *open = strchr(route->path, '{'); open; open = strchr(open + 1, '{')) {
        int length = (int)strcspn(open + 1, "*}");
        json_array_append_new(parameters, json_pack("{so ss sb s{ss}}", "name", json_sprintf("%.*s", length, open + 1),
                                                    "in", "path", "required", 1, "schema", "type", "string"));
    }
    g_autofree char *tag = g_strndup(route->path, strcspn(route->path, "/"));
    json_t *operation = json_pack("{ss s[s] so s{s{ss s{so}} s{ss s{so}}}}", "operationId", id->str, "tags", tag,
                                  "parameters", parameters, "responses", "2XX", "description", "It was done.",
                                  "content", "application/json", schema_ref("Object"), "default", "description",
                                  "It was not: title and description say why.", "content", "application/json",
                                  schema_ref("Refusal"));
    if (route->about)
        json_object_set_new(operation, "summary", json_string(route->about));
    if (strcmp(route->verb, "GET") != 0 && strcmp(route->verb, "DELETE") != 0)
        /* Parameters are a form or an object; which there are is in the manual of Mailman's interface. */
        json_object_set_new(operation, "requestBody",
                            json_pack("{sb s{so so}}", "required", strcmp(route->verb, "PUT") == 0, "content",
                                      "application/x-www-form-urlencoded", schema_ref("Parameters"), "application/json",
                                      schema_ref("Parameters")));
    return operation;
}

static void get_openapi(Call *call)
{
    json_t *paths = json_object();
    for (size_t table = 0; rest_tables[table]; table++)
        for (const RestRoute *route = rest_tables[table]; route->verb; route++) {
            g_autofree char *path = g_strconcat("/", route->path, NULL), *verb = g_ascii_strdown(route->verb, -1);
            json_t *item = json_object_get(paths, path);
            if (!item) {
                item = json_object();
                json_object_set_new(paths, path, item);
            }
            json_object_set_new(item, verb, operation_of(route));
        }
    g_autofree char *server = g_strndup(call->root, strlen(call->root) - 1);
    json_t *parts = json_pack("{s{s{ss s{s{ss} s{ss}}} s{ss sb} s{ss sb}} s{s{ss ss} s{ss ss}}}", "schemas", "Refusal",
                              "type", "object", "properties", "title", "type", "string", "description", "type",
                              "string", "Object", "type", "object", "additionalProperties", 1, "Parameters", "type",
                              "object", "additionalProperties", 1, "securitySchemes", "password", "type", "http",
                              "scheme", "basic", "token", "type", "http", "scheme", "bearer");
    json_t *object = json_pack(
        "{ss s{ss ss ss} s[{ss}] s[{s[]} {s[]}] so so}", "openapi", "3.1.0", "info", "title",
        "Listrunner, with the REST interface of GNU Mailman", "version", PACKAGE_VERSION, "description",
        "What is below /listrunner is Listrunner's own; all else is as in GNU Mailman 3.3.", "servers", "url", server,
        "security", "password", "token", "paths", paths, "components", parts);
    g_autofree char *text = json_dumps(object, JSON_INDENT(1));
    json_decref(object);
    answer_text(call, "application/json", text);
}

static const RestField openapi_fields[] = {
    {"*", MAY_SITE, MAY_NOBODY},
    {0},
};

const RestRoute rest_openapi[] = {
    {"GET", "listrunner/openapi", OF_HOST, MAY_SITE, openapi_fields, get_openapi, "This description"},
    {0},
};
