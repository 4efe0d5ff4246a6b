/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/received.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

/* The address in the first [...] of text; NULL: there is none. g_free() */
static char *bracketed(const char *text, size_t length)
{
    const char *open = memchr(text, '[', length);
    const char *close = open ? memchr(open, ']', (size_t)(text + length - open)) : NULL;
    if (!close)
        return NULL;
    open += g_ascii_strncasecmp(open + 1, "IPv6:", 5) == 0 ? 6 : 1;
    char *address = g_strndup(open, close > open ? (size_t)(close - open) : 0);
    if (g_hostname_is_ip_address(address))
        return address;
    g_free(address);
    return NULL;
}

char *received_client(const char *value)
{
    const char *from = value + strspn(value, " \t\r\n");
    if (g_ascii_strncasecmp(from, "from", 4) != 0)
        return NULL;
    /* An MTA leaves no bracket of this kind in the client's own name, so the first comment is the MTA's. */
    const char *open = strchr(from, '('), *close = open ? strchr(open, ')') : NULL;
    if (!close)
        return NULL;
    const char *helo = g_strstr_len(open, close - open, "helo=");
    g_autofree char *address = bracketed(open, (size_t)((helo ? helo : close) - open));
    if (!address && helo)
        address = bracketed(from, (size_t)(open - from));
    bool own = address && (g_str_has_prefix(address, "127.") || strcmp(address, "::1") == 0);
    return own ? NULL : g_steal_pointer(&address);
}
