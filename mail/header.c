/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/header.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

#include "base/bytes.h"
#include "mail/charset.h"
#include "mail/header.h"
#include "mail/transfer.h"

#define LINE_MAX_LENGTH 76
#define WORD_MAX 75
#define WORD_OVERHEAD 12 /* =?utf-8?b?...?= */
#define WORD_TEXT_MAX 998 /* bytes of text in a word that is read: more than the 75 of RFC 2047, for a line at most */

/* Encoded words of one charset that follow each other. */
typedef struct Run {
    char *charset;
    GString *octets; /* of all its words */
    GArray *ends;    /* of size_t: where in octets each word ends */
    const char *end; /* what follows it */
} Run;

static void run_clear(Run *run)
{
    g_free(run->charset);
    g_string_free(run->octets, TRUE);
    g_array_unref(run->ends);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Run, run_clear)

/* Read an encoded word at at, =?charset[*language]?B or Q?text?=, into the run if its charset is that of the run. */
static bool read_word(const char *at, Run *run)
{
    if (at[0] != '=' || at[1] != '?')
        return false;
    const char *charset = at + 2, *mark = charset;
    while ((unsigned char)*mark > ' ' && (unsigned char)*mark < 127 && *mark != '?')
        mark++;
    if (*mark != '?' || mark == charset || !mark[1] || mark[2] != '?')
        return false;
    char encoding = g_ascii_toupper(mark[1]);
    const char *text = mark + 3, *end = text;
    while (*end && !(end[0] == '?' && end[1] == '=') && *end != '\n' && end - text < WORD_TEXT_MAX)
        end++;
    if (end[0] != '?' || end[1] != '=' || (encoding != 'B' && encoding != 'Q'))
        return false;
    const char *star = memchr(charset, '*', (size_t)(mark - charset));
    g_autofree char *label = g_strndup(charset, (size_t)((star ? star : mark) - charset));
    if (run->charset && !charset_same(run->charset, label))
        return false;
    if (!run->charset)
        run->charset = g_steal_pointer(&label);
    run->end = end + 2;
    if (encoding == 'B')
        transfer_decode_base64(text, (size_t)(end - text), run->octets);
    for (const char *next = text; encoding == 'Q' && next < end;) { /* quoted-printable in which "_" is a blank */
        int byte = *next == '_' ? (next++, ' ') : transfer_take_quoted(&next, end);
        if (byte >= 0)
            g_string_append_c(run->octets, (char)byte);
    }
    g_array_append_val(run->ends, run->octets->len);
    return true;
}

/* The first control character, C1 among them. */
static char *find_control(char *at)
{
    for (; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 127 || (*at == '\xc2' && (unsigned char)at[1] < 0xa0))
            return at;
    return NULL;
}

/* Decode a run of encoded words; return what follows it, or at itself when none is there. Set *exact to false where
 * something was lost. A character may be cut between two words, so their octets are joined first. */
static const char *append_words(GString *text, const char *at, bool *exact)
{
    g_auto(Run) run = {.octets = g_string_new(NULL), .ends = g_array_new(FALSE, FALSE, sizeof(size_t))};
    for (const char *next = at; read_word(next, &run);)
        for (next = run.end; byte_is_blank(*next);)
            next++;
    if (!run.end)
        return at;
    g_autoptr(GString) joined = g_string_new(NULL), apart = g_string_new(NULL);
    bool whole = charset_decode(run.charset, run.octets->str, run.octets->len, false, joined);
    bool split = !whole && run.ends->len > 1;
    /* Where a charset with escapes begins anew in each word, each is right for itself. */
    for (size_t word = 0, start = 0; split && word < run.ends->len; word++) {
        size_t end = g_array_index(run.ends, size_t, word);
        split = charset_decode(run.charset, run.octets->str + start, end - start, false, apart);
        start = end;
    }
    const GString *best = split ? apart : joined;
    *exact = *exact && (whole || split) && strlen(best->str) == best->len && !find_control(best->str);
    g_string_append_len(text, best->str, (gssize)best->len);
    return run.end;
}

