/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Out: doc/export.md. */
#include "lists/moving/leaving.h"

#include <jansson.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "store/hosts/host.h"
#include "store/lists/list.h"
#include "store/lists/list_setting.h"
#include "store/moving/carry.h"

typedef struct Leaving {
    Store *store;
    FILE *to;
    bool no_secrets;
    const char *list_id; /* NULL: of the site */
    uint64_t lines;
} Leaving;

/* line is taken. */
static bool put(Leaving *out, json_t *line, GError **error)
{
    bool done = json_dumpf(line, out->to, JSON_COMPACT) == 0 && fputc('\n', out->to) != EOF;
    json_decref(line);
    out->lines++;
    return done || fail_errno(error, FAIL_LATER, "write");
}

static json_t *text_json(const void *bytes, size_t length)
{
    g_autofree char *valid = g_utf8_make_valid(bytes, (gssize)length);
    return json_string(valid);
}

static json_t *value_json(const CarryField *field, const Value *value)
{
    char id[CARRY_ID_SIZE];
    switch (field->type) {
    case CARRY_INTEGER:
        return json_integer(value->integer);
    case CARRY_BOOL:
        return json_boolean(value->integer != 0);
    case CARRY_CHOICE: {
        g_auto(GStrv) words = g_strsplit(field->words, "|", -1);
        bool known = value->integer >= 0 && value->integer < (int64_t)g_strv_length(words);
        return known ? json_string(words[value->integer]) : json_integer(value->integer);
    }
    case CARRY_ID:
        carry_id(value->integer, id);
        return json_string(id);
    case CARRY_BYTES: {
        g_autofree char *coded = g_base64_encode(value->data, value->length);
        return json_string(coded);
    }
    default:
        return text_json(value->data, value->length);
    }
}

static json_t *line_new(const char *kind, const char *list_id)
{
    json_t *line = json_pack("{s:s}", "row", kind);
    if (list_id)
        json_object_set_new(line, "list", json_string(list_id));
    return line;
}

static bool put_row(const CarryKind *kind, const Value *values, void *data, GError **error)
{
    Leaving *out = data;
    json_t *line = line_new(kind->name, kind->of_list ? out->list_id : NULL);
    for (const CarryField *field = kind->fields; field->name; field++, values++)
        if (!values->null && !(out->no_secrets && field->secret))
            json_object_set_new(line, field->name, value_json(field, values));
    return put(out, line, error);
}

/* Is a row of this kind nothing without its secret? */
static bool is_secret(const CarryKind *kind)
{
    bool secret = false;
    for (const CarryField *field = kind->fields; field->name; field++)
        secret |= field->secret && !field->may;
    return secret;
}

/* The kinds of the site, or those of out->list_id. */
static bool put_kinds(Leaving *out, bool of_list, GError **error)
{
    for (const CarryKind *kind = carry_kinds; kind->name; kind++)
        if (kind->of_list == of_list && !(out->no_secrets && is_secret(kind)) &&
            !carry_read(out->store, kind, out->list_id, put_row, out, error))
            return false;
    return true;
}

static bool put_list_line(Leaving *out, GError **error)
{
    int64_t held_last;
    char *came_from = NULL;
    g_autofree char *hash = NULL;
    g_autoptr(List) list = list_by_id(out->store, out->list_id, error);
    if (!list || !carry_read_list(out->store, out->list_id, &held_last, &hash, error) ||
        !carry_system(out->store, out->list_id, &came_from, error))
        return false;
    g_autofree char *system = came_from;
    json_t *line = line_new("list", out->list_id);
    json_object_set_new(line, "address", json_string(list->posting_address));
    json_object_set_new(line, "created_at", json_integer(list->created_at));
    json_object_set_new(line, "last_post_at", json_integer(list->last_post_at));
    json_object_set_new(line, "post_id", json_integer(list->post_id));
    json_object_set_new(line, "held_last", json_integer(held_last));
    json_object_set_new(line, "archive", json_integer(list->archive));
    if (hash && !out->no_secrets)
        json_object_set_new(line, "moderator_password", json_string(hash));
    if (system && !g_str_equal(system, "listrunner"))
        json_object_set_new(line, "came_from", json_string(system));
    json_t *settings = json_object();
    for (const ListSetting *row = list_settings; row->name; row++) {
        g_autofree char *value = row->type == SETTING_PASSWORD ? NULL : list_get(list, row->name, NULL);
        if (value)
            json_object_set_new(settings, row->name, text_json(value, strlen(value)));
    }
    json_object_set_new(line, "settings", settings);
    return put(out, line, error);
}

static bool put_all(Leaving *out, char *const *chosen, GError **error)
{
    g_autofree char *site = host_site(out->store, error);
    g_auto(GStrv) all = site && !chosen ? carry_lists(out->store, NULL, error) : NULL;
    if (!site || (!chosen && !all))
        return false;
    json_t *first = json_pack("{s:s, s:i, s:s, s:I}", "row", "listrunner-export", "version", LEAVING_VERSION, "site",
                              site, "made_at", (json_int_t)clock_now());
    if (!put(out, first, error) || (!chosen && !put_kinds(out, false, error)))
        return false;
    for (char *const *list_id = chosen ? chosen : all; *list_id; list_id++) {
        out->list_id = *list_id;
        if ((chosen && !put_kinds(out, false, error)) || !put_list_line(out, error) || !put_kinds(out, true, error))
            return false;
    }
    return put(out, json_pack("{s:s, s:I}", "row", "end", "lines", (json_int_t)out->lines + 1), error);
}

bool leaving_write(Store *store, const LeavingChoice *choice, FILE *to, uint64_t *lines, GError **error)
{
    Leaving out = {.store = store, .to = to, .no_secrets = choice->no_secrets};
    if (!store_begin(store, error))
        return false;
    bool done = put_all(&out, choice->lists, error);
    *lines = out.lines;
    if (done)
        return store_commit(store, error);
    store_rollback(store);
    return false;
}
