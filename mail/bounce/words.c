/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/bounce/words.h"

#include <stdint.h>
#include <string.h>

#define SHORT_WORD 4
#define PAIRS 65536

/* Lead bytes of scripts that set blanks between words: from 0xc3 (Latin) to 0xd4 (Cyrillic, Armenian). These scripts
 * have capitals, too. */
static bool is_lettered(char octet)
{
    return (unsigned char)octet >= 0xc3 && (unsigned char)octet <= 0xd4;
}

char *words_lower(const char *text, gssize length)
{
    gsize size = length < 0 ? strlen(text) : strnlen(text, (gsize)length);
    g_autofree char *lower = g_malloc(size + 1);
    bool capitals = false;
    for (gsize at = 0; at < size; at++) {
        lower[at] = text[at] >= 'A' && text[at] <= 'Z' ? (char)(text[at] | 0x20) : text[at];
        capitals = capitals || is_lettered(text[at]);
    }
    lower[size] = '\0';
    return capitals && g_utf8_validate_len(lower, size, NULL) ? g_utf8_strdown(lower, (gssize)size)
                                                               : g_steal_pointer(&lower);
}

/* Does a letter stand before at, so that no word begins there? */
static bool is_inside(const char *text, const char *at)
{
    if (at == text)
        return false;
    const char *before = at - 1;
    if ((signed char)*before >= 0)
        return g_ascii_isalnum(*before);
    while (before > text && ((unsigned char)*before & 0xc0) == 0x80)
        before--;
    return is_lettered(*before);
}

bool words_hold(const char *lower, const Phrase *phrase)
{
    const char *one = strstr(lower, phrase->one);
    if (!one || !phrase->two)
        return one;
    while (one && is_inside(lower, one))
        one = strstr(one + 1, phrase->one);
    return one && strstr(lower, phrase->two);
}

/* Which pairs of bytes a text has: what tells at once that it lacks most of the phrases. */
typedef struct Pairs {
    uint64_t bits[PAIRS / 64];
} Pairs;

static unsigned pair_at(const char *at)
{
    return (unsigned)(unsigned char)at[0] << 8 | (unsigned char)at[1];
}

static void pairs_take(Pairs *pairs, const char *text)
{
    memset(pairs, 0, sizeof *pairs);
    for (; text[0] && text[1]; text++)
        pairs->bits[pair_at(text) / 64] |= UINT64_C(1) << pair_at(text) % 64;
}

/* False: the text does not hold the piece. */
static bool pairs_allow(const Pairs *pairs, const char *piece)
{
    for (; piece[0] && piece[1]; piece++)
        if (!(pairs->bits[pair_at(piece) / 64] >> pair_at(piece) % 64 & 1))
            return false;
    return true;
}

size_t words_seek(const char *lower, const Phrase *phrases, const Phrase **found, size_t limit)
{
    size_t count = 0;
    Pairs pairs;
    pairs_take(&pairs, lower);
    for (; phrases->one && count < limit; phrases++)
        if (pairs_allow(&pairs, phrases->one) && (!phrases->two || pairs_allow(&pairs, phrases->two)) &&
            words_hold(lower, phrases))
            found[count++] = phrases;
    return count;
}

bool words_any(const char *lower, const Phrase *phrases)
{
    const Phrase *found;
    return words_seek(lower, phrases, &found, 1) > 0;
}

bool words_begin(const char *lower, const Phrase *phrases)
{
    for (; phrases->one; phrases++) {
        size_t length = strlen(phrases->one);
        for (const char *at = strstr(lower, phrases->one); at; at = strstr(at + 1, phrases->one)) {
            const char *end = at + length;
            bool goes_on = g_ascii_isalnum(*end) || is_lettered(*end);
            if (!is_inside(lower, at) && (g_utf8_strlen(phrases->one, -1) > SHORT_WORD || !goes_on))
                return true;
        }
    }
    return false;
}

bool words_lead(const char *lower, const Phrase *phrases)
{
    for (; phrases->one; phrases++)
        if (g_str_has_prefix(lower, phrases->one))
            return true;
    return false;
}

