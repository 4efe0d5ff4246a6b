/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/text/base_subject.h"

#include <glib.h>
#include <string.h>

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

static void cut_trailers(char *text, bool *reply)
{
    for (;;) {
        g_strchomp(text);
        if (!g_str_has_suffix(text, "(fwd)"))
            return;
        text[strlen(text) - strlen("(fwd)")] = '\0';
        *reply = true;
    }
}

/* In lower case, with one blank in the place of several and of other white space. */
static char *folded(const char *subject)
{
    g_autofree char *valid = g_utf8_make_valid(subject, (gssize)strnlen(subject, SUBJECT_MAX));
    g_autofree char *lower = g_utf8_casefold(valid, -1);
    GString *text = g_string_new(NULL);
    for (const char *at = lower; *at; at = g_utf8_next_char(at)) {
        gunichar letter = g_utf8_get_char(at);
        bool blank = g_unichar_isspace(letter) || g_unichar_iscntrl(letter);
        if (!blank)
            g_string_append_unichar(text, letter);
        else if (text->len > 0 && text->str[text->len - 1] != ' ')
            g_string_append_c(text, ' ');
    }
    return g_string_free(text, FALSE);
}

char *base_subject(const char *subject, bool *reply)
{
    g_autofree char *text = folded(subject);
    char *at = text;
    *reply = false;
    for (;;) {
        cut_trailers(at, reply);
        at = skip_leaders(at, reply);
        size_t length = strlen(at);
        if (!g_str_has_prefix(at, "[fwd:") || at[length - 1] != ']')
            return g_strdup(at);
        at[length - 1] = '\0';
        at += strlen("[fwd:");
        *reply = true;
    }
}