bool header_decode_exactly(const char *value, char **text)
{
    g_autoptr(GString) out = g_string_new(NULL);
    bool exact = true, behind_word = false;
    for (const char *at = value; *at;) {
        const char *word = at;
        while (behind_word && byte_is_blank(*word))
            word++;
        const char *end = *word == '=' ? append_words(out, word, &exact) : word;
        behind_word = end != word;
        if (behind_word) {
            at = end;
            continue;
        }
        if (*at != '\r' && *at != '\n')
            g_string_append_c(out, *at == '\t' ? ' ' : *at);
        at++;
    }
    exact = exact && g_utf8_validate_len(out->str, out->len, NULL);
    *text = g_utf8_make_valid(out->str, (gssize)out->len);
    for (char *at = *text; (at = find_control(at)); exact = false) {
        if (*at == '\xc2')
            *at++ = ' ';
        *at++ = ' ';
    }
    return exact;
}

char *header_decode(const char *value)
{
    char *text;
    header_decode_exactly(value, &text);
    return text;
}

char *header_show(const char *value)
{
    g_autofree char *text = NULL;
    bool exact = header_decode_exactly(value, &text);
    return exact || bytes_8bit(value, strlen(value)) ? g_steal_pointer(&text) : g_strdup(value);
}

/* Too long for a line of 998 bytes (RFC 5322, 2.1.1) with what stands before and behind it: only encoded words can be
 * folded inside. */
#define PLAIN_WORD_MAX 800

static bool is_plain(const char *text)
{
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, " ");
        if (length > PLAIN_WORD_MAX)
            return false;
        at += length + (at[length] != '\0');
    }
    for (const char *at = text; *at; at++)
        if ((unsigned char)*at < ' ' || (unsigned char)*at >= 127)
            return false;
    return !strstr(text, "=?");
}

/* Breaks lines before blanks, where there are any. */
static char *fold(const char *text, size_t column)
{
    GString *folded = g_string_new(NULL);
    const char *at = text;
    while (*at) {
        size_t length = 1 + strcspn(at + 1, " ");
        if (column + length > LINE_MAX_LENGTH && *at == ' ' && at[1] && at[1] != ' ' && folded->len > 0) {
            g_string_append(folded, "\r\n");
            column = 0;
        }
        g_string_append_len(folded, at, (gssize)length);
        column += length;
        at += length;
    }
    return g_string_free(folded, false);
}

static char *encode_words(const char *text, size_t column)
{
    GString *value = g_string_new(NULL);
    for (const char *at = text; *at;) {
        size_t room = column + WORD_OVERHEAD + 8 < LINE_MAX_LENGTH ? LINE_MAX_LENGTH - column : WORD_MAX;
        size_t octets = (MIN(room, WORD_MAX) - WORD_OVERHEAD) / 4 * 3;
        const char *end = at;
        while (*end && (size_t)(g_utf8_next_char(end) - at) <= octets)
            end = g_utf8_next_char(end);
        g_autofree char *base64 = g_base64_encode((const guchar *)at, (gsize)(end - at));
        g_string_append_printf(value, "%s=?utf-8?b?%s?=", at == text ? "" : "\r\n ", base64);
        column = 1;
        at = end;
    }
    return g_string_free(value, false);
}

char *header_encode(const char *text, size_t column)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    return is_plain(valid) ? fold(valid, column) : encode_words(valid, column);
}

#define SPECIALS "()<>[]:;@,.\"\\"

static char *quote(const char *text)
{
    GString *quoted = g_string_new("\"");
    for (const char *at = text; *at; at++) {
        if (*at == '"' || *at == '\\')
            g_string_append_c(quoted, '\\');
        g_string_append_c(quoted, *at);
    }
    g_string_append_c(quoted, '"');
    return g_string_free(quoted, false);
}

char *header_phrase(const char *text, size_t column)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    if (!is_plain(valid) || strlen(valid) > LINE_MAX_LENGTH * 2)
        return encode_words(valid, column);
    return strpbrk(valid, SPECIALS) ? quote(valid) : g_strdup(valid);
}

char *header_phrase_raw(const char *display, size_t column)
{
    g_autofree char *phrase = strpbrk(display, SPECIALS) ? quote(display) : g_strdup(display);
    return fold(phrase, column);
}

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
