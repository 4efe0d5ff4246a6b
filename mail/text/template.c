/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/text/template.h"

#include <string.h>

#include "base/log.h"
#include "base/text.h"

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
    size_t room = TEMPLATE_REPEATED_MAX;
    g_autoptr(GHashTable) seen = g_hash_table_new(NULL, NULL); /* values; several names may have one text */
    bool told = false;
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
            const char *own = value->value ? value->value : "";
            size_t octets = strlen(own);
            bool first = g_hash_table_add(seen, (void *)own);
            if (first || octets <= room) {
                g_string_append_len(filled, own, (gssize)octets);
            } else if (!told) {
                const TemplateValue *list = find(values, "list_id", strlen("list_id"));
                g_autofree char *start = g_strndup(text, MIN(strcspn(text, "\r\n"), 60));
                g_autofree char *valid = g_utf8_make_valid(start, -1);
                log_warn("list=%s a text that begins \"%s\" has $%s too often: repeated values may have %d bytes in "
                         "all, and further ones are left out",
                         list && list->value ? list->value : "-", valid, value->name, TEMPLATE_REPEATED_MAX);
                told = true;
            }
            room -= first || octets > room ? 0 : octets;
            at = end;
        } else {
            g_string_append_c(filled, '$');
            at = dollar + 1;
        }
    }
    return g_string_free(filled, false);
}
