/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <string.h>

#include "base/pattern.h"
#include "mail/header.h"
#include "posting/rule.h"
#include "store/lists/list_setting.h"

static bool fits(Post *post, const char *name, const char *pattern)
{
    size_t index = 0;
    for (const Field *field; (field = message_find(post->message, name, &index)); index++) {
        g_autofree char *value = field_value(field), *shown = header_decode(value);
        if (pattern_matches_text(pattern, shown, post->patterns))
            return true;
    }
    return false;
}

/* The list's own lines "Field: pattern" (bounce_matching_headers), as Mailman 2 had them. */
static bool check(Post *post, bool *hit, GError **error)
{
    const char *text = post->list->settings->bounce_matching_headers;
    g_auto(GStrv) lines = g_strsplit(text ? text : "", "\n", -1);
    *hit = false;
    for (char **line = lines; *line && !*hit; line++) {
        char *colon = strchr(g_strstrip(*line), ':');
        if (**line == '#' || !colon)
            continue;
        *colon = '\0';
        const char *pattern = g_strstrip(colon + 1);
        *hit = *pattern && (fits(post, g_strchomp(*line), pattern) || pattern_gave_up(pattern, post->patterns));
        if (*hit)
            post_add_reason(post, "The field %s of the message looks suspicious.", *line);
    }
    return true;
}

const Rule rule_suspicious_header = {.name = "suspicious-header", .check = check};
