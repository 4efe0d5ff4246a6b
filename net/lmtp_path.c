/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <string.h>

#include "base/mailbox.h"
#include "net/lmtp_internal.h"

/* The '@' between local part and domain, or NULL. */
static const char *find_at(const char *at, const char *end)
{
    bool quoted = false;
    for (; at < end; at++)
        if (quoted && *at == '\\')
            at++;
        else if (*at == '"')
            quoted = !quoted;
        else if (!quoted && *at == '@')
            return at;
    return NULL;
}

static bool domain_valid(const char *at, const char *end)
{
    if (at == end)
        return false;
    for (; at < end; at++)
        if (!g_ascii_isalnum(*at) && (unsigned char)*at < 128 && !strchr("-._[]:", *at))
            return false;
    return true;
}

bool lmtp_path_read(const char **text, char **address)
{
    const char *at = *text;
    if (*at++ != '<')
        return false;
    const char *end = at + mailbox_path_length(at, strlen(at));
    if (*end != '>')
        return false;
    if (*at == '@') { /* RFC 5321 4.1.2: a source route is accepted and ignored */
        const char *colon = memchr(at, ':', (size_t)(end - at));
        if (!colon || colon + 1 == end)
            return false;
        at = colon + 1;
    }
    if (at < end) {
        const char *sign = find_at(at, end);
        if (sign == at || (sign && !domain_valid(sign + 1, end)))
            return false;
    }
    *address = g_strndup(at, (size_t)(end - at));
    *text = end + 1;
    return true;
}

bool lmtp_parameter_read(const char **text, char **keyword, char **value)
{
    *keyword = *value = NULL;
    const char *at = *text;
    if (*at && *at != ' ')
        return false;
    at += strspn(at, " ");
    const char *end = at;
    while (g_ascii_isalnum(*end) || *end == '-')
        end++;
    *text = at;
    if (end == at)
        return *at == '\0';
    const char *from = end;
    if (*end == '=') {
        from = ++end;
        while (*end && *end != ' ' && *end != '=')
            end++;
        if (from == end)
            return false;
        *value = g_strndup(from, (size_t)(end - from));
        from--;
    }
    if (*end && *end != ' ') {
        g_clear_pointer(value, g_free);
        return false;
    }
    *keyword = g_strndup(at, (size_t)(from - at));
    *text = end;
    return true;
}
