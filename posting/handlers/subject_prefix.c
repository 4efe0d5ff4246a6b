/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <string.h>

#include "mail/header.h"
#include "mail/reply.h"
#include "mail/subject.h"
#include "posting/handler.h"

#define NAME "Subject: "
#define LINE_OCTETS 998 /* RFC 5322, 2.1.1 */

static size_t blanks(const char *text)
{
    return strspn(text, " \t\r\n");
}

/* Skips reply marks and our prefix at the beginning, in any order. */
static const char *skip_known(const char *text, const char *prefix, bool *reply, bool *had_prefix)
{
    const char *at = text + blanks(text);
    for (;;) {
        size_t length = reply_mark_length(at);
        if (length > 0) {
            *reply = true;
        } else {
            length = subject_prefix_length(at, prefix);
            *had_prefix = *had_prefix || length > 0;
        }
        if (length == 0)
            return at;
        at += length;
        at += blanks(at);
    }
}

/* Is every byte on the way to rest plain, so that the rest can stay as raw text? */
static bool is_raw(const char *from, const char *rest)
{
    for (; from < rest; from++)
        if ((unsigned char)*from >= 128)
            return false;
    return true;
}

/* Where the sender's first line has no room behind the prefix, it becomes a line of its own. */
static const char *gap_before(const char *front, const char *mark, const char *raw_rest)
{
    const char *feed = strrchr(front, '\n');
    size_t column = feed ? strlen(feed + 1) : strlen(NAME) + strlen(front);
    return column + 1 + strlen(mark) + strcspn(raw_rest, "\r\n") > LINE_OCTETS ? "\r\n " : " ";
}

/* The blank between two encoded words vanishes for readers: there the prefix
 * has one inside. */
static char *join(const char *prefix, const char *mark, const char *raw_rest)
{
    g_autofree char *bare = g_strchomp(g_strdup(prefix)), *front = header_encode(bare, strlen(NAME));
    bool encoded = strstr(front, "=?") != NULL;
    if (encoded && !*mark && g_str_has_prefix(raw_rest, "=?")) {
        g_free(front);
        front = header_encode(prefix, strlen(NAME));
    }
    return g_strconcat(front, gap_before(front, mark, raw_rest), mark, raw_rest, NULL);
}

/* The value with the prefix. The sender's own words stay raw wherever they
 * can: only what stands before them is written anew. */
static char *build(const char *raw, const char *pattern, const char *prefix)
{
    bool reply = false, had = false, raw_reply = false, raw_had = false;
    g_autofree char *text = NULL;
    bool exact = header_decode_exactly(raw, &text);
    const char *rest = skip_known(text, pattern, &reply, &had);
    const char *raw_rest = skip_known(raw, pattern, &raw_reply, &raw_had);
    bool plain = raw_reply == reply && raw_had == had && is_raw(raw, raw_rest);
    /* Decoding would destroy some of it: what is encoded stays, with the marks that are in there. */
    if (!exact && !plain)
        return had && !raw_had ? g_strdup(raw) : join(prefix, raw_reply ? "Re: " : "", raw_rest);
    const char *mark = reply ? "Re: " : "";
    if (!*rest)
        rest = "(no subject)";
    else if (plain)
        return join(prefix, mark, raw_rest);
    g_autofree char *whole = g_strconcat(prefix, mark, rest, NULL);
    return header_encode(whole, strlen(NAME));
}

static bool process(Post *post, GError **error)
{
    g_autofree char *pattern = g_strstrip(g_strdup(post->list->subject_prefix ? post->list->subject_prefix : ""));
    if (!*pattern || post->ours)
        return true;
    g_autofree char *prefix = subject_prefix_make(pattern, post->post_id);
    const Field *field = message_find(post->message, "Subject", NULL);
    g_autofree char *raw = field ? field_value_folded(field) : g_strdup("");
    /* "[test] Re: x" is as it must be already, unless the number differs. */
    g_autofree char *value = build(raw, pattern, prefix);
    if (strcmp(value, raw) == 0)
        return true;
    if (field && !post->author_subject) /* a pipeline may name this handler twice */
        post->author_subject = g_strdup(raw);
    message_set(post->message, "Subject", value);
    return true;
}

const Handler handler_subject_prefix = {.name = "subject-prefix", .process = process};
