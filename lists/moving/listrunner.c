/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* In: what leaving.c wrote. */
#include <jansson.h>
#include <string.h>

#include "base/fail.h"
#include "lists/moving/leaving.h"
#include "lists/moving/moving_internal.h"
#include "lists/moving/setting_list.h"
#include "store/carry.h"

#define BLOCK 65536 /* bytes */

struct LeavingFile {
    FILE *file;
    GByteArray *read; /* from the file, and not yet taken */
    guint taken;
    uint64_t line; /* number of the last one */
    char *source, *part;
    /* While it is moved: */
    Moving *moving;
    char *list_id; /* whose lines these are; NULL: of the site */
    bool pass;     /* these lines are in, or their list was left out */
};

void leaving_free(LeavingFile *from)
{
    if (!from)
        return;
    g_byte_array_unref(from->read);
    g_free(from->source);
    g_free(from->part);
    g_free(from->list_id);
    g_free(from);
}

const char *leaving_source(const LeavingFile *from)
{
    return from->source;
}

/* ---- lines ---- */

static bool read_block(LeavingFile *from, GError **error)
{
    g_byte_array_remove_range(from->read, 0, from->taken);
    from->taken = 0;
    guint there = from->read->len;
    if (there > LEAVING_LINE_MAX)
        return fail(error, FAIL_NEVER, "line %" G_GUINT64_FORMAT " is too long", from->line + 1);
    g_byte_array_set_size(from->read, there + BLOCK);
    size_t count = fread(from->read->data + there, 1, BLOCK, from->file);
    g_byte_array_set_size(from->read, there + (guint)count);
    return count > 0 || (ferror(from->file) ? fail_errno(error, FAIL_LATER, "read")
                                            : fail(error, FAIL_NEVER, "the file ends early, after line "
                                                   "%" G_GUINT64_FORMAT, from->line));
}

/* json_decref(); NULL with error. */
static json_t *next_line(LeavingFile *from, GError **error)
{
    const uint8_t *end;
    guint looked = 0;
    while (!(end = from->read->len > from->taken + looked
                       ? memchr(from->read->data + from->taken + looked, '\n', from->read->len - from->taken - looked)
                       : NULL)) {
        looked = from->read->len - from->taken;
        if (!read_block(from, error))
            return NULL;
    }
    json_error_t why;
    const char *begin = (const char *)from->read->data + from->taken;
    size_t length = (size_t)((const char *)end - begin);
    from->taken += (guint)length + 1;
    from->line++;
    json_t *line = json_loadb(begin, length, JSON_REJECT_DUPLICATES, &why);
    if (!json_is_object(line) || !json_is_string(json_object_get(line, "kind"))) {
        json_decref(line);
        fail(error, FAIL_NEVER, "line %" G_GUINT64_FORMAT ": it is no object with a kind", from->line);
        return NULL;
    }
    return line;
}

static const char *text_at(const json_t *line, const char *name)
{
    return json_string_value(json_object_get(line, name));
}

static int64_t number_at(const json_t *line, const char *name)
{
    return json_integer_value(json_object_get(line, name));
}

LeavingFile *leaving_open(FILE *file, GError **error)
{
    g_autoptr(GError) why = NULL;
    g_autoptr(LeavingFile) from = g_new0(LeavingFile, 1);
    from->file = file;
    from->read = g_byte_array_new();
    json_t *first = next_line(from, &why);
    const char *site = text_at(first, "site");
    int64_t version = number_at(first, "version");
    if (!first || !site || !g_str_equal(text_at(first, "kind"), "listrunner-export"))
        fail(error, FAIL_CONFIG, "no file of listrunner export");
    else if (version != LEAVING_VERSION)
        fail(error, FAIL_CONFIG, "an export of version %" G_GINT64_FORMAT "; known is %d", version, LEAVING_VERSION);
    else {
        from->source = g_strdup_printf("listrunner %s", site);
        from->part = g_strdup_printf("site at %" G_GINT64_FORMAT, number_at(first, "made_at"));
    }
    json_decref(first);
    return from->source ? g_steal_pointer(&from) : NULL;
}

/* ---- values ---- */

