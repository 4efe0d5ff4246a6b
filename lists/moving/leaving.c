/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Exports: a site as lines of JSON (doc/export.md), out and in. */
#include "lists/moving/leaving.h"

#include <jansson.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "lists/keys.h"
#include "lists/moving/moving_internal.h"
#include "store/hosts/host.h"
#include "store/lists/list.h"
#include "store/lists/list_setting.h"
#include "store/moving/carry.h"
#include "switchboard/meta.h"

/* ---- out ---- */

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

/* ---- in ---- */

#define BLOCK 65536 /* bytes */
#define SITE_KEY_MAX 120 /* bytes of a text in the report */

struct LeavingFile {
    FILE *file;
    GByteArray *read; /* from the file, and not yet taken */
    guint taken;
    uint64_t line; /* number of the last one */
    char *source, *part;
    /* While it is moved: */
    Moving *moving;
    char *list_id, *address; /* whose lines these are; list_id NULL: of the site */
    bool pass;     /* these lines are in, or their list was left out */
    GHashTable *unknown; /* names of rows and fields that were told */
    GArray *users;       /* int64_t: of those, an address is another user's here */
};

void leaving_free(LeavingFile *from)
{
    if (!from)
        return;
    g_byte_array_unref(from->read);
    g_free(from->source);
    g_free(from->part);
    g_free(from->list_id);
    g_free(from->address);
    g_hash_table_unref(from->unknown);
    g_array_unref(from->users);
    g_free(from);
}

const char *leaving_source(const LeavingFile *from)
{
    return from->source;
}

/* ---- lines ---- */

/* json_decref(); NULL with error. */
static json_t *next_line(LeavingFile *from, GError **error)
{
    GByteArray *read = from->read;
    const uint8_t *end;
    guint looked = 0;
    while (!(end = read->len > from->taken + looked
                       ? memchr(read->data + from->taken + looked, '\n', read->len - from->taken - looked)
                       : NULL)) {
        g_byte_array_remove_range(read, 0, from->taken);
        from->taken = 0;
        looked = read->len;
        if (looked > LEAVING_LINE_MAX) {
            fail(error, FAIL_CONFIG, "line %" G_GUINT64_FORMAT " is too long", from->line + 1);
            return NULL;
        }
        g_byte_array_set_size(read, looked + BLOCK);
        size_t count = fread(read->data + looked, 1, BLOCK, from->file);
        g_byte_array_set_size(read, looked + (guint)count);
        if (count > 0)
            continue;
        if (ferror(from->file))
            fail_errno(error, FAIL_LATER, "read");
        else
            fail(error, FAIL_CONFIG, "the file ends early, after line %" G_GUINT64_FORMAT, from->line);
        return NULL;
    }
    json_error_t why;
    const char *begin = (const char *)read->data + from->taken;
    size_t length = (size_t)((const char *)end - begin);
    from->taken += (guint)length + 1;
    from->line++;
    json_t *line = json_loadb(begin, length, JSON_REJECT_DUPLICATES, &why);
    if (!json_is_object(line) || !json_is_string(json_object_get(line, "row"))) {
        bool object = json_is_object(line);
        json_decref(line);
        fail(error, FAIL_CONFIG, "line %" G_GUINT64_FORMAT ": %s", from->line,
             object      ? "its row is missing"
             : *why.text ? why.text
                         : "it is no object");
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
    from->unknown = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    from->users = g_array_new(FALSE, FALSE, sizeof(int64_t));
    json_t *first = next_line(from, &why);
    const char *site = text_at(first, "site");
    int64_t version = number_at(first, "version");
    if (g_error_matches(why, FAIL, FAIL_LATER))
        g_propagate_error(error, g_steal_pointer(&why));
    else if (!first || !site || !g_str_equal(text_at(first, "row"), "listrunner-export"))
        fail(error, FAIL_CONFIG, "this is no file that listrunner export wrote");
    else if (version != LEAVING_VERSION)
        fail(error, FAIL_CONFIG,
             "the file has version %" G_GINT64_FORMAT " of the format, and this Listrunner knows version %d", version,
             LEAVING_VERSION);
    else {
        from->source = g_strdup_printf("listrunner %s", site);
        from->part = g_strdup_printf("site at %" G_GINT64_FORMAT, number_at(first, "made_at"));
    }
    json_decref(first);
    return from->source ? g_steal_pointer(&from) : NULL;
}

/* ---- values ---- */

/* Text that may stand in a field of a letter. */
static bool is_name(const char *text)
{
    while (text && *text && !g_unichar_iscntrl(g_utf8_get_char(text)))
        text = g_utf8_next_char(text);
    return text && !*text;
}

/* owned takes what the value borrows. */
static bool read_value(const CarryField *field, const json_t *json, Value *value, GPtrArray *owned)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *text = json_string_value(json);
    size_t length = json_string_length(json);
    bool is_text = field->type == CARRY_TEXT || field->type == CARRY_EMAIL || field->type == CARRY_NAME;
    *value = (Value){.type = is_text                      ? VALUE_TEXT
                             : field->type == CARRY_BYTES ? VALUE_BLOB
                                                          : VALUE_INTEGER,
                     .null = !json};
    if (!json)
        return field->may;
    switch (field->type) {
    case CARRY_INTEGER:
        value->integer = json_integer_value(json);
        return json_is_integer(json);
    case CARRY_BOOL:
        value->integer = json_is_true(json);
        return json_is_boolean(json);
    case CARRY_CHOICE: {
        g_auto(GStrv) words = g_strsplit(text ? field->words : "", "|", -1);
        while (words[value->integer] && !g_str_equal(words[value->integer], text))
            value->integer++;
        return words[value->integer] != NULL;
    }
    case CARRY_ID:
        return text && carry_id_parse(text, &value->integer);
    case CARRY_OBJECT:
        return json_is_object(json);
    case CARRY_BYTES: {
        size_t good = text ? strspn(text, letters) : 0;
        if (!text || length % 4 != 0 || length - good > 2 || strspn(text + good, "=") != length - good)
            return false;
        g_ptr_array_add(owned, g_base64_decode(text, &value->length));
        value->data = owned->pdata[owned->len - 1];
        return true;
    }
    default:
        value->data = text;
        value->length = length;
        return field->type == CARRY_NAME ? is_name(text) : text != NULL;
    }
}

