/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <string.h>

#include "mail/header.h"
#include "mail/text/reply.h"
#include "mail/text/subject.h"
#include "posting/handler.h"
#include "store/lists/list_setting.h"

#define NAME "Subject: "
#define LINE_OCTETS 998 /* RFC 5322, 2.1.1 */

static size_t blanks(const char *text)
{
    return strspn(text, " \t\r\n");
}

/* A subject, taken apart. */
typedef struct SubjectParts {
    bool reply;       /* reply marks stood at the beginning */
    bool had_prefix;  /* the prefix stood before rest */
    GString *kept;    /* marks of forwarding and tags that stood before the prefix, each with a blank behind it */
    const char *rest; /* what stays as it is; borrowed */
} SubjectParts;

static void subject_parts_clear(SubjectParts *parts)
{
    g_string_free(parts->kept, TRUE);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(SubjectParts, subject_parts_clear)

/* The length of "[EXT]", "(EXT)", "{Spam?}" and the like at the beginning; 0: there is none. */
static size_t tag_length(const char *text)
{
    static const char opening[] = "[({", closing[] = "])}";
    const char *kind = *text ? strchr(opening, *text) : NULL;
    if (!kind)
        return 0;
    const char stops[] = {*kind, closing[kind - opening], '\0'};
    size_t length = strcspn(text + 1, stops) + 1;
    return text[length] == stops[1] ? length + 1 : 0;
}

/* Append a mark or a tag, unless it is there as the last one. */
static void keep_once(GString *kept, const char *piece, size_t length)
{
    g_autofree char *whole = g_strdup_printf("%.*s ", (int)length, piece);
    if (!g_str_has_suffix(kept->str, whole))
        g_string_append(kept, whole);
}

/* Skip what rest repeats of the marks kept before it: each round of a thread would add them anew. */
static const char *skip_repeated(const char *rest, const GString *kept)
{
    size_t length;
    do {
        length = kept->len > 0 && g_str_has_prefix(rest, kept->str) ? kept->len : 0;
        if (length == 0 && g_str_has_suffix(kept->str, "Re: "))
            length = reply_mark_length(rest);
        rest += length;
        rest += blanks(rest);
    } while (length > 0);
    return rest;
}

/* Find the prefix wherever it stands among the marks and tags at the beginning. Reply marks become "Re: "; those before
 * everything else are only noted. */
static void take_apart(const char *text, const char *pattern, SubjectParts *parts)
{
    const char *at = text + blanks(text);
    *parts = (SubjectParts){.kept = g_string_new(NULL), .rest = at};
    g_autoptr(GString) passed = g_string_new(NULL); /* to be kept if the prefix follows */
    for (;;) {
        bool behind = false; /* rest begins behind this one */
        size_t length = subject_prefix_length(at, pattern);
        if (length > 0) {
            parts->had_prefix = behind = true;
            g_string_assign(parts->kept, passed->str);
        } else if ((length = reply_mark_length(at)) > 0) {
            behind = passed->len == 0;
            parts->reply = parts->reply || behind;
            if (!behind)
                keep_once(passed, "Re:", strlen("Re:"));
        } else if ((length = reply_forward_length(at)) > 0 || (length = tag_length(at)) > 0) {
            keep_once(passed, at, length);
        } else {
            break;
        }
        at += length;
        at += blanks(at);
        if (behind)
            parts->rest = at;
    }
    parts->rest = skip_repeated(parts->rest, parts->kept);
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
    g_auto(SubjectParts) seen = {0}, sent = {0};
    g_autofree char *text = NULL;
    bool exact = header_decode_exactly(raw, &text);
    take_apart(text, pattern, &seen);
    take_apart(raw, pattern, &sent);
    bool same = sent.reply == seen.reply && sent.had_prefix == seen.had_prefix && g_string_equal(sent.kept, seen.kept);
    bool plain = same && is_raw(raw, sent.rest);
    g_autofree char *mark = g_strconcat(seen.reply ? "Re: " : "", seen.kept->str, NULL),
                    *raw_mark = g_strconcat(sent.reply ? "Re: " : "", sent.kept->str, NULL);
    /* Decoding would destroy some of it: what is encoded stays, with the marks that are in there. */
    if (!exact && !plain)
        return seen.had_prefix && !sent.had_prefix ? g_strdup(raw) : join(prefix, raw_mark, sent.rest);
    if (!*seen.rest)
        seen.rest = "(no subject)";
    else if (plain)
        return join(prefix, mark, sent.rest);
    g_autofree char *whole = g_strconcat(prefix, mark, seen.rest, NULL);
    return header_encode(whole, strlen(NAME));
}

static bool process(Post *post, GError **error)
{
    g_autofree char *pattern = g_strstrip(
        g_strdup(post->list->settings->subject_prefix ? post->list->settings->subject_prefix : ""));
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
