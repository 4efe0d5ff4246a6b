/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * A message of any bytes: unedited it is the same, edited and edited back
 * too; what was added is in the header for a reader who starts anew; the body
 * never changes; every value and every Subject can be read and written; a
 * header and a footer leave the body whole.
 */
#include <string.h>

#include "mail/header.h"
#include "mail/message.h"
#include "mail/mime/decorate.h"
#include "t/fuzz/fuzz.h"

static void require_same(GBytes *octets, const Message *message)
{
    g_autoptr(GBytes) head = message_head(message), body = message_body(message);
    size_t head_length, body_length, length;
    const char *whole = g_bytes_get_data(octets, &length);
    const char *first = g_bytes_get_data(head, &head_length), *second = g_bytes_get_data(body, &body_length);
    require(length == head_length + body_length && length == message_length(message));
    require(head_length == 0 || memcmp(whole, first, head_length) == 0);
    require(body_length == 0 || memcmp(whole + head_length, second, body_length) == 0);
}

static void read_fields(const Message *message)
{
    for (size_t at = 0; at < message_field_count(message); at++) {
        g_autofree char *value = field_value(message_field(message, at));
        require(!strpbrk(value, "\r\n"));
        g_autofree char *text = header_decode(value);
        require(g_utf8_validate(text, -1, NULL));
        g_autofree char *again = header_encode(text, at % 80), *phrase = header_phrase(text, at % 80);
        g_autofree char *back = header_decode(again);
        require(strcmp(text, back) == 0);
        for (const char *octet = phrase; *octet; octet++)
            require((unsigned char)*octet < 127);
    }
    g_autofree char *id = message_id(message);
    g_autofree char *hash = id ? message_id_hash(id) : NULL;
    require(!id || strlen(hash) == 32);
}

/* Whatever is put around it, the sender's body is there, in order and whole. */
static void check_decorated(Message *message)
{
    g_auto(Decorated) decorated = {0};
    g_autoptr(GBytes) body = message_body(message);
    decorate(message, &(Decoration){.header = "Kopf \xc3\xb6\n", .footer = "foot\n"}, &decorated);
    size_t length, found = 0;
    const char *text = g_bytes_get_data(body, &length);
    for (guint at = 0; at < decorated.pieces->len; at++) {
        size_t size;
        const char *piece = g_bytes_get_data(decorated.pieces->pdata[at], &size);
        if (!decorated_is_own(&decorated, decorated.pieces->pdata[at]))
            continue;
        require(piece == text + found);
        found += size;
    }
    require(found == length);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autoptr(GBytes) octets = g_bytes_new(data, size);
    g_autoptr(Message) message = message_new(octets);
    require_same(octets, message);
    read_fields(message);
    g_autofree char *value = g_strndup((const char *)data, MIN(size, 200));
    g_autoptr(GBytes) before = message_body(message);
    message_prepend(message, "X-Fuzz-First", value);
    message_append(message, "X-Fuzz-Last", value);
    message_set(message, "X-Fuzz-Set", "1");
    g_autoptr(GBytes) head = message_head(message), body = message_body(message);
    require(g_bytes_equal(before, body));
    g_autoptr(Message) again = message_new(head);
    require(message_has(again, "X-Fuzz-First") && message_has(again, "X-Fuzz-Last") &&
            message_has(again, "X-Fuzz-Set"));
    require(message_field_count(again) == message_field_count(message));
    g_autoptr(GBytes) rest = message_body(again);
    require(g_bytes_get_size(rest) == 0);
    message_remove(message, "X-Fuzz-First");
    message_remove(message, "X-Fuzz-Last");
    message_remove(message, "X-Fuzz-Set");
    if (!g_strstr_len((const char *)data, (gssize)size, "X-Fuzz"))
        require_same(octets, message);
    check_decorated(message);
    return 0;
}
