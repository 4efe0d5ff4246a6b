/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * Topics: which of the list's topics a post is about, in X-Topics. A topic is "NAME: PATTERN" in the list's setting
 * topics, looked for in Subject and Keywords, and in so many lines of the text as topics_bodylines_limit says, where
 * they begin with "Subject:" or "Keywords:". Members who chose topics get those posts alone (store/lists/topic.h).
 */
#include <string.h>

#include "base/pattern.h"
#include "mail/header.h"
#include "posting/handler.h"
#include "store/lists/list_setting.h"
#include "store/lists/topic.h"

#define TEXT_MAX (16 * 1024)

static void add_field(GString *text, const Message *message, const char *name)
{
    size_t index = 0;
    for (const Field *field; text->len < TEXT_MAX && (field = message_find(message, name, &index)); index++) {
        g_autofree char *value = field_value(field), *shown = header_decode(value);
        g_string_append_printf(text, "%s\n", shown);
    }
}

/* The first lines of the body, until one that is neither empty nor such a field. */
static void add_body(GString *text, const Post *post)
{
    g_autoptr(GBytes) body = message_body(post->message);
    size_t left;
    const char *at = g_bytes_get_data(body, &left);
    for (int64_t line = 0; line < post->list->settings->topics_bodylines_limit && left > 0 && text->len < TEXT_MAX;
         line++) {
        const char *feed = memchr(at, '\n', left);
        size_t length = feed ? (size_t)(feed - at) + 1 : left;
        g_autofree char *valid = g_utf8_make_valid(at, (gssize)MIN(length, 1000));
        const char *trimmed = g_strstrip(valid);
        const char *colon = strchr(trimmed, ':');
        bool named = g_ascii_strncasecmp(trimmed, "Subject:", 8) == 0 ||
                     g_ascii_strncasecmp(trimmed, "Keywords:", 9) == 0;
        if (*trimmed && !named)
            return;
        if (named)
            g_string_append_printf(text, "%s\n", colon + 1);
        at += length;
        left -= length;
    }
}

static bool process(Post *post, GError **error)
{
    char **topics = post->list->settings->topics;
    if (!post->list->settings->topics_enabled || !topics || !*topics)
        return true;
    g_autoptr(GString) text = g_string_new(NULL);
    g_autoptr(GStrvBuilder) found = g_strv_builder_new();
    add_field(text, post->message, "Subject");
    add_field(text, post->message, "Keywords");
    add_body(text, post);
    message_remove(post->message, "X-Topics");
    for (; *topics; topics++) {
        g_autofree char *name = NULL, *pattern = NULL;
        if (topic_split(*topics, &name, &pattern) && (pattern_matches_text(pattern, text->str, post->patterns) ||
                                                        pattern_gave_up(pattern, post->patterns)))
            g_strv_builder_add(found, name);
    }
    g_strfreev(post->topics);
    post->topics = g_strv_builder_end(found);
    if (!*post->topics)
        return true;
    g_autofree char *names = g_strjoinv(", ", post->topics), *value = header_encode(names, strlen("X-Topics: "));
    message_append(post->message, "X-Topics", value);
    return true;
}

const Handler handler_tagger = {.name = "tagger", .process = process};
