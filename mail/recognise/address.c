/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <string.h>

#include "mail/recognise/report.h"

static bool is_local(char octet)
{
    return g_ascii_isalnum(octet) || (signed char)octet < 0 || (octet && strchr("!#$%&'*+-/=?^_`{|}~.", octet));
}

static bool is_domain(char octet)
{
    return g_ascii_isalnum(octet) || (signed char)octet < 0 || octet == '-' || octet == '.' || octet == '_';
}

/* The length of the domain that begins at at; 0 when it is none. */
static size_t domain_length(const char *at)
{
    if (*at == '[') {
        size_t literal = strspn(at + 1, "0123456789abcdefABCDEF:.IPv");
        return literal > 2 && at[1 + literal] == ']' ? literal + 2 : 0;
    }
    size_t length = 0;
    while (is_domain(at[length]) && length < 256)
        length++;
    while (length > 0 && strchr(".-_", at[length - 1]))
        length--;
    const char *dot = memrchr(at, '.', length);
    if (!dot || dot == at || *at == '-' || dot[-1] == '.' || dot[-1] == '-')
        return 0;
    for (const char *top = dot + 1; top < at + length; top++)
        if (g_ascii_isdigit(*top) && dot[1] != 'x')
            return 0; /* an IP address, a version */
    return g_strstr_len(at, (gssize)length, "..") ? 0 : length;
}

/* How far before sign (an @) the local part begins, not before start. */
static size_t local_length(const char *start, const char *sign)
{
    const char *at = sign;
    if (at > start && at[-1] == '"') {
        for (at -= 1; at > start && sign - at < 130; at--)
            if (at[-1] == '"' && (at - 1 == start || at[-2] != '\\'))
                return (size_t)(sign - at) > 1 ? (size_t)(sign - at) + 1 : 0;
        return 0;
    }
    while (at > start && is_local(at[-1]) && sign - at < 200)
        at--;
    while (at < sign && strchr("'`*=.|{}&?!/~", *at))
        at++;
    return sign > at && sign[-1] != '.' ? (size_t)(sign - at) : 0;
}

const char *address_scan(const char *at, size_t *length)
{
    const char *start = at;
    for (const char *sign = strchr(at, '@'); sign; sign = strchr(sign + 1, '@')) {
        size_t local = local_length(start, sign), domain = local > 0 ? domain_length(sign + 1) : 0;
        if (domain > 0) {
            *length = local + 1 + domain;
            return sign - local;
        }
        start = sign + 1;
    }
    return NULL;
}

const char *address_begins(const char *at, size_t *length)
{
    while (*at && strchr(" \t<'(", *at))
        at++;
    if (g_ascii_strncasecmp(at, "mailto:", 7) == 0)
        at += 7;
    const char *sign;
    if (*at == '@') { /* a source route: @relay,@relay:local@domain */
        at += strcspn(at, ": >");
        if (*at != ':')
            return NULL;
        at++;
    }
    if (*at == '"') {
        const char *quote = strchr(at + 1, '"');
        if (!quote || quote[1] != '@')
            at++;
        else
            return domain_length(quote + 2) > 0 ? (*length = (size_t)(quote - at) + 2 + domain_length(quote + 2), at)
                                                : NULL;
    }
    for (sign = at; is_local(*sign); sign++)
        ;
    if (*sign != '@' || sign == at || sign - at > 200)
        return NULL;
    while (*at && strchr("'`", *at))
        at++;
    size_t local = sign > at && sign[-1] != '.' ? (size_t)(sign - at) : 0, domain = domain_length(sign + 1);
    if (local == 0 || domain == 0)
        return NULL;
    *length = local + 1 + domain;
    return sign - local;
}
