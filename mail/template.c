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
    if (!folder || !language || !*language || strchr(language, '/'))
        return NULL;
    g_autofree char *file = g_strconcat(name, ".txt", NULL);
    g_autofree char *path = g_build_filename(folder, language, file, NULL);
    char *text = NULL;
    if (!g_file_get_contents(path, &text, NULL, NULL))
        return NULL;
    g_autofree char *raw = text;
    return g_utf8_make_valid(raw, -1);
}

char *template_load(const char *folder, const char *language, const char *name, GError **error)
{
    const char *const languages[] = {language, "en"};
    const char *const folders[] = {folder, built_in};
    for (size_t at = 0; at < G_N_ELEMENTS(languages); at++)
        for (size_t place = 0; place < G_N_ELEMENTS(folders); place++) {
            char *text = read_one(folders[place], languages[at], name);
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

char *template_fill(const char *text, const TemplateValue *values)
{
    GString *filled = g_string_new(NULL);
    for (const char *at = text; *at;) {
        const char *dollar = strchrnul(at, '$');
        g_string_append_len(filled, at, dollar - at);
        if (!*dollar)
            break;
        const char *name = dollar + 1 + (dollar[1] == '{');
        size_t length = 0;
        while (g_ascii_isalnum(name[length]) || name[length] == '_')
            length++;
        const char *end = name + length;
        bool closed = dollar[1] != '{' || *end++ == '}';
        const TemplateValue *value = length > 0 && closed ? find(values, name, length) : NULL;
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
