/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "net/socketmap.h"

#include <string.h>

#define LENGTH_DIGITS 4 /* of SOCKETMAP_REQUEST_MAX */

void socketmap_request_clear(SocketmapRequest *request)
{
    g_clear_pointer(&request->map, g_free);
    g_clear_pointer(&request->key, g_free);
}

/* The content is "MAP KEY"; a key may have blanks. */
static SocketmapStep split(const char *content, size_t length, SocketmapRequest *request)
{
    const char *blank = memchr(content, ' ', length);
    if (!blank || blank == content || memchr(content, '\0', length))
        return SOCKETMAP_BAD;
    request->map = g_strndup(content, (size_t)(blank - content));
    request->key = g_strndup(blank + 1, length - (size_t)(blank + 1 - content));
    return SOCKETMAP_ONE;
}

SocketmapStep socketmap_read(const char *octets, size_t length, size_t *used, SocketmapRequest *request)
{
    size_t at = 0, size = 0;
    for (; at < length && g_ascii_isdigit(octets[at]); at++) {
        if (at == LENGTH_DIGITS)
            return SOCKETMAP_BAD;
        size = size * 10 + (size_t)(octets[at] - '0');
    }
    if (size > SOCKETMAP_REQUEST_MAX)
        return SOCKETMAP_BAD;
    if (at == length)
        return SOCKETMAP_MORE;
    if (at == 0 || octets[at] != ':')
        return SOCKETMAP_BAD;
    const char *content = octets + at + 1;
    size_t rest = length - at - 1;
    if (rest <= size)
        return SOCKETMAP_MORE;
    if (content[size] != ',' || split(content, size, request) != SOCKETMAP_ONE)
        return SOCKETMAP_BAD;
    *used = at + 1 + size + 1;
    return SOCKETMAP_ONE;
}

static void reply(GString *output, const char *status, const char *text)
{
    g_autofree char *line = g_strdup(text);
    for (char *at = line; *at; at++)
        if (g_ascii_iscntrl(*at))
            *at = ' ';
    g_string_append_printf(output, "%zu:%s %s,", strlen(status) + 1 + strlen(line), status, line);
}

void socketmap_found(GString *output, const char *value)
{
    reply(output, "OK", value);
}

void socketmap_not_found(GString *output)
{
    reply(output, "NOTFOUND", "");
}

void socketmap_later(GString *output, const char *why)
{
    reply(output, "TEMP", why);
}

void socketmap_refused(GString *output, const char *why)
{
    reply(output, "PERM", why);
}
