/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/template_check.h"

#include <stdio.h>
#include <string.h>

#include "base/placeholder.h"
#include "cli/plain.h"
#include "lists/template_name.h"

#define ENDING ".txt"

static void complain(unsigned *faults, const char *where, const char *fault)
{
    g_autofree char *place = plain_text(where), *text = plain_text(fault);
    printf("%s: %s\n", place, text);
    ++*faults;
}

static bool check_rows(Store *store, unsigned *faults, GError **error)
{
    g_autoptr(GPtrArray) rows = template_text_all(store, NULL, error);
    for (guint at = 0; rows && at < rows->len; at++) {
        const TemplateText *row = rows->pdata[at];
        const TemplateName *name = template_name_find(row->name);
        g_autoptr(GError) fault = NULL;
        const char *place = !*row->place ? "the site" : row->place + (*row->place == '@');
        if (*row->fault)
            complain(faults, place, row->fault);
        else if (name && (!template_place_allowed(name, row->place, &fault) ||
                          (row->text && !template_check(name, row->text, &fault))))
            complain(faults, place, fault->message);
    }
    return rows != NULL;
}

/* Files that the site put beside the others, in one language. */
static void check_folder(const char *folder, unsigned *faults)
{
    g_autoptr(GDir) files = g_dir_open(folder, 0, NULL);
    for (const char *file; files && (file = g_dir_read_name(files));) {
        g_autofree char *path = g_build_filename(folder, file, NULL), *text = NULL;
        g_autofree char *word = g_str_has_suffix(file, ENDING) ? g_strndup(file, strlen(file) - strlen(ENDING)) : NULL;
        const TemplateName *name = word ? template_name_find(word) : NULL;
        g_autoptr(GError) fault = NULL;
        if (name && g_file_get_contents(path, &text, NULL, &fault))
            template_check(name, text, &fault);
        if (fault)
            complain(faults, path, fault->message);
    }
}

static bool check_list(const List *list, void *data)
{
    for (const ListSetting *setting = list_settings; setting->name; setting++) {
        const char *text = setting->placeholders ? *(char *const *)((const char *)list + setting->offset) : NULL;
        g_autoptr(GError) fault = NULL;
        if (text && !placeholder_check(setting->name, text, setting->placeholders, &fault))
            complain(data, list->posting_address, fault->message);
    }
    return true;
}

bool template_check_all(Store *store, const char *folder, unsigned *faults, GError **error)
{
    g_autoptr(GDir) languages = folder ? g_dir_open(folder, 0, NULL) : NULL;
    for (const char *language; languages && (language = g_dir_read_name(languages));) {
        g_autofree char *path = g_build_filename(folder, language, NULL);
        check_folder(path, faults);
    }
    return check_rows(store, faults, error) && list_each(store, NULL, check_list, faults, error);
}
