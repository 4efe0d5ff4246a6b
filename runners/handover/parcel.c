/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/handover/parcel.h"

#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "switchboard/name.h"

#define MAGIC "listrunner-entry 1\n"
#define LINE_OCTETS 57 /* 76 characters of base64 */
#define LINE_CODED 78  /* with its end */

char *parcel_name(const Entry *entry, const char *host)
{
    return name_effect(host, entry_name(entry)->hash);
}

/* ---- writing ---- */

GBytes *parcel_pack(Entry *entry, const char *name, const char *queue)
{
    g_autoptr(json_t) label = json_pack("{ss ss sO}", "entry", name, "queue", queue, "meta", entry_meta(entry));
    char *label_text = json_dumps(label, JSON_COMPACT | JSON_SORT_KEYS);
    g_autoptr(GByteArray) plain = g_byte_array_new();
    g_autoptr(GBytes) message = entry_message(entry);
    g_byte_array_append(plain, (const guint8 *)MAGIC, strlen(MAGIC));
    g_byte_array_append(plain, (const guint8 *)label_text, (guint)strlen(label_text));
    free(label_text);
    g_byte_array_append(plain, (const guint8 *)"\n", 1);
    Recipient recipient;
    for (size_t at = 0; entry_next_recipient(entry, at, &recipient); at = recipient.next) {
        if (recipient.state != RECIPIENT_TODO)
            continue;
        g_byte_array_append(plain, (const guint8 *)recipient.address, (guint)recipient.length);
        g_byte_array_append(plain, (const guint8 *)"\n", 1);
    }
    g_byte_array_append(plain, (const guint8 *)"\n", 1);
    g_byte_array_append(plain, g_bytes_get_data(message, NULL), (guint)g_bytes_get_size(message));

    GString *coded = g_string_sized_new(plain->len / LINE_OCTETS * LINE_CODED + LINE_CODED + 1);
    for (guint at = 0; at < plain->len; at += LINE_OCTETS) {
        g_autofree char *line = g_base64_encode(plain->data + at, MIN(LINE_OCTETS, plain->len - at));
        g_string_append(coded, line);
        g_string_append(coded, "\r\n");
    }
    return g_string_free_to_bytes(coded);
}

uint64_t parcel_size(uint64_t plain)
{
    return (plain / LINE_OCTETS + 1) * LINE_CODED;
}

/* ---- reading ---- */

/* The next line, without its end; it is moved behind. NULL: there is none. */
static char *take_line(const char **text, const char *end)
{
    const char *feed = memchr(*text, '\n', (size_t)(end - *text));
    char *line = feed ? g_strndup(*text, (gsize)(feed - *text)) : NULL;
    *text = feed ? feed + 1 : end;
    return line;
}

static json_t *read_label(const char **text, const char *end, GError **error)
{
    size_t magic = strlen(MAGIC);
    g_autofree char *line = NULL;
    if ((size_t)(end - *text) > magic && memcmp(*text, MAGIC, magic) == 0) {
        *text += magic;
        line = take_line(text, end);
    }
    g_autoptr(json_t) label = line ? json_loads(line, JSON_REJECT_DUPLICATES, NULL) : NULL;
    const char *queue = meta_string(label, "queue", NULL);
    if (!json_is_object(json_object_get(label, "meta")) || !meta_string(label, "entry", NULL) || !queue) {
        fail(error, FAIL_NEVER, "it is no entry of another host");
        return NULL;
    }
    g_auto(GStrv) queues = g_strsplit(DOOR_QUEUES, " ", -1);
    if (!g_strv_contains((const char *const *)queues, queue)) {
        fail(error, FAIL_NEVER, "no host may put entries into the queue %s of another", queue);
        return NULL;
    }
    return g_steal_pointer(&label);
}

static bool read_recipients(const char **text, const char *end, Draft *draft, GError **error)
{
    GPtrArray *all = g_ptr_array_new_with_free_func(g_free);
    char *line;
    while ((line = take_line(text, end)) && *line)
        g_ptr_array_add(all, line);
    bool whole = line != NULL;
    g_free(line);
    g_ptr_array_set_free_func(all, NULL);
    g_ptr_array_add(all, NULL);
    bool some = all->len > 1;
    char **addresses = (char **)g_ptr_array_free(all, FALSE);
    if (some)
        draft_set_addresses(draft, addresses);
    else
        g_strfreev(addresses);
    return whole || fail(error, FAIL_NEVER, "the entry of another host is not whole");
}

static bool is_base64(const char *text, size_t length)
{
    for (size_t at = 0; at < length; at++)
        if (!g_ascii_isalnum(text[at]) && !strchr("+/=\r\n", text[at]))
            return false;
    return memchr(text, '\0', length) == NULL;
}

Draft *parcel_unpack(GBytes *content, GError **error)
{
    gsize length;
    const char *octets = g_bytes_get_data(content, &length);
    char *coded = length > 1 && is_base64(octets, length) ? g_strndup(octets, length) : g_strdup("");
    if (*coded)
        g_base64_decode_inplace(coded, &length);
    else
        length = 0;
    g_autoptr(GBytes) plain = g_bytes_new_take(coded, length);
    const char *text = coded, *end = coded + length;
    g_autoptr(json_t) label = read_label(&text, end, error);
    if (!label)
        return NULL;
    json_t *meta = json_deep_copy(json_object_get(label, "meta"));
    json_object_del(meta, KEY_HAND_TO);
    meta_set_string(meta, KEY_HANDED, meta_string(label, "entry", ""));
    meta_set_string(meta, KEY_HAND_QUEUE, meta_string(label, "queue", ""));
    meta_set_integer(meta, KEY_HANDED_AT, clock_now());
    /* The same entry may come twice, and is two entries then. */
    meta_set_integer(meta, META_ORDINAL, g_random_int() | (int64_t)(g_random_int() & 0xffff) << 32);
    g_autoptr(Draft) draft = draft_new(HANDOVER_QUEUE, meta);
    if (!read_recipients(&text, end, draft, error))
        return NULL;
    g_autoptr(GBytes) message = g_bytes_new_from_bytes(plain, (gsize)(text - coded), (gsize)(end - text));
    draft_add_message(draft, message);
    return g_steal_pointer(&draft);
}

char *parcel_effect(const char *name)
{
    return g_strconcat(HANDOVER_QUEUE ":", name, NULL);
}

HandedEntry parcel_handed(const json_t *meta, const char *effect, const char *spool)
{
    return (HandedEntry){.entry = effect,
                         .spool = spool,
                         .queue = meta_string(meta, KEY_HAND_QUEUE, ""),
                         .list = meta_string(meta, META_LIST, ""),
                         .message_id = meta_string(meta, KEY_MESSAGE_ID, ""),
                         .time = clock_now()};
}