/* Name once what is not known here. */
static void tell_unknown(LeavingFile *from, const char *row, const char *field)
{
    g_autofree char *place = g_strdup_printf("line %" G_GUINT64_FORMAT, from->line);
    g_autofree char *name = g_strjoin(field ? "." : "", row, field ? field : "", NULL);
    if (g_hash_table_add(from->unknown, g_strdup(name)))
        moving_tell(from->moving, MOVING_LOST, place, name, "it is not known here; more of them are not told");
}

/* All fields of a row; false with refusal. owned takes what values borrow. */
static bool read_fields(LeavingFile *from, json_t *line, const CarryField *fields, Value *values, GPtrArray *owned,
                        GError **refusal)
{
    const char *name;
    json_t *value;
    json_object_foreach(line, name, value) {
        const CarryField *field = fields;
        while (field->name && !g_str_equal(field->name, name))
            field++;
        if (!field->name && !g_str_equal(name, "row") && !g_str_equal(name, "list"))
            tell_unknown(from, text_at(line, "row"), name);
    }
    for (int i = 0; fields[i].name; i++) {
        const json_t *found = json_object_get(line, fields[i].name);
        if (!read_value(&fields[i], found, &values[i], owned))
            return fail(refusal, FAIL_NEVER, "its field %s %s", fields[i].name,
                        found ? "has a value that is not allowed" : "is missing");
    }
    return true;
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

/* "member anne@example.com": its address, or else its first field. */
static char *key_of(const CarryKind *kind, const json_t *line)
{
    const CarryField *field = kind->fields;
    while (field->name && field->type != CARRY_EMAIL)
        field++;
    const json_t *value = json_object_get(line, field->name ? field->name : kind->fields[0].name);
    g_autofree char *number = g_strdup_printf("%" G_GINT64_FORMAT, (int64_t)json_integer_value(value));
    return g_strdup_printf("%s %s", kind->name,
                           json_is_string(value)    ? json_string_value(value)
                           : json_is_integer(value) ? number
                                                    : "");
}

/* All texts of the row but secrets, for the report; g_free(). */
static char *site_key(const CarryKind *kind, const json_t *line)
{
    g_autoptr(GString) key = g_string_new(NULL);
    for (const CarryField *field = kind->fields; field->name; field++) {
        const char *text = field->secret ? NULL : text_at(line, field->name);
        if (text && *text && key->len < SITE_KEY_MAX)
            g_string_append_printf(key, "%s%.*s", key->len ? ", " : "", SITE_KEY_MAX, text);
    }
    return g_string_free(g_steal_pointer(&key), FALSE);
}

/* May the row be written, as one that the site answers for? */
static bool may_site(LeavingFile *from, const CarryKind *kind, const json_t *line)
{
    g_autofree char *key = kind->reach == CARRY_OF_MANY ? NULL : site_key(kind, line);
    if (json_is_true(json_object_get(line, "server_owner"))) {
        g_autofree char *owner = site_key(kind, line);
        return moving_may_site(from->moving, "server_owner", owner);
    }
    return moving_may_site(from->moving, kind->name, key);
}

/* Bring the row of a list down to what a list's token may write: nobody is a member by a user whom the file does not
 * make, a request concerns this list alone, and no token from elsewhere proves an address to the site. False: nothing
 * is left of it. */
static bool cut_to_list(LeavingFile *from, const CarryKind *kind, json_t *line)
{
    if (json_object_get(line, "as_user"))
        json_object_set_new(line, "as_user", json_false());
    if (g_str_equal(kind->name, "request")) {
        int64_t facts = number_at(line, "facts");
        json_object_set_new(line, "facts", json_integer((json_int_t)moving_facts(from->moving, (unsigned)facts)));
        return g_strcmp0(text_at(line, "kind"), "change_address") != 0;
    }
    if (kind->hook != CARRY_HELD && kind->hook != CARRY_SCHEDULED)
        return true;
    /* A post waits for what the list decides; its metadata lead it into no other queue and to no other address. */
    const char *text = text_at(line, "meta"), *sender = text_at(line, "sender");
    g_autoptr(json_t) meta = text ? meta_parse(text, strlen(text), NULL) : NULL;
    List list = {.list_id = from->list_id, .posting_address = from->address};
    if (!g_str_equal(meta_string(meta, KEY_TO, TO_POSTING), TO_POSTING))
        return false;
    g_autofree char *own = moving_post_meta(&list, text_at(line, "message_id"), meta_string(meta, KEY_SENDER, sender));
    json_object_set_new(line, "meta", json_string(own));
    return true;
}

static bool move_row(LeavingFile *from, const CarryKind *kind, json_t *line, GError **error)
{
    Moving *moving = from->moving;
    Value values[CARRY_FIELDS_MAX];
    GError *refusal = NULL;
    g_autoptr(GPtrArray) owned = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *place = g_strdup_printf("line %" G_GUINT64_FORMAT, from->line), *key = key_of(kind, line);
    const MovingThing thing = {counted_as(kind), place, key};
    bool of_list = kind->reach == CARRY_OF_LIST && !moving->site.of_site;
    if (kind->reach != CARRY_OF_LIST && kind->insert && !may_site(from, kind, line))
        return true;
    if (of_list && !cut_to_list(from, kind, line))
        return moving_may_site(moving, kind->name, NULL), true;
    if (!moving_work(moving, error))
        return false;
    bool good = read_fields(from, line, kind->fields, values, owned, &refusal);
    if (good && of_list && kind->hook == CARRY_MEMBER)
        good = moving_member_address(moving, from->list_id, (Role)values[1].integer, text_at(line, "email"), &refusal);
    if (!good)
        return moving_judge(moving, false, refusal, &thing, NULL, error);

    if (of_list && g_str_equal(kind->name, "template")) {
        const char *uri = text_at(line, "uri"), *user = text_at(line, "username");
        const char *password = text_at(line, "password");
        const TemplateText text = {.name = (char *)text_at(line, "name"),
                                   .place = from->list_id,
                                   .language = (char *)text_at(line, "language"),
                                   .uri = (char *)(uri ? uri : ""),
                                   .username = (char *)(user ? user : ""),
                                   .password = (char *)(password ? password : ""),
                                   .text = (char *)(uri && *uri ? NULL : text_at(line, "text")),
                                   .fault = (char *)""};
        return moving_template(moving, &text, error);
    }
    if (!kind->insert) {
        const MovingDomain domain = {text_at(line, "mail_host"), text_at(line, "description"),
                                     text_at(line, "alias_domain")};
        bool more = (domain.description && *domain.description) || domain.alias;
        if (moving->site.of_site ? !moving_domain(moving, &domain, error)
                                 : more && moving_may_site(moving, "domain", domain.mail_host))
            return false; /* the domain of a list that comes alone is made with it */
        return moving_step(moving, error);
    }
    bool known = false, done = carry_write(moving->site.store, kind, from->list_id, values, &known, &refusal);
    if (g_error_matches(refusal, FAIL, FAIL_EXISTS)) { /* of an address: its third field is the user */
        moving_tell(moving, MOVING_CHANGED, place, key, "%s", refusal->message);
        g_array_append_val(from->users, values[2].integer);
    } else if (done && known)
        done = fail(&refusal, FAIL_EXISTS, "known");
    return moving_judge(moving, done, refusal, &thing, NULL, error) && moving_step(moving, error);
}

/* ---- lists ---- */

static const CarryField list_fields[] = {
    {"address", CARRY_TEXT, NULL, false, false},
    {"created_at", CARRY_INTEGER, NULL, false, false},
    {"last_post_at", CARRY_INTEGER, NULL, false, false},
    {"post_id", CARRY_INTEGER, NULL, false, false},
    {"held_last", CARRY_INTEGER, NULL, false, false},
    {"archive", CARRY_INTEGER, NULL, false, false},
    {"moderator_password", CARRY_TEXT, NULL, true, true},
    {"came_from", CARRY_TEXT, NULL, true, false},
    {"settings", CARRY_OBJECT, NULL, false, false},
    {NULL, CARRY_TEXT, NULL, false, false},
};

typedef struct LineMaking {
    LeavingFile *from;
    json_t *line;
} LineMaking;

static bool make_list(void *data, List **made, GError **error)
{
    const LineMaking *making = data;
    LeavingFile *from = making->from;
    json_t *line = making->line;
    const char *name;
    json_t *value;
    GError *refusal = NULL;
    Value values[G_N_ELEMENTS(list_fields)];
    g_autoptr(GPtrArray) settings = moving_settings_new();
    g_autofree char *place = g_strdup_printf("line %" G_GUINT64_FORMAT, from->line);
    if (!read_fields(from, line, list_fields, values, NULL, &refusal))
        return moving_judge(from->moving, false, refusal, &(MovingThing){MOVING_LISTS, place, from->list_id}, NULL,
                            error);
    json_object_foreach(json_object_get(line, "settings"), name, value)
    {
        g_autoptr(GError) unknown = NULL;
        if (!list_setting_find(name, &unknown))
            tell_unknown(from, "list.settings", name);
        else if (json_is_string(value))
            moving_settings_add(settings, name, name, g_strdup(json_string_value(value)));
        else
            moving_tell(from->moving, MOVING_LEFT_OUT, place, name, "the value of a setting is a text");
    }
    const bool of_site = from->moving->site.of_site;
    const MovingList list = {.list = {.address = text_at(line, "address"),
                                      .list_id = from->list_id,
                                      .created_at = number_at(line, "created_at"),
                                      .last_post_at = number_at(line, "last_post_at"),
                                      .post_id = number_at(line, "post_id"),
                                      .held_last = MAX(number_at(line, "held_last"), 0),
                                      /* A list that was removed may have left an archive, which is not this one's. */
                                      .archive = of_site ? MAX(number_at(line, "archive"), 0) : -1,
                                      .password_hash = text_at(line, "moderator_password")},
                             .settings = settings,
                             .volume = 1,
                             .next_digest = 1,
                             .watermark = -1};
    if (!moving_list(from->moving, &list, made, error))
        return false;
    if (!*made)
        return true;

    /* Old addresses of the list are known by the system from which it came to the other Listrunner. */
    static const char *const systems[] = {"mailman2", "mailman3", "mlmmj", "ezmlm", "sympa", NULL};
    const char *system = text_at(line, "came_from");
    if (system && g_strv_contains(systems, system)) {
        g_autofree char *note = g_strdup_printf("%s: by way of another Listrunner: %s", system, from->list_id);
        return carry_note_part(from->moving->site.store, note, from->list_id, error);
    }
    if (system)
        moving_tell(from->moving, MOVING_LEFT_OUT, place, "came_from",
                    "\"%s\" is not known; allowed: mailman2, mailman3, mlmmj, ezmlm, sympa", system);
    return true;
}

/* ---- all ---- */

static bool end_part(LeavingFile *from, GError **error)
{
    if (!from->moving->part)
        return true;
    /* Users who have no address here, for all were another's. */
    for (guint i = 0; i < from->users->len; i++)
        if (!carry_drop_user(from->moving->site.store, g_array_index(from->users, int64_t, i), error))
            return false;
    g_array_set_size(from->users, 0);
    return moving_end(from->moving, error);
}

static bool begin_site(LeavingFile *from, GError **error)
{
    g_clear_pointer(&from->list_id, g_free);
    return moving_begin(from->moving, from->part, NULL, MOVING_IN_PORTIONS, &from->pass, error);
}

static bool move_any(LeavingFile *from, json_t *line, bool *end, GError **error)
{
    const char *name = text_at(line, "row"), *list_id = text_at(line, "list");
    *end = g_str_equal(name, "end");
    if (*end && number_at(line, "lines") != (int64_t)from->line)
        return fail(error, FAIL_CONFIG, "line %" G_GUINT64_FORMAT ": it should be line %" G_GINT64_FORMAT, from->line,
                    number_at(line, "lines"));
    if (*end)
        return end_part(from, error);
    if (g_str_equal(name, "list")) {
        bool in;
        if (!end_part(from, error))
            return false;
        if (!list_id)
            return fail(error, FAIL_CONFIG, "line %" G_GUINT64_FORMAT ": a list without an id", from->line);
        g_free(from->list_id);
        from->list_id = g_strdup(list_id);
        g_free(from->address);
        from->address = g_strdup(text_at(line, "address"));
        from->pass = true;
        return moving_make(from->moving, list_id, make_list, &(LineMaking){from, line}, &in, error) &&
               (!in || moving_begin(from->moving, "all", list_id, MOVING_IN_PORTIONS, &from->pass, error));
    }
    /* People of a list stand before it where some lists were exported: they are no lines of the list before. */
    if (!json_object_get(line, "list") && from->list_id) {
        g_autofree char *part = g_steal_pointer(&from->part);
        from->part = g_strdup_printf("%s, line %" G_GUINT64_FORMAT, part, from->line);
        if (!end_part(from, error) || !begin_site(from, error))
            return false;
    }
    if (from->pass)
        return true;
    const CarryKind *kind = carry_kind(name);
    if (!kind) {
        tell_unknown(from, name, NULL);
        return true;
    }
    if (kind->of_list && (!list_id || g_strcmp0(list_id, from->list_id) != 0))
        return fail(error, FAIL_CONFIG, "line %" G_GUINT64_FORMAT ": it stands behind another list", from->line);
    return move_row(from, kind, line, error);
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
    return done;
}
