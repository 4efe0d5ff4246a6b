/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/loop_mark.h"

#include <string.h>

#include "base/log.h"
#include "base/secret.h"

#define PURPOSE "listrunner loop mark 1"
#define FORM "1."
#define FIELDS_MAX 8  /* that are read: each mail of ours leaves with one */
#define PLACES_MAX 64 /* that are written; a digest may have the places of many posts. The depth bounds the others */
#define ID_CHARS 16   /* of List.id: they differ for any two lists */
#define KEY_MAX 250   /* what an index of any database takes */
#define LINES 6       /* of the text that is sealed */
#define AGAIN "again: " /* before the root; no Message-ID begins so */
#define SEALED_MAX 4096
#define LINE 64       /* characters of the value in a line */

typedef struct LoopKey {
    unsigned char bytes[SEAL_KEY_BYTES];
} LoopKey;

struct LoopKeys {
    GArray *all; /* of LoopKey */
};

LoopKeys *loop_keys_new(const GPtrArray *secrets)
{
    LoopKeys *keys = g_new0(LoopKeys, 1);
    keys->all = g_array_new(FALSE, FALSE, sizeof(LoopKey));
    g_array_set_size(keys->all, secrets->len);
    for (unsigned at = 0; at < secrets->len; at++)
        seal_derive(secrets->pdata[at], PURPOSE, g_array_index(keys->all, LoopKey, at).bytes);
    return keys;
}

void loop_keys_free(LoopKeys *keys)
{
    if (!keys)
        return;
    g_array_unref(keys->all);
    g_free(keys);
}

void loop_mark_clear(LoopMark *mark)
{
    g_clear_pointer(&mark->places, g_ptr_array_unref);
    g_clear_pointer(&mark->root, g_free);
    g_clear_pointer(&mark->origin, g_free);
    *mark = (LoopMark){0};
}

/* ---- places ---- */

static char *place_text(LoopPlace place, const char *id)
{
    return g_strdup_printf("%c%.*s", (char)place, ID_CHARS, id);
}

bool loop_mark_has(const LoopMark *mark, LoopPlace place, const char *id)
{
    g_autofree char *text = place_text(place, id);
    return mark->places && g_ptr_array_find_with_equal_func(mark->places, text, g_str_equal, NULL);
}

/* ---- the first mail ---- */

char *loop_mark_key(const Message *message)
{
    g_autofree char *id = message_id(message);
    bool plain = id && strlen(id) <= KEY_MAX && g_utf8_validate(id, -1, NULL) && !strchr(id, '\n');
    return !id || plain ? g_steal_pointer(&id) : g_compute_checksum_for_string(G_CHECKSUM_SHA1, id, -1);
}

void loop_mark_derive(LoopMark *mark)
{
    g_clear_pointer(&mark->origin, g_free);
    if (++mark->level > 1 && mark->root)
        mark->origin = g_strconcat(AGAIN, mark->root, NULL);
}

/* ---- reading ---- */

static char *id_hash(const char *message_id)
{
    char *sum = g_compute_checksum_for_string(G_CHECKSUM_SHA256, message_id ? message_id : "", -1);
    sum[ID_CHARS] = '\0';
    return sum;
}

