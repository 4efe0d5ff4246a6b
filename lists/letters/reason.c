/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/letters/reason.h"

#include <string.h>

#include "base/text.h"
#include "lists/letters/letter.h"
#include "mail/text/template.h"

#define KEY "reason_"
#define VALUES 4 /* that a sentence has at most */

/* A sentence with its values as one pattern: "has $size octets" becomes "has (?<size>.+?) octets". */
static GRegex *make_pattern(const char *sentence)
{
    g_autoptr(GString) pattern = g_string_new(NULL);
    for (const char *at = sentence; *at;) {
        const char *dollar = strchrnul(at, '$'), *name, *end;
        g_autofree char *plain = g_regex_escape_string(at, (int)(dollar - at));
        g_string_append(pattern, plain);
        size_t length = *dollar ? placeholder_read(dollar, &name, &end) : 0;
        if (length > 0)
            g_string_append_printf(pattern, "(?<%.*s>.+?)", (int)length, name);
        else if (*dollar)
            g_string_append(pattern, "\\$");
        at = length > 0 ? end : dollar + (*dollar != '\0');
    }
    return g_regex_new(pattern->str, 0, 0, NULL);
}

/* A sentence that is looked for, and where its translation comes from. */
typedef struct Reason {
    const Work *work;
    const List *list;
    const char *language, *key;
    char **names; /* of its values */
} Reason;

static gboolean put_translation(const GMatchInfo *match, GString *result, void *data)
{
    const Reason *reason = data;
    TemplateValue values[VALUES + 1] = {0};
    g_autoptr(GPtrArray) kept = g_ptr_array_new_with_free_func(g_free);
    for (size_t at = 0; reason->names[at] && at < VALUES; at++) {
        char *value = g_match_info_fetch_named(match, reason->names[at]);
        g_ptr_array_add(kept, value);
        values[at] = (TemplateValue){reason->names[at], value};
    }
    g_autofree char *sentence = letter_sentence(reason->work, reason->list, reason->language, reason->key, values);
    g_string_append(result, sentence);
    return FALSE;
}

char *reason_translate(const Work *work, const List *list, const char *language, const char *text)
{
    char *result = g_utf8_make_valid(text, -1);
    g_autofree char *english = *text && !g_str_has_prefix(language, "en") ? template_load_from(NULL, "en", "answers")
                                                                          : NULL;
    g_auto(GStrv) lines = g_strsplit(english ? english : "", "\n", -1);
    for (char **line = lines; *line; line++) {
        g_auto(GStrv) parts = g_str_has_prefix(*line, KEY) ? g_strsplit(*line, ": ", 2) : NULL;
        if (!parts || !parts[0] || !parts[1])
            continue;
        g_auto(GStrv) names = placeholder_names(parts[1]);
        Reason reason = {work, list, language, parts[0], names};
        g_autoptr(GRegex) pattern = make_pattern(parts[1]);
        char *changed = pattern ? g_regex_replace_eval(pattern, result, -1, 0, 0, put_translation, &reason, NULL)
                                : NULL;
        if (changed) {
            g_free(result);
            result = changed;
        }
    }
    return result;
}
