/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/outgoing/bounce.h"

#include <string.h>

#include "lists/keys.h"

/* Well below META_MAX, JSON escapes included. */
#define BOUNCE_OCTETS_MAX (META_MAX / 8)
#define BOUNCE_RECIPIENTS_MAX 1000
#define REPLY_MAX 500

static void copy_key(json_t *to, json_t *from, const char *key)
{
    json_t *value = json_object_get(from, key);
    if (value)
        json_object_set(to, key, value);
}

static bool was_reached(const Delivery *delivery)
{
    Recipient recipient;
    bool before = delivery->doubts > 0 || meta_bool(entry_meta(delivery->entry), KEY_REACHED);
    if (before || delivery->sent > 0 || delivery->lost)
        return true;
    for (size_t offset = 0; entry_next_recipient(delivery->entry, offset, &recipient); offset = recipient.next)
        if (recipient.state == RECIPIENT_DONE)
            return true;
    return false;
}

static bool is_post(const Delivery *delivery)
{
    const json_t *meta = entry_meta(delivery->entry);
    return *entry_list(delivery->entry) && meta_integer(meta, KEY_POST_ID, 0) > 0 &&
           meta_integer(meta, KEY_BLOCK, -1) >= 0;
}

bool bounce_is_unreached(const Delivery *delivery)
{
    return is_post(delivery) && !was_reached(delivery);
}

void bounce_keep_block(const Delivery *delivery, json_t *meta)
{
    if (!is_post(delivery) || meta_bool(meta, KEY_REACHED))
        return;
    if (was_reached(delivery)) {
        meta_set_bool(meta, KEY_REACHED, true);
        json_object_del(meta, KEY_BLOCK_OF);
        json_object_del(meta, KEY_BLOCK_SIZE);
        return;
    }
    if (meta_string(meta, KEY_BLOCK_OF, NULL))
        return;
    char of[HASH_DIGITS + 1];
    json_int_t count = 0;
    Recipient recipient;
    for (size_t offset = 0; entry_next_recipient(delivery->entry, offset, &recipient); offset = recipient.next)
        count++;
    name_hash_format(entry_name(delivery->entry)->hash, of);
    meta_set_string(meta, KEY_BLOCK_OF, of);
    meta_set_integer(meta, KEY_BLOCK_SIZE, count);
}

static void begin(BounceMaker *maker)
{
    maker->failures = json_array();
    maker->lost = json_array();
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

/* Make the entry of the failures so far. Its name is the same if this is done again: the due time and the ordinal are
 * part of it. */
static BounceDraft *cut(BounceMaker *maker)
{
    static const char *const kept[] = {META_LIST,   META_ARRIVAL,        KEY_MESSAGE_ID,
                                       KEY_POST_ID, KEY_ENVELOPE_SENDER, KEY_PRIORITY};
    static const char *const kept_of_block[] = {KEY_BLOCK,    KEY_BLOCK_MOST, KEY_BLOCKS,
                                                KEY_BLOCK_OF, KEY_BLOCK_SIZE, KEY_SENDER};
    Entry *entry = maker->delivery->entry;
    json_t *meta = json_object();
    json_t *from = entry_meta(entry);
    char of[HASH_DIGITS + 1];
    name_hash_format(entry_name(entry)->hash, of);
    for (size_t at = 0; at < G_N_ELEMENTS(kept); at++)
        copy_key(meta, from, kept[at]);
    meta_set_string(meta, META_TRACE, entry_trace(entry));
    uint8_t digest[HASH_SIZE];
    gsize digest_size = sizeof(digest);
    g_checksum_get_digest(maker->names, digest, &digest_size);
    int64_t ordinal = 0;
    for (int i = 0; i < 6; i++) /* 48 bits are exact in every JSON reader */
        ordinal = ordinal << 8 | digest[i];
    meta_set_integer(meta, META_ORDINAL, ordinal);
    meta_set_string(meta, KEY_TO, TO_BOUNCES);
    meta_set_string(meta, KEY_OF, of);
    meta_set_integer(meta, KEY_WRITING, (int64_t)g_random_int() << 16 | (g_random_int() & 0xffff));
    if (json_array_size(maker->failures) > 0)
        json_object_set(meta, KEY_FAILURES, maker->failures);
    if (json_array_size(maker->lost) > 0) {
        json_object_set(meta, KEY_LOST, maker->lost);
        meta_set_string(meta, KEY_LOST_REPLY, maker->lost_reply);
    }
    if (bounce_is_unreached(maker->delivery)) {
        for (size_t at = 0; at < G_N_ELEMENTS(kept_of_block); at++)
            copy_key(meta, from, kept_of_block[at]);
        bounce_keep_block(maker->delivery, meta);
    }
    g_clear_pointer(&maker->failures, json_decref);
    g_clear_pointer(&maker->lost, json_decref);
    g_clear_pointer(&maker->names, g_checksum_free);

    /* Of the message goes its header, up to and with the empty line. */
    g_autoptr(GBytes) message = entry_message(entry);
    size_t length;
    const char *octets = g_bytes_get_data(message, &length);
    const char *end = length > 0 ? memmem(octets, length, "\r\n\r\n", 4) : NULL;
    g_autoptr(GBytes) header = g_bytes_new_from_bytes(message, 0, end ? (size_t)(end - octets) + 4 : length);
    BounceDraft *bounce = g_new0(BounceDraft, 1);
    bounce->delivery = maker->delivery;
    bounce->draft = draft_new(BOUNCES_QUEUE, meta);
    bounce->offsets = g_steal_pointer(&maker->offsets);
    draft_add_message(bounce->draft, header);
    draft_set_due(bounce->draft, entry_arrival(entry));
    return bounce;
}

BounceDraft *bounce_empty_block(Delivery *delivery)
{
    const json_t *meta = entry_meta(delivery->entry);
    bool empty = bounce_is_unreached(delivery) && entry_recipients_length(delivery->entry) == 0 &&
                 (meta_integer(meta, KEY_BLOCK, 0) > 0 || meta_integer(meta, KEY_BLOCKS, 0) > 1) &&
                 !meta_integer(meta, KEY_BLOCK_MOST, 0);
    BounceMaker *maker = empty ? bounce_maker_new(delivery) : NULL;
    BounceDraft *draft = maker ? cut(maker) : NULL;
    if (maker)
        bounce_draft_free(bounce_maker_end(maker));
    return draft;
}

BounceDraft *bounce_maker_add(BounceMaker *maker, const Recipient *recipient, const Failure *failure)
{
    g_autofree char *address = g_strndup(recipient->address, recipient->length);
    g_autofree char *reply = g_utf8_make_valid(failure->reply, MIN((gssize)strlen(failure->reply), REPLY_MAX));
    if (failure->unasked) {
        json_array_append_new(maker->lost, json_string(address));
        if (!maker->lost_reply)
            maker->lost_reply = g_strdup(reply);
    } else {
        json_t *object = json_object();
        meta_set_string(object, "address", address);
        meta_set_string(object, "status", failure->status);
        meta_set_string(object, "reply", reply);
        if (failure->relay)
            meta_set_string(object, "relay", failure->relay);
        meta_set_string(object, "phase", failure->phase);
        json_array_append_new(maker->failures, object);
    }
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
    BounceDraft *last = maker->offsets && maker->offsets->len > 0 ? cut(maker) : NULL;
    json_decref(maker->failures);
    json_decref(maker->lost);
    g_free(maker->lost_reply);
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
