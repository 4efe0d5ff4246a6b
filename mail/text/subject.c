/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/text/subject.h"

#include <inttypes.h>
#include <string.h>

#define NUMBER_WIDTH_MAX 20

/* The length of the place for the post's number at text, "%d" or "%05d"; 0: there is none. */
static size_t place_length(const char *text)
{
    size_t digits = *text == '%' ? strspn(text + 1, "0123456789") : 0;
    return *text == '%' && text[digits + 1] == 'd' ? digits + 2 : 0;
}

size_t subject_prefix_length(const char *text, const char *pattern)
{
    const char *at = text;
    for (; *pattern; pattern++) {
        size_t place = place_length(pattern);
        if (place > 0) {
            at += strspn(at, " \t\r\n");
            size_t digits = strspn(at, "0123456789");
            if (digits == 0)
                return 0;
            at += digits;
            pattern += place - 1;
        } else if (g_ascii_toupper(*at) == g_ascii_toupper(*pattern)) {
            at++;
        } else {
            return 0;
        }
    }
    return (size_t)(at - text);
}

char *subject_prefix_make(const char *pattern, int64_t number)
{
    GString *prefix = g_string_new(NULL);
    const char *at = pattern;
    while (*at && place_length(at) == 0)
        at++;
    g_string_append_len(prefix, pattern, at - pattern);
    if (*at) { /* as C's printf() writes it: blanks, or after a zero zeros, up to the width */
        int width = (int)MIN(g_ascii_strtoull(at + 1, NULL, 10), NUMBER_WIDTH_MAX);
        g_string_append_printf(prefix, at[1] == '0' ? "%0*" PRId64 : "%*" PRId64, width, number);
        g_string_append(prefix, at + place_length(at));
    }
    g_string_append_c(prefix, ' ');
    return g_string_free(prefix, FALSE);
}

char *subject_prefix_bare(const char *pattern)
{
    g_autoptr(GString) bare = g_string_new(NULL);
    for (const char *at = pattern; *at;) {
        size_t place = place_length(at);
        if (place == 0)
            g_string_append_c(bare, *at++);
        at += place;
    }
    return g_strstrip(g_strdup(bare->str));
}

/* ---- the base subject ---- */

#define SUBJECT_MAX 1000 /* bytes that are looked at */

static const char *const markers[] = {"re",  "fwd", "fw",  "aw",  "sv",  "vs",   "antw", "wg",   "tr",   "rv",
                                      "rif", "res", "enc", "odp", "ynt", "回复", "回覆", "答复", "转发", "轉寄"};

/* The length of "[...]" and the blanks behind it at the beginning; 0: there is none. */
static size_t blob_length(const char *text)
{
    size_t length = *text == '[' ? strcspn(text + 1, "[]") + 1 : 0;
    if (length == 0 || text[length] != ']')
        return 0;
    return length + 1 + strspn(text + length + 1, " ");
}

/* The length of "re:", "re [blob]:", "re:" with a wide colon, at the beginning; 0: there is none. */
static size_t marker_length(const char *text)
{
    static const char wide_colon[] = "\xef\xbc\x9a";
    for (size_t i = 0; i < G_N_ELEMENTS(markers); i++) {
        if (!g_str_has_prefix(text, markers[i]))
            continue;
        size_t length = strlen(markers[i]);
        length += strspn(text + length, " ");
        length += blob_length(text + length); /* "re[2]:" */
        if (text[length] == ':')
            return length + 1;
        if (g_str_has_prefix(text + length, wide_colon))
            return length + strlen(wide_colon);
    }
    return 0;
}

/* Skips what stands before the base; returns where it begins. */
static char *skip_leaders(char *at, bool *reply)
{
    for (;;) {
        at += strspn(at, " ");
        size_t blobs = 0, blob;
        while ((blob = blob_length(at + blobs)) > 0)
            blobs += blob;
        size_t marker = marker_length(at + blobs);
        if (marker > 0) {
            *reply = true;
            at += blobs + marker;
            continue;
        }
        blob = blob_length(at);
        if (blob == 0 || !at[blob])
            return at;
        at += blob; /* a blob before a base that is not empty */
    }
}

char *base_subject(const char *subject, bool *reply)
{
    /* In lower case, with one blank in the place of several and of other white space. */
    g_autofree char *valid = g_utf8_make_valid(subject, (gssize)strnlen(subject, SUBJECT_MAX));
    g_autofree char *lower = g_utf8_casefold(valid, -1);
    g_autoptr(GString) text = g_string_new(NULL);
    for (const char *letter = lower; *letter; letter = g_utf8_next_char(letter)) {
        gunichar character = g_utf8_get_char(letter);
        if (!g_unichar_isspace(character) && !g_unichar_iscntrl(character))
            g_string_append_unichar(text, character);
        else if (text->len > 0 && text->str[text->len - 1] != ' ')
            g_string_append_c(text, ' ');
    }
    char *at = text->str;
    *reply = false;
    for (;;) {
        while (g_str_has_suffix(g_strchomp(at), "(fwd)")) {
            at[strlen(at) - strlen("(fwd)")] = '\0';
            *reply = true;
        }
        at = skip_leaders(at, reply);
        size_t length = strlen(at);
        if (!g_str_has_prefix(at, "[fwd:") || at[length - 1] != ']')
            return g_strdup(at);
        at[length - 1] = '\0';
        at += strlen("[fwd:");
        *reply = true;
    }
}