static bool find_word(const char *words, const char *word, int64_t *place)
{
    g_auto(GStrv) all = g_strsplit(words, "|", -1);
    for (*place = 0; all[*place]; ++*place)
        if (g_str_equal(all[*place], word))
            return true;
    return false;
}

/* owned takes what the value borrows. */
static bool read_value(const CarryField *field, const json_t *json, Value *value, GPtrArray *owned)
{
    const char *text = json_string_value(json);
    *value = (Value){.type = VALUE_INTEGER, .null = !json || json_is_null(json)};
    switch (field->type) {
    case CARRY_INTEGER:
        value->integer = json_integer_value(json);
        return value->null || json_is_integer(json);
    case CARRY_BOOL:
        value->integer = json_is_true(json);
        return value->null || json_is_boolean(json);
    case CARRY_CHOICE: return value->null || (text && find_word(field->words, text, &value->integer));
    case CARRY_ID: return value->null || (text && carry_id_parse(text, &value->integer));
    case CARRY_BYTES: {
        value->type = VALUE_BLOB;
        if (!text)
            return false;
        gsize length;
        guchar *bytes = g_base64_decode(text, &length);
        g_ptr_array_add(owned, bytes);
        value->data = bytes;
        value->length = length;
        return true;
    }
    default:
        value->type = VALUE_TEXT;
        value->data = text;
        value->length = json_string_length(json);
        return text || (value->null && field->type != CARRY_EMAIL);
    }
}

static MovingKind counted_as(const CarryKind *kind)
{
    static const struct {
        const char *name;
        MovingKind kind;
    } known[] = {{"address", MOVING_ADDRESSES},    {"member", MOVING_MEMBERS},     {"ban", MOVING_BANS},
                 {"site_ban", MOVING_BANS},        {"held", MOVING_HELD},          {"request", MOVING_REQUESTS},
                 {"template", MOVING_TEMPLATES},   {"answer", MOVING_ANSWERS},     {"digest_post", MOVING_DIGEST_POSTS},
                 {"moderator_letter", MOVING_TICKETS}, {"header_match", MOVING_HEADER_MATCHES},
                 {"site_header_match", MOVING_HEADER_MATCHES}, {"site_template", MOVING_TEMPLATES}};
    for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
        if (g_str_equal(known[i].name, kind->name))
            return known[i].kind;
    return MOVING_ROWS;
}

static bool move_row(LeavingFile *from, const CarryKind *kind, const json_t *line, GError **error)
{
    Value values[CARRY_FIELDS_MAX];
    bool done = true, known = false;
    GError *refusal = NULL;
    g_autoptr(GPtrArray) owned = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *place = g_strdup_printf("line %" G_GUINT64_FORMAT, from->line);
    if (!moving_work(from->moving, error))
        return false;
    for (int i = 0; done && kind->fields[i].name; i++)
        if (!read_value(&kind->fields[i], json_object_get(line, kind->fields[i].name), &values[i], owned))
            done = fail(&refusal, FAIL_NEVER, "its %s is not allowed", kind->fields[i].name);
    done = done && carry_write(from->moving->site.store, kind, from->list_id, values, &known, &refusal);
    if (done && known)
        done = fail(&refusal, FAIL_EXISTS, "known");
    return moving_judge(from->moving, done, refusal, &(MovingThing){counted_as(kind), place, kind->name}, NULL, error) &&
           moving_step(from->moving, error);
}

/* ---- lists ---- */

static bool make_list(LeavingFile *from, const json_t *line, bool *made, GError **error)
{
    const char *name;
    json_t *value;
    g_autoptr(GPtrArray) settings = setting_list_new();
    json_object_foreach(json_object_get(line, "settings"), name, value)
    {
        g_autoptr(GError) unknown = NULL;
        if (json_is_string(value) && list_setting_find(name, &unknown))
            setting_list_add(settings, name, name, g_strdup(json_string_value(value)));
        else
            moving_tell(from->moving, MOVING_LOST, from->list_id, name, "there is no such setting here");
    }
    const char *address = text_at(line, "address");
    const MovingList list = {.list = {.address = address ? address : "",
                                      .list_id = from->list_id,
                                      .created_at = number_at(line, "created_at"),
                                      .last_post_at = number_at(line, "last_post_at"),
                                      .post_id = number_at(line, "post_id")},
                             .settings = settings,
                             .password_hash = text_at(line, "moderator_password"),
                             .volume = 1,
                             .next_digest = 1,
                             .watermark = -1};
    List *new = NULL;
    bool done = moving_list(from->moving, &list, &new, error);
    *made = new != NULL;
    list_free(new);
    const CarryList more = {.list_id = from->list_id,
                            .held_last = number_at(line, "held_last"),
                            .archive = number_at(line, "archive")};
    return done && (!*made || carry_write_list(from->moving->site.store, &more, error));
}

