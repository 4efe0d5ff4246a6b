/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * Any bytes as a part: what is read of it is within its bounds; enclosed whole or cut in two, the joined message is
 * the same, its body is the end of what was enclosed, and its header is one to the last byte.
 */
#include <string.h>

#include "mail/mime/parameter.h"
#include "mail/mime/partial.h"
#include "t/fuzz/fuzz.h"

#define HEAD "Content-Type: message/partial; id=x; number=1\r\n\r\n"

static void check_read(const Message *message)
{
    g_auto(Partial) partial = {0};
    if (!partial_read(message, &partial) || partial.fault)
        return;
    require(*partial.id && strlen(partial.id) <= PARTIAL_ID_MAX);
    require(partial.number >= 1 && partial.number <= PARTIAL_NUMBER_MAX);
    require(partial.total == 0 || (partial.total >= partial.number && partial.total <= PARTIAL_NUMBER_MAX));
}

static GBytes *enclose(const uint8_t *data, size_t size)
{
    GString *part = g_string_new(HEAD);
    g_string_append_len(part, (const char *)data, (gssize)size);
    return g_string_free_to_bytes(part);
}

/* However it is cut, the whole is the same, and its body is the end of what was enclosed. */
static void check_join(const uint8_t *data, size_t size, size_t cut)
{
    g_autoptr(GBytes) all = enclose(data, size), first = enclose(data, cut), second = enclose(data + cut, size - cut);
    GBytes *one[] = {all}, *two[] = {first, second};
    g_autoptr(GPtrArray) whole = partial_join(one, 1, NULL), again = partial_join(two, 2, NULL);
    require(whole->len == 2 && g_bytes_equal(whole->pdata[0], again->pdata[0]) &&
            g_bytes_equal(whole->pdata[1], again->pdata[1]));
    size_t length;
    const uint8_t *body = g_bytes_get_data(whole->pdata[1], &length);
    require(length <= size && (length == 0 || memcmp(body, data + size - length, length) == 0));
    g_autoptr(Message) head = message_new(whole->pdata[0]);
    g_autoptr(GBytes) rest = message_body(head);
    require(g_bytes_get_size(rest) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    g_autoptr(GBytes) octets = g_bytes_new(data, size);
    g_autoptr(Message) message = message_new(octets);
    check_read(message);
    g_autofree char *value = g_strndup((const char *)data, size);
    g_autofree char *field = g_strdup_printf("message/partial; %s", value);
    g_autoptr(ContentType) type = content_type_parse(value);
    g_autofree char *id = NULL, *token = content_token(value);
    content_type_parameter(type, "id", &id);
    message_prepend(message, "Content-Type", field);
    check_read(message);
    check_join(data, size, size / 2);
    check_join(data, size, size > 0 ? data[0] % size : 0);
    g_autofree char *digest = partial_digest(message);
    require(strlen(digest) == PARTIAL_KEY_DIGITS);
    return 0;
}
