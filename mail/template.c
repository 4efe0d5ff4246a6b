/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/template.h"

#include <string.h>

#include "base/fail.h"

static const char *built_in = DATADIR "/templates";

void template_set_built_in(const char *folder)
{
    built_in = folder ? folder : DATADIR "/templates";
}

static char *read_one(const char *folder, const char *language, const char *name)
{
    g_autofree char *file = g_strconcat(name, ".txt", NULL);
    g_autofree char *path = g_build_filename(folder, language, file, NULL);
    char *text = NULL;
    if (!g_file_get_contents(path, &text, NULL, NULL))
        return NULL;
    g_autofree char *raw = text;
    return g_utf8_make_valid(raw, -1);
}

/* Chinese without a place is written as on the mainland; of other languages the place may be left out. */
char *template_load_from(const char *folder, const char *language, const char *name)
{
    const char *place = folder ? folder : built_in;
    if (!language || !*language || strchr(language, '/') || *language == '.')
        return NULL;
    g_autofree char *usual = g_strdelimit(g_strdup(language), "-", '_');
    char *text = read_one(place, usual, name);
    if (text)
        return text;
    if (g_ascii_strcasecmp(usual, "zh") == 0 || g_ascii_strncasecmp(usual, "zh_hans", 7) == 0)
        return read_one(place, "zh_CN", name);
    usual[strcspn(usual, "_")] = '\0';
    return strcmp(usual, language) == 0 ? NULL : read_one(place, usual, name);
}

char *template_load(const char *folder, const char *language, const char *name, GError **error)
{
    const char *const languages[] = {language, "en"};
    for (size_t at = 0; at < G_N_ELEMENTS(languages); at++) {
        char *text = folder ? template_load_from(folder, languages[at], name) : NULL;
        if (!text)
            text = template_load_from(NULL, languages[at], name);
        if (text)
            return text;
    }
    fail(error, FAIL_MISSING, "there is no template %s.txt in %s%s%s", name, folder ? folder : "", folder ? " or " : "",
         built_in);
    return NULL;
}

char *template_brief(const char *text)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    if (g_utf8_strlen(valid, -1) <= TEMPLATE_BRIEF)
        return g_steal_pointer(&valid);
    g_autofree char *start = g_utf8_substring(valid, 0, TEMPLATE_BRIEF - 3);
    return g_strconcat(start, "...", NULL);
}

static const TemplateValue *find(const TemplateValue *values, const char *name, size_t length)
{
    for (; values->name; values++)
        if (strlen(values->name) == length && memcmp(values->name, name, length) == 0)
            return values;
    return NULL;
}

/* The name behind the dollar sign at dollar: where it begins, its length, and what follows it. */
static size_t read_name(const char *dollar, const char **name, const char **end)
{
    *name = dollar + 1 + (dollar[1] == '{');
    size_t length = 0;
    while (g_ascii_isalnum((*name)[length]) || (*name)[length] == '_')
        length++;
    *end = *name + length;
    bool closed = dollar[1] != '{' || *(*end)++ == '}';
    return closed ? length : 0;
}

char **template_names(const char *text)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
    for (const char *dollar = strchr(text, '$'); dollar;) {
        const char *name, *end;
        size_t length = dollar[1] == '$' ? 0 : read_name(dollar, &name, &end);
        g_autofree char *found = length > 0 && !g_ascii_isdigit(*name) ? g_strndup(name, length) : NULL;
        if (found && !g_ptr_array_find_with_equal_func(names, found, g_str_equal, NULL))
            g_ptr_array_add(names, g_steal_pointer(&found));
        dollar = strchr(dollar + (dollar[1] == '$' ? 2 : 1), '$');
    }
    g_ptr_array_add(names, NULL);
    return (char **)g_ptr_array_free(g_steal_pointer(&names), FALSE);
}

char *template_fill(const char *text, const TemplateValue *values)
{
    GString *filled = g_string_new(NULL);
    for (const char *at = text; *at;) {
        const char *dollar = strchrnul(at, '$');
        g_string_append_len(filled, at, dollar - at);
        if (!*dollar)
            break;
        const char *name, *end;
        size_t length = read_name(dollar, &name, &end);
        const TemplateValue *value = length > 0 ? find(values, name, length) : NULL;
        if (dollar[1] == '$') {
            g_string_append_c(filled, '$');
            at = dollar + 2;
        } else if (value) {
            g_string_append(filled, value->value ? value->value : "");
            at = end;
        } else {
            g_string_append_c(filled, '$');
            at = dollar + 1;
        }
    }
    return g_string_free(filled, false);
}
