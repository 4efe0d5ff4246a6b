/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/outgoing/bounce.h"

#include <string.h>

#include "runners/keys.h"

/* Well below META_MAX, JSON escapes included. */
#define BOUNCE_OCTETS_MAX (META_MAX / 8)
#define BOUNCE_RECIPIENTS_MAX 1000
#define REPLY_MAX 500

/* Up to and with the empty line. */
static GBytes *header_only(Entry *entry)
{
    g_autoptr(GBytes) message = entry_message(entry);
    size_t length;
    const char *octets = g_bytes_get_data(message, &length);
    const char *end = length > 0 ? memmem(octets, length, "\r\n\r\n", 4) : NULL;
    return g_bytes_new_from_bytes(message, 0, end ? (size_t)(end - octets) + 4 : length);
}

static void copy_key(json_t *to, json_t *from, const char *key)
{
    json_t *value = json_object_get(from, key);
    if (value)
        json_object_set(to, key, value);
}

static void begin(BounceMaker *maker)
{
    maker->failures = json_array();
    maker->octets = 0;
    maker->offsets = g_array_new(FALSE, FALSE, sizeof(size_t));
    maker->names = g_checksum_new(G_CHECKSUM_SHA1);
    g_checksum_update(maker->names, entry_name(maker->delivery->entry)->hash, HASH_SIZE);
}

BounceMaker *bounce_maker_new(Delivery *delivery)
{
    BounceMaker *maker = g_new0(BounceMaker, 1);
    maker->delivery = delivery;
    begin(maker);
    return maker;
}

/* 48 bits, exact in every JSON reader. */
static int64_t ordinal_of(GChecksum *names)
{
    uint8_t digest[HASH_SIZE];
    gsize length = sizeof(digest);
    g_checksum_get_digest(names, digest, &length);
    int64_t ordinal = 0;
    for (int i = 0; i < 6; i++)
        ordinal = ordinal << 8 | digest[i];
    return ordinal;
}

static BounceDraft *cut(BounceMaker *maker)
{
    Entry *entry = maker->delivery->entry;
    json_t *meta = json_object();
    json_t *from = entry_meta(entry);
    char of[HASH_DIGITS + 1];
    name_hash_format(entry_name(entry)->hash, of);
    copy_key(meta, from, META_LIST);
    copy_key(meta, from, META_ARRIVAL);
    copy_key(meta, from, KEY_MESSAGE_ID);
    copy_key(meta, from, KEY_POST_ID);
    copy_key(meta, from, KEY_ENVELOPE_SENDER);
    copy_key(meta, from, KEY_PRIORITY);
    meta_set_string(meta, META_TRACE, entry_trace(entry));
    meta_set_integer(meta, META_ORDINAL, ordinal_of(maker->names));
    meta_set_string(meta, KEY_TO, TO_BOUNCES);
    meta_set_string(meta, KEY_OF, of);
    meta_set_integer(meta, KEY_WRITING, (int64_t)g_random_int() << 16 | (g_random_int() & 0xffff));
    json_object_set_new(meta, KEY_FAILURES, g_steal_pointer(&maker->failures));
    BounceDraft *bounce = g_new0(BounceDraft, 1);
    bounce->delivery = maker->delivery;
    bounce->draft = draft_new(BOUNCES_QUEUE, meta);
    bounce->offsets = g_steal_pointer(&maker->offsets);
    g_autoptr(GBytes) header = header_only(entry);
    draft_add_message(bounce->draft, header);
    /* The due time is part of the name: it must be the same if this is done again. */
    draft_set_due(bounce->draft, entry_arrival(entry));
    g_clear_pointer(&maker->names, g_checksum_free);
    return bounce;
}

BounceDraft *bounce_maker_add(BounceMaker *maker, const Recipient *recipient, const Failure *failure)
{
    g_autofree char *address = g_strndup(recipient->address, recipient->length);
    g_autofree char *reply = g_utf8_make_valid(failure->reply, MIN((gssize)strlen(failure->reply), REPLY_MAX));
    json_t *object = json_object();
    meta_set_string(object, "address", address);
    meta_set_string(object, "status", failure->status);
    meta_set_string(object, "reply", reply);
    if (failure->relay)
        meta_set_string(object, "relay", failure->relay);
    if (failure->of_message)
        meta_set_bool(object, "of_message", true);
    json_array_append_new(maker->failures, object);
    g_checksum_update(maker->names, (const guchar *)address, (gssize)recipient->length + 1);
    g_array_append_val(maker->offsets, recipient->offset);
    maker->octets += recipient->length + strlen(reply) + 100;
    if (maker->octets < BOUNCE_OCTETS_MAX && maker->offsets->len < BOUNCE_RECIPIENTS_MAX)
        return NULL;
    BounceDraft *full = cut(maker);
    begin(maker);
    return full;
}

BounceDraft *bounce_maker_end(BounceMaker *maker)
{
    BounceDraft *last = maker->offsets->len > 0 ? cut(maker) : NULL;
    json_decref(maker->failures);
    if (maker->offsets)
        g_array_unref(maker->offsets);
    g_clear_pointer(&maker->names, g_checksum_free);
    g_free(maker);
    return last;
}

void bounce_draft_free(BounceDraft *bounce)
{
    if (!bounce)
        return;
    draft_free(bounce->draft);
    g_array_unref(bounce->offsets);
    g_free(bounce);
}
