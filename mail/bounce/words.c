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