static bool begin_list(LeavingFile *from, const json_t *line, GError **error)
{
    bool whole, made = false;
    Moving *moving = from->moving;
    const char *list_id = text_at(line, "list");
    if (!list_id)
        return fail(error, FAIL_NEVER, "line %" G_GUINT64_FORMAT ": a list without an id", from->line);
    g_free(from->list_id);
    from->list_id = g_strdup(list_id);
    from->pass = true;
    if (!moving_begin(moving, "list", list_id, MOVING_AT_ONCE, &whole, error))
        return false;
    if (whole)
        moving_there(moving, MOVING_LISTS);
    else if (!make_list(from, line, &made, error))
        return false;
    else if (!made)
        moving_cancel(moving);
    else if (!moving_end(moving, error))
        return false;
    return (!whole && !made) || (moving_begin(moving, "all", list_id, MOVING_IN_PORTIONS, &from->pass, error));
}

/* ---- all ---- */

static bool end_part(LeavingFile *from, GError **error)
{
    return !from->moving->part || moving_end(from->moving, error);
}

static bool move_line(LeavingFile *from, const json_t *line, GError **error)
{
    const char *name = text_at(line, "kind"), *list_id = text_at(line, "list");
    const CarryKind *kind = carry_kinds;
    while (kind->name && !g_str_equal(kind->name, name))
        kind++;
    if (!kind->name) {
        moving_tell(from->moving, MOVING_LOST, list_id, name, "a kind that is not known here");
        return true;
    }
    if (kind->of_list && g_strcmp0(list_id, from->list_id) != 0)
        return fail(error, FAIL_NEVER, "line %" G_GUINT64_FORMAT ": it stands behind another list", from->line);
    if (kind->insert)
        return move_row(from, kind, line, error);
    const char *host = text_at(line, "mail_host"), *about = text_at(line, "description");
    return moving_domain(from->moving, &(MovingDomain){host ? host : "", about ? about : "", text_at(line, "alias_domain")},
                         error);
}

static bool begin_site(LeavingFile *from, GError **error)
{
    g_clear_pointer(&from->list_id, g_free);
    return moving_begin(from->moving, from->part, NULL, MOVING_IN_PORTIONS, &from->pass, error);
}

/* People of a list stand before it where some lists were exported: they are no lines of the list before. */
static bool is_of_site(const json_t *line)
{
    return !json_object_get(line, "list");
}

static bool move_any(LeavingFile *from, const json_t *line, bool *end, GError **error)
{
    const char *kind = text_at(line, "kind");
    *end = g_str_equal(kind, "end");
    if (*end)
        return end_part(from, error);
    if (g_str_equal(kind, "list"))
        return end_part(from, error) && begin_list(from, line, error);
    if (is_of_site(line) && from->list_id) {
        g_autofree char *part = g_steal_pointer(&from->part);
        from->part = g_strdup_printf("%s, line %" G_GUINT64_FORMAT, part, from->line);
        if (!end_part(from, error) || !begin_site(from, error))
            return false;
    }
    return from->pass || move_line(from, line, error);
}

bool leaving_move(LeavingFile *from, Moving *moving, GError **error)
{
    bool done = true, end = false;
    from->moving = moving;
    if (!begin_site(from, error))
        return false;
    while (done && !end) {
        json_t *line = next_line(from, error);
        done = line && move_any(from, line, &end, error);
        json_decref(line);
    }
    return done && moving_finish(moving, error);
}