bool words_is(const char *lower, const Phrase *phrases)
{
    for (; phrases->one; phrases++)
        if (strcmp(lower, phrases->one) == 0)
            return true;
    return false;
}

const char *words_reason_of(const char *lower)
{
    Pairs pairs;
    pairs_take(&pairs, lower);
    for (const ReasonPhrase *row = words_reason; row->words; row++) {
        const char *found = pairs_allow(&pairs, row->words) ? strstr(lower, row->words) : NULL;
        bool worded = g_ascii_isalpha(*row->words) || is_lettered(*row->words); /* its script sets blanks */
        while (found && worded && is_inside(lower, found))
            found = strstr(found + 1, row->words);
        if (found)
            return row->reason;
    }
    return NULL;
}

/* ---- codes ---- */

/* The length of a status that begins at at ("5.1.1"); 0 when none does. */
static size_t status_length(const char *at)
{
    size_t length = 1;
    if (!strchr("245", *at) || *at == '\0')
        return 0;
    for (int part = 0; part < 2; part++) {
        size_t digits = at[length] == '.' ? strspn(at + length + 1, "0123456789") : 0;
        if (digits < 1 || digits > 3)
            return 0;
        length += 1 + digits;
    }
    return at[length] == '.' && g_ascii_isdigit(at[length + 1]) ? 0 : length;
}

void status_scan(const char *text, char status[STATUS_SIZE])
{
    status[0] = '\0';
    for (const char *at = strchr(text, '.'); at; at = strchr(at + 1, '.')) {
        const char *start = at - 1;
        size_t length = at > text ? status_length(start) : 0;
        if (length == 0 || (start > text && (g_ascii_isalnum(start[-1]) || strchr(".[-", start[-1])) &&
                            !(start - text >= 4 && start[-1] == '-' && g_ascii_isdigit(start[-2]))))
            continue;
        if (*start == '2')
            continue;
        bool vague = strncmp(start + 1, ".0.0", 4) == 0;
        if (status[0] && vague)
            continue;
        bool replace = !status[0] || (strncmp(status + 1, ".0.0", 4) == 0 && !vague);
        if (replace)
            g_strlcpy(status, start, MIN(length + 1, STATUS_SIZE));
        if (!vague)
            return;
    }
}

const char *reply_find(const char *text)
{
    static const char before[] = " \t\n:;('\"<#=>-";
    for (const char *at = strpbrk(text, "45"); at; at = strpbrk(at + 1, "45")) {
        if (!g_ascii_isdigit(at[1]) || at[1] > '9' || !g_ascii_isdigit(at[2]) || g_ascii_isalnum(at[3]))
            continue;
        if (at[1] > '5' || (at[3] && !strchr(" -\t\n:;,.'\")<#", at[3])))
            continue;
        if ((at[3] == '.' || at[3] == ',' || at[3] == ':') && g_ascii_isdigit(at[4]))
            continue;
        if (at == text || strchr(before, at[-1]))
            return at;
    }
    return NULL;
}

unsigned reply_scan(const char *text)
{
    const char *at = reply_find(text);
    return at ? (unsigned)(at[0] - '0') * 100 + (unsigned)(at[1] - '0') * 10 + (unsigned)(at[2] - '0') : 0;
}

/* ---- addresses ---- */

static bool is_local(char octet)
{
    return g_ascii_isalnum(octet) || (signed char)octet < 0 || (octet && strchr("!#$%&'*+-/=?^_`{|}~.", octet));
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
    /* "example.com" ends where a letter of another kind follows at once; a label that begins with one
     * ("x.\xe4\xbe\x8b.jp") is its own. */
    size_t length = 0;
    for (; length < 256; length++) {
        char octet = at[length];
        bool lead = (unsigned char)octet >= 0xc0, behind = length > 0 && g_ascii_isalnum(at[length - 1]);
        if (!(g_ascii_isalnum(octet) || (signed char)octet < 0 || octet == '-' || octet == '.' || octet == '_') ||
            (lead && (is_mark(at + length) || (is_wide(octet) && behind))))
            break;
    }
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
