/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* /listrunner/openapi: the description of this interface (OpenAPI 3.1), made from the tables of routes. */
#include <string.h>

#include "runners/rest/resources.h"

/* "lists/{list}/held/{id}": an object for each name in braces. */
static json_t *parameters_of(const char *path)
{
    json_t *parameters = json_array();
    for (const char *open = strchr(path, '{'); open; open = strchr(open + 1, '{')) {
        int length = (int)strcspn(open + 1, "*}");
        json_array_append_new(parameters, json_pack("{so ss sb s{ss}}", "name", json_sprintf("%.*s", length, open + 1),
                                                    "in", "path", "required", 1, "schema", "type", "string"));
    }
    return parameters;
}

/* "GET lists/{list}/held" as "get_lists_list_held": it must differ for each operation. */
static char *operation_id(const RestRoute *route)
{
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
    return g_string_free(g_steal_pointer(&id), FALSE);
}

static json_t *schema_ref(const char *name)
{
    return json_pack("{s{so}}", "schema", "$ref", json_sprintf("#/components/schemas/%s", name));
}

static json_t *operation_of(const RestRoute *route)
{
    g_autofree char *id = operation_id(route);
    g_autofree char *tag = g_strndup(route->path, strcspn(route->path, "/"));
    json_t *operation = json_pack(
        "{ss s[s] so s{s{ss s{so}} s{ss s{so}}}}", "operationId", id, "tags", tag, "parameters",
        parameters_of(route->path), "responses", "2XX", "description", "It was done.", "content", "application/json",
        schema_ref("Object"), "default", "description", "It was not: title and description say why.", "content",
        "application/json", schema_ref("Refusal"));
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

static json_t *paths(void)
{
    json_t *all = json_object();
    for (size_t table = 0; rest_tables[table]; table++)
        for (const RestRoute *route = rest_tables[table]; route->verb; route++) {
            g_autofree char *path = g_strconcat("/", route->path, NULL), *verb = g_ascii_strdown(route->verb, -1);
            json_t *item = json_object_get(all, path);
            if (!item) {
                item = json_object();
                json_object_set_new(all, path, item);
            }
            json_object_set_new(item, verb, operation_of(route));
        }
    return all;
}

static void get(Call *call)
{
    g_autofree char *server = g_strndup(call->root, strlen(call->root) - 1);
    json_t *parts = json_pack(
        "{s{s{ss s{s{ss} s{ss}}} s{ss sb} s{ss sb}} s{s{ss ss} s{ss ss}}}", "schemas", "Refusal", "type", "object",
        "properties", "title", "type", "string", "description", "type", "string", "Object", "type", "object",
        "additionalProperties", 1, "Parameters", "type", "object", "additionalProperties", 1, "securitySchemes",
        "password", "type", "http", "scheme", "basic", "token", "type", "http", "scheme", "bearer");
    json_t *object = json_pack(
        "{ss s{ss ss ss} s[{ss}] s[{s[]} {s[]}] so so}", "openapi", "3.1.0", "info", "title",
        "Listrunner, with the REST interface of GNU Mailman", "version", PACKAGE_VERSION, "description",
        "What is below /listrunner is Listrunner's own; all else is as in GNU Mailman 3.3.", "servers", "url", server,
        "security", "password", "token", "paths", paths(), "components", parts);
    g_autofree char *text = json_dumps(object, JSON_INDENT(1));
    json_decref(object);
    answer_text(call, "application/json", text);
}

static const RestField fields[] = {
    {"*", MAY_SITE, MAY_NOBODY},
    {0},
};

const RestRoute rest_openapi[] = {
    {"GET", "listrunner/openapi", OF_SITE, MAY_SITE, fields, get, "This description"},
    {0},
};