/* hash: of the message's own Message-ID. */
static bool read_value(const LoopKeys *keys, const char *value, const char *hash, LoopMark *mark)
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (const char *at = value; *at; at++)
        if (!g_ascii_isspace(*at)) /* of folds, perhaps of other hosts */
            g_string_append_c(text, *at);
    if (!g_str_has_prefix(text->str, FORM) || text->len > SEALED_MAX * 2)
        return false;
    size_t length;
    g_autofree unsigned char *octets = g_base64_decode(text->str + strlen(FORM), &length);
    g_autoptr(GBytes) sealed = g_bytes_new_take(g_steal_pointer(&octets), length);
    g_autoptr(GByteArray) plain = NULL;
    for (unsigned at = 0; at < keys->all->len && !plain; at++)
        plain = seal_open(g_array_index(keys->all, LoopKey, at).bytes, PURPOSE, sealed);
    g_auto(GStrv) lines = plain ? g_strsplit((const char *)plain->data, "\n", LINES) : NULL;
    if (!lines || g_strv_length(lines) != LINES)
        return false;
    g_auto(GStrv) places = g_strsplit(lines[2], " ", -1);
    unsigned level = (unsigned)g_ascii_strtoull(lines[3], NULL, 10);
    bool trusted = strcmp(lines[1], hash) == 0, deeper = level > mark->level || !mark->root;
    mark->depth = MAX(mark->depth, (unsigned)g_ascii_strtoull(lines[0], NULL, 10));
    mark->level = MAX(mark->level, level);
    if (!mark->places && *places)
        mark->places = g_ptr_array_new_with_free_func(g_free);
    for (char **place = places; *place; place++)
        if (**place && !g_ptr_array_find_with_equal_func(mark->places, *place, g_str_equal, NULL))
            g_ptr_array_add(mark->places, g_strdup(*place));
    if (trusted && *lines[4] && deeper) {
        g_free(mark->root);
        mark->root = g_strdup(lines[4]);
    }
    if (trusted && *lines[5]) {
        g_free(mark->origin);
        mark->origin = g_strdup(lines[5]);
    }
    return true;
}

void loop_mark_read(const LoopKeys *keys, const Message *message, LoopMark *mark)
{
    size_t index = 0;
    g_autofree char *id = message_id(message), *hash = id_hash(id);
    const Field *field = message_find(message, LOOP_MARK_FIELD, &index);
    for (unsigned count = 0; field && count < FIELDS_MAX; count++) {
        g_autofree char *value = field_value(field);
        if (!read_value(keys, value, hash, mark))
            mark->strange++;
        index++;
        field = message_find(message, LOOP_MARK_FIELD, &index);
    }
    if (!mark->root)
        mark->root = loop_mark_key(message);
}

/* ---- writing ---- */

char *loop_mark_make(const LoopKeys *keys, const LoopMark *mark, LoopPlace place, const char *id,
                     const char *message_id, const char *origin)
{
    g_autofree char *hash = id_hash(message_id), *here = place_text(place, id);
    g_autoptr(GString) text = g_string_new(NULL);
    g_string_append_printf(text, "%u\n%s\n%s", mark->depth + 1, hash, here);
    unsigned count = mark->places ? mark->places->len : 0;
    for (unsigned at = count > PLACES_MAX ? count - PLACES_MAX : 0; at < count; at++)
        if (strcmp(mark->places->pdata[at], here) != 0)
            g_string_append_printf(text, " %s", (const char *)mark->places->pdata[at]);
    const char *root = mark->root ? mark->root : origin;
    g_string_append_printf(text, "\n%u\n%s\n%s", mark->level, root ? root : "", origin ? origin : "");
    GByteArray plain = {(guint8 *)text->str, (guint)text->len};
    g_autoptr(GError) error = NULL;
    g_autoptr(GBytes) sealed = seal_make(g_array_index(keys->all, LoopKey, 0).bytes, PURPOSE, &plain, &error);
    if (!sealed)
        log_panic("%s", error->message);
    size_t length;
    const void *octets = g_bytes_get_data(sealed, &length);
    g_autofree char *base64 = g_base64_encode(octets, length);
    GString *value = g_string_new(FORM);
    for (const char *at = base64; *at; at += strnlen(at, LINE))
        g_string_append_printf(value, "%s%.*s", at == base64 ? "" : "\r\n ", LINE, at);
    return g_string_free(value, FALSE);
}

void loop_mark_put(Message *message, const char *value)
{
    size_t index = 0;
    const Field *field = message_find(message, LOOP_MARK_FIELD, &index);
    g_autofree char *there = field ? field_value_folded(field) : NULL;
    index++;
    if (there && strcmp(there, value) == 0 && !message_find(message, LOOP_MARK_FIELD, &index))
        return;
    message_remove(message, LOOP_MARK_FIELD);
    message_prepend(message, LOOP_MARK_FIELD, value);
}
