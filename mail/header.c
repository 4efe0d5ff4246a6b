/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/header.h"

#include <errno.h>
#include <string.h>

#include "mail/transfer.h"

#define LINE_MAX_LENGTH 76
#define WORD_MAX 75
#define WORD_OVERHEAD 12 /* =?utf-8?b?...?= */
#define WORD_TEXT_MAX 998 /* octets of text in a word that is read: more than the 75 of RFC 2047, for a line at most */
#define REPLACEMENT "\xef\xbf\xbd"

/* One encoded word in a value. */
typedef struct Word {
    char *charset;
    GString *octets;
    const char *end; /* what follows it */
} Word;

static bool is_blank(char octet)
{
    return octet == ' ' || octet == '\t' || octet == '\r' || octet == '\n';
}

/* The Q encoding: quoted-printable in which an underscore is a blank. */
static void decode_q(const char *text, size_t length, GString *octets)
{
    for (const char *at = text, *end = text + length; at < end;) {
        int byte = *at == '_' ? (at++, ' ') : transfer_take_quoted(&at, end);
        if (byte >= 0)
            g_string_append_c(octets, (char)byte);
    }
}

static void word_clear(Word *word)
{
    g_clear_pointer(&word->charset, g_free);
    if (word->octets)
        g_string_free(word->octets, TRUE);
    word->octets = NULL;
}

/* Reads an encoded word at at: =?charset[*language]?B or Q?text?= */
static bool read_word(const char *at, Word *word)
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
    word->charset = g_strndup(charset, (size_t)((star ? star : mark) - charset));
    word->octets = g_string_new(NULL);
    word->end = end + 2;
    if (encoding == 'B')
        transfer_decode_base64(text, (size_t)(end - text), word->octets);
    else
        decode_q(text, (size_t)(end - text), word->octets);
    return true;
}

/* Converts octets; what the charset does not know becomes U+FFFD. */
static void append_converted(GString *text, const char *charset, const GString *octets)
{
    if (octets->len == 0)
        return;
    GIConv converter = (GIConv)-1;
    if (g_ascii_strcasecmp(charset, "utf-8") != 0)
        converter = g_iconv_open("UTF-8", charset);
    if (converter == (GIConv)-1) {
        g_autofree char *valid = g_utf8_make_valid(octets->str, (gssize)octets->len);
        g_string_append(text, valid);
        return;
    }
    char *from = octets->str;
    gsize left = octets->len;
    while (left > 0) {
        char buffer[512], *to = buffer;
        gsize room = sizeof buffer;
        errno = 0;
        gsize result = g_iconv(converter, &from, &left, &to, &room);
        g_string_append_len(text, buffer, to - buffer);
        if (result == (gsize)-1 && errno != E2BIG) {
            g_string_append(text, REPLACEMENT);
            from++;
            left--;
        }
    }
    g_iconv_close(converter);
}

/* Decodes a run of encoded words. A character may be cut between two words of
 * one charset, so their octets are joined first. */
static const char *append_words(GString *text, const char *at)
{
    Word word = {0}, next = {0};
    if (!read_word(at, &word))
        return at;
    const char *end = word.end;
    for (;;) {
        const char *gap = end;
        while (is_blank(*gap))
            gap++;
        if (!read_word(gap, &next))
            break;
        end = next.end;
        if (g_ascii_strcasecmp(word.charset, next.charset) == 0) {
            g_string_append_len(word.octets, next.octets->str, (gssize)next.octets->len);
            word_clear(&next);
        } else {
            append_converted(text, word.charset, word.octets);
            word_clear(&word);
            word = next;
            next = (Word){0};
        }
    }
    append_converted(text, word.charset, word.octets);
    word_clear(&word);
    return end;
}

char *header_decode(const char *value)
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (const char *at = value; *at;) {
        const char *end = append_words(text, at);
        if (end != at) {
            at = end;
            continue;
        }
        if (*at != '\r' && *at != '\n')
            g_string_append_c(text, *at);
        at++;
    }
    char *valid = g_utf8_make_valid(text->str, (gssize)text->len);
    for (char *at = valid; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 127)
            *at = ' ';
    return valid;
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

char *header_phrase(const char *text, size_t column)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    if (!is_plain(valid) || strlen(valid) > LINE_MAX_LENGTH * 2)
        return encode_words(valid, column);
    if (!strpbrk(valid, "()<>[]:;@,.\"\\"))
        return g_strdup(valid);
    GString *quoted = g_string_new("\"");
    for (const char *at = valid; *at; at++) {
        if (*at == '"' || *at == '\\')
            g_string_append_c(quoted, '\\');
        g_string_append_c(quoted, *at);
    }
    g_string_append_c(quoted, '"');
    return g_string_free(quoted, false);
}
