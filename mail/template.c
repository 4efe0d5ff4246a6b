/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/template.h"

#include <string.h>

#include "base/placeholder.h"

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

size_t template_list_values(const TemplateList *list, TemplateValue values[TEMPLATE_LIST_VALUES])
{
    const TemplateValue all[] = {
        {"list_name", list->name}, {"display_name", list->display_name}, {"description", list->description},
        {"info", list->info}, {"list_id", list->list_id}, {"mail_host", list->mail_host}, {"domain", list->mail_host},
        {"list_address", list->posting_address}, {"listname", list->posting_address},
        {"fqdn_listname", list->posting_address}, {"posting_address", list->posting_address},
        {"short_listname", list->local_name}, {"owner_address", list->owner}, {"owner_email", list->owner},
        {"request_address", list->request}, {"request_email", list->request}, {"join_address", list->join},
        {"join_email", list->join}, {"leave_address", list->leave}, {"leave_email", list->leave},
        {"language", list->language},
    };
    G_STATIC_ASSERT(G_N_ELEMENTS(all) < TEMPLATE_LIST_VALUES);
    memcpy(values, all, sizeof all);
    return G_N_ELEMENTS(all);
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
        size_t length = placeholder_read(dollar, &name, &end);
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
