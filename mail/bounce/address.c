/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <string.h>

#include "mail/bounce/report.h"

static bool is_local(char octet)
{
    return g_ascii_isalnum(octet) || (signed char)octet < 0 || (octet && strchr("!#$%&'*+-/=?^_`{|}~.", octet));
}

static bool is_domain(char octet)
{
    return g_ascii_isalnum(octet) || (signed char)octet < 0 || octet == '-' || octet == '.' || octet == '_';
}

/* Lead bytes of U+3000 and above: scripts that set no blank between an address and the words around it. */
static bool is_wide(char octet)
{
    return (unsigned char)octet >= 0xe3;
}

/* Does a sign stand at at that is in no address: quotation marks and dashes (U+2000 to U+206F), marks and brackets of
 * Asia (U+3000 to U+303F), full-width signs (U+FF00 to U+FF0F, U+FF1A to U+FF20, U+FF3B and above), guillemets? */
static bool is_mark(const char *at)
{
    const unsigned char *octet = (const unsigned char *)at;
    if (octet[0] == 0xc2)
        return octet[1] == 0xa0 || octet[1] == 0xab || octet[1] == 0xbb;
    if (octet[0] == 0xe2)
        return octet[1] == 0x80 || (octet[1] == 0x81 && octet[2] < 0xb0);
    if (octet[0] == 0xe3)
        return octet[1] == 0x80;
    if (octet[0] == 0xef && octet[1] == 0xbc)
        return octet[2] < 0x90 || (octet[2] >= 0x9a && octet[2] <= 0xa0) || octet[2] >= 0xbb;
    return octet[0] == 0xef && octet[1] == 0xbd;
}

/* The length of a domain's characters. "example.com" ends where a letter of another kind follows at once; a label that
 * begins with one ("x.\xe4\xbe\x8b.jp") is its own. */
static size_t domain_run(const char *at)
{
    size_t length = 0;
    while (is_domain(at[length]) && length < 256) {
        bool lead = (unsigned char)at[length] >= 0xc0;
        if (lead && (is_mark(at + length) || (is_wide(at[length]) && length > 0 && g_ascii_isalnum(at[length - 1]))))
            break;
        length++;
    }
    return length;
}

/* Where a local part begins that ends before sign, not before start. */
static const char *local_run(const char *start, const char *sign)
{
    const char *at = sign;
    while (at > start && is_local(at[-1]) && sign - at < 200) {
        const char *back = at - 1;
        if ((signed char)*back >= 0) {
            at = back;
            continue;
        }
        while (back > start && ((unsigned char)*back & 0xc0) == 0x80)
            back--;
        if (*back & 0x80 && (is_mark(back) || (is_wide(*back) && at < sign && g_ascii_isalnum(*at))))
            break;
        at = back;
    }
    return at;
}

/* The length of the domain that begins at at; 0 when it is none. */
static size_t domain_length(const char *at)
{
    if (*at == '[') {
        size_t literal = strspn(at + 1, "0123456789abcdefABCDEF:.IPv");
        return literal > 2 && at[1 + literal] == ']' ? literal + 2 : 0;
    }
    size_t length = domain_run(at);
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
    at = local_run(start, sign);
    const char *dots = g_strrstr_len(at, sign - at, "...");
    at = dots ? dots + 3 : at;
    while (at < sign && strchr("'`*=.|{}&?!/~", *at) && !(*at == '.' && at > start && at[-1] == '<'))
        at++;
    return (size_t)(sign - at);
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
    while ((*at && strchr(" \t<'(", *at)) || ((unsigned char)*at >= 0xe2 && is_mark(at)))
        at += (unsigned char)*at < 0x80 ? 1 : 3;
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
        const char *quote = at + 1;
        while (*quote && *quote != '"')
            quote += *quote == '\\' && quote[1] ? 2 : 1;
        if (*quote == '\0' || quote[1] != '@')
            at++;
        else
            return domain_length(quote + 2) > 0 ? (*length = (size_t)(quote - at) + 2 + domain_length(quote + 2), at)
                                                : NULL;
    }
    for (sign = at; is_local(*sign); sign++)
        ;
    if (*sign != '@' || sign == at || sign - at > 200 || local_run(at, sign) != at)
        return NULL;
    while (*at && strchr("'`", *at))
        at++;
    size_t local = sign > at ? (size_t)(sign - at) : 0, domain = domain_length(sign + 1);
    if (local == 0 || domain == 0)
        return NULL;
    *length = local + 1 + domain;
    return sign - local;
}

char *address_x400(const char *text)
{
    static const char *const marks[] = {"RFC-822=", "RFC822=", "SMTP="};
    static const struct {
        char letter, sign;
    } codes[] = {{'a', '@'}, {'b', '!'}, {'l', '('}, {'p', '%'}, {'q', '"'}, {'r', ')'}, {'u', '_'}};
    const char *at = NULL;
    for (size_t i = 0; i < G_N_ELEMENTS(marks) && !at; i++) {
        at = strcasestr(text, marks[i]);
        at = at ? at + strlen(marks[i]) : NULL;
    }
    if (!at)
        return NULL;
    GString *plain = g_string_new(NULL);
    for (; *at && !strchr("/;, \t\n", *at); at++) {
        size_t code = at[0] == '(' && at[1] && at[2] == ')' ? 0 : G_N_ELEMENTS(codes);
        while (code < G_N_ELEMENTS(codes) && codes[code].letter != g_ascii_tolower(at[1]))
            code++;
        g_string_append_c(plain, code < G_N_ELEMENTS(codes) ? codes[code].sign : *at);
        at += code < G_N_ELEMENTS(codes) ? 2 : 0;
    }
    return g_string_free(plain, FALSE);
}
