/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/fold.h"

#include <stdbool.h>
#include <string.h>

/* May a line of a language that is written without blanks end between the two? Not before what closes or ends a
 * sentence, nor behind what opens a quotation. */
static bool may_part(gunichar before, gunichar after)
{
    GUnicodeType opens = g_unichar_type(before), closes = g_unichar_type(after);
    bool wide = g_unichar_iswide(before) || g_unichar_iswide(after);
    bool blank = g_unichar_isspace(before) || g_unichar_isspace(after);
    return wide && !blank && opens != G_UNICODE_OPEN_PUNCTUATION && opens != G_UNICODE_INITIAL_PUNCTUATION &&
           closes != G_UNICODE_CLOSE_PUNCTUATION && closes != G_UNICODE_FINAL_PUNCTUATION &&
           closes != G_UNICODE_OTHER_PUNCTUATION && closes != G_UNICODE_MODIFIER_LETTER;
}

/* The end of what fits into so many columns of a line; the whole of it when it cannot be broken before. */
static const char *find_break(const char *line, const char *end, int columns)
{
    const char *best = NULL;
    gunichar before = 0;
    int used = 0;
    for (const char *at = line; at < end; at = g_utf8_next_char(at)) {
        gunichar character = g_utf8_get_char(at);
        if (at > line && (*at == ' ' || may_part(before, character)) && (used <= columns || !best))
            best = at;
        used += g_unichar_iszerowidth(character) ? 0 : g_unichar_iswide(character) ? 2 : 1;
        if (used > columns && best)
            return best;
        before = character;
    }
    return end;
}

void fold_append(GString *to, const char *indent, const char *text)
{
    int columns = FOLD_COLUMNS - (int)g_utf8_strlen(indent, -1);
    for (const char *line = text; *line;) {
        const char *end = strchrnul(line, '\n');
        if (end == line)
            g_string_append_c(to, '\n');
        while (line < end) {
            const char *next = find_break(line, end, columns);
            g_string_append(to, indent);
            g_string_append_len(to, line, next - line);
            g_string_append_c(to, '\n');
            for (line = next; line < end && *line == ' ';)
                line++;
        }
        line = *end ? end + 1 : end;
    }
}

char *fold_paragraphs(const char *text)
{
    GString *folded = g_string_new(NULL);
    size_t rest = 0; /* where the words stand that did not fit into the line before; folded->len: there are none */
    for (const char *line = text; *line;) {
        const char *end = strchrnul(line, '\n');
        g_autofree char *own = g_strndup(line, (size_t)(end - line));
        if (strchr(" \t>", *own) || g_str_has_prefix(own, "-- ")) {
            g_string_append_printf(folded, "%s\n", own);
            rest = folded->len;
        } else {
            bool goes_on = rest < folded->len && g_unichar_islower(g_utf8_get_char(own));
            size_t start = goes_on ? rest : folded->len;
            g_autofree char *words = goes_on ? g_strndup(folded->str + rest, folded->len - rest - 1) : NULL;
            g_autofree char *joined = goes_on ? g_strconcat(words, " ", own, NULL) : NULL;
            g_string_truncate(folded, start);
            fold_append(folded, "", goes_on ? joined : own);
            const char *before = memrchr(folded->str + start, '\n', folded->len - start - 1);
            rest = before ? (size_t)(before + 1 - folded->str) : folded->len;
        }
        line = *end ? end + 1 : end;
    }
    if (folded->len > 0 && !g_str_has_suffix(text, "\n"))
        g_string_truncate(folded, folded->len - 1);
    return g_string_free(folded, FALSE);
}
