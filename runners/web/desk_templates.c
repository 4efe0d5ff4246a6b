/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * Texts of letters that a list may word itself. The page of one has the text that counts now; the button "preview"
 * fills it in with the list's own values, and the names of others in their place.
 */
#include <string.h>

#include "base/fail.h"
#include "lists/letters/letter.h"
#include "lists/letters/template_name.h"
#include "lists/letters/template_set.h"
#include "runners/web/desk.h"
#include "store/lists/template_text.h"

#define LANGUAGE_MAX 16

static void get_templates(WebCall *call)
{
    GError *error = NULL;
    g_auto(Desk) desk = {0};
    if (!desk_open(&desk, call, MAY_LIST))
        return;
    g_autoptr(GHashTable) set = g_hash_table_new(g_str_hash, g_str_equal); /* the names that the list has set */
    g_autoptr(GPtrArray) all = template_text_all(desk_store(&desk), desk.list->list_id, &error);
    if (!all) {
        web_fail(call, error);
        return;
    }
    for (guint i = 0; i < all->len; i++)
        g_hash_table_add(set, ((TemplateText *)all->pdata[i])->name);
    json_t *rows = json_array();
    for (const TemplateName *row = template_table; row->mailman; row++) {
        g_autofree char *path = g_uri_escape_string(row->mailman, ":", false);
        if (row->owner == TEMPLATE_OF_LIST)
            json_array_append_new(rows, json_pack("{ss ss ss sb}", "path", path, "name", row->mailman, "about",
                                                  row->about, "is_set", g_hash_table_contains(set, row->mailman)));
    }
    desk_page(&desk, 200, "desk_templates", json_pack("{so}", "templates", rows));
}

/* ---- one ---- */

/* The template that the path names and a list may set; NULL: the call was answered. */
static const TemplateName *find_template(Desk *desk, WebCall *call)
{
    if (!desk_open(desk, call, MAY_LIST))
        return NULL;
    const TemplateName *row = template_name_find(call->args[1]);
    if (row && row->owner == TEMPLATE_OF_LIST)
        return row;
    web_missing(call, NULL);
    return NULL;
}

/* The list's own text in that language; NULL: it has none. false: the store failed. */
static bool find_own(const Desk *desk, const TemplateName *row, const char *language, TemplateText **own,
                     GError **error)
{
    g_autoptr(GPtrArray) all = template_text_all(desk_store(desk), desk->list->list_id, error);
    *own = NULL;
    for (guint i = 0; all && i < all->len && !*own; i++) {
        const TemplateText *one = all->pdata[i];
        if (strcmp(one->name, row->mailman) == 0 && strcmp(one->language, language) == 0)
            *own = g_steal_pointer(&all->pdata[i]);
    }
    return all != NULL;
}

/* The text, filled in: what belongs to one letter is "[name]". g_free() */
static char *fill(const Desk *desk, const Work *work, const TemplateName *row, const char *text)
{
    g_auto(GStrv) names = g_strsplit(row->values, " ", -1);
    const guint count = g_strv_length(names);
    g_autoptr(GPtrArray) shown = g_ptr_array_new_with_free_func(g_free);
    g_autofree TemplateValue *values = g_new0(TemplateValue, count + 1);
    for (guint i = 0; i < count; i++) {
        g_ptr_array_add(shown, g_strdup_printf("[%s]", names[i]));
        values[i] = (TemplateValue){names[i], shown->pdata[i]};
    }
    return letter_fill(work, desk->list, text, values);
}

/* typed NULL: what counts now; filled NULL: no preview. view is taken. */
typedef struct Showing {
    const TemplateName *row;
    const char *language, *typed, *filled;
} Showing;

static void show(const Desk *desk, int status, const Showing *showing, json_t *view)
{
    GError *error = NULL;
    const TemplateName *row = showing->row;
    const char *language = *showing->language ? showing->language : NULL;
    TemplateText *own = NULL;
    g_autoptr(Work) work = web_look(desk->call);
    bool good = find_own(desk, row, showing->language, &own, &error);
    g_autoptr(TemplateText) kept = own;
    g_autofree char *now = good && !showing->typed
                               ? letter_text(work, desk->list, language, row->file ? row->file : row->mailman, &error)
                               : NULL;
    if (!now && g_error_matches(error, FAIL, FAIL_MISSING)) { /* a text around posts that nobody has set */
        g_clear_error(&error);
        now = g_strdup("");
    }
    if (!good || error) {
        json_decref(view);
        web_fail(desk->call, error);
        return;
    }
    json_t *placeholders = json_array();
    g_autofree char *names = g_strjoin(" ", row->values, template_common, NULL); /* of the row, and of every letter */
    g_auto(GStrv) words = g_strsplit(names, " ", -1);
    for (char **word = words; *word; word++)
        if (**word)
            json_array_append_new(placeholders, json_string(*word));
    g_autofree char *path = g_uri_escape_string(row->mailman, ":", false);
    json_object_set_new(view, "text", json_string(showing->typed ? showing->typed : now));
    json_object_set_new(view, "filled", showing->filled ? json_string(showing->filled) : json_null());
    json_object_set_new(view, "language_code", json_string(showing->language));
    json_object_set_new(view, "template", json_string(row->mailman));
    json_object_set_new(view, "template_path", json_string(path));
    json_object_set_new(view, "about", json_string(row->about));
    json_object_set_new(view, "placeholders", placeholders);
    json_object_set_new(view, "is_own", json_boolean(kept));
    if (kept && *kept->uri)
        desk_set_line(view, "uri", kept->uri);
    desk_page(desk, status, "desk_template", view);
}

static void get_template(WebCall *call)
{
    g_auto(Desk) desk = {0};
    const TemplateName *row = find_template(&desk, call);
    g_autofree char *language = web_query(call, "in"), *done = web_query(call, "done");
    if (row)
        show(&desk, 200, &(Showing){.row = row, .language = language ? language : ""},
             json_pack("{sb}", "done", done != NULL));
}

/* Answer with what is wrong with the text, or 503. error is taken. */
static void refuse(const Desk *desk, const Showing *showing, GError *error)
{
    if (!g_error_matches(error, FAIL, FAIL_NEVER) && !g_error_matches(error, FAIL, FAIL_MISSING)) {
        web_fail(desk->call, error);
        return;
    }
    json_t *view = json_object();
    desk_set_line(view, "fault", error->message);
    g_error_free(error);
    show(desk, 400, showing, view);
}

/* do=save, do=remove; else the page shows what was typed, filled in. */
static void post_template(WebCall *call)
{
    GError *error = NULL;
    g_auto(Desk) desk = {0};
    const TemplateName *row = find_template(&desk, call);
    if (!row)
        return;
    g_autoptr(GString) typed = g_string_new(web_field(call, "text"));
    g_string_replace(typed, "\r\n", "\n", 0);
    const char *what = web_field(call, "do"), *language = web_field(call, "in");
    Showing showing = {.row = row, .language = strlen(language) <= LANGUAGE_MAX ? language : "", .typed = typed->str};
    const bool saves = strcmp(what, "save") == 0, removes = strcmp(what, "remove") == 0;
    if (!saves && !removes) {
        if (!template_check(row, typed->str, &error)) {
            refuse(&desk, &showing, error);
            return;
        }
        g_autoptr(Work) look = web_look(call);
        g_autofree char *filled = fill(&desk, look, row, typed->str);
        showing.filled = filled;
        show(&desk, 200, &showing, json_object());
        return;
    }
    g_autoptr(Work) work = desk_begin(&desk);
    const TemplateText text = {.name = (char *)(uintptr_t)row->mailman,
                               .place = desk.list->list_id,
                               .language = (char *)(uintptr_t)showing.language,
                               .text = typed->str};
    if (!work)
        return;
    if (!(removes ? template_unset(work, text.place, text.name, text.language, &error)
                  : template_set(work, &text, &error))) {
        work_cancel(work);
        refuse(&desk, &showing, error);
    } else if (web_commit(call, work)) {
        g_autofree char *escaped = g_uri_escape_string(showing.language, NULL, false);
        g_autofree char *path = g_strdup_printf("/templates/%s?in=%s&done=1", row->mailman, escaped);
        desk_see(&desk, path);
    }
}

const WebRoute web_desk_templates[] = {
    {"GET", "/desk/list/{}/templates", get_templates},
    {"GET", "/desk/list/{}/templates/{}", get_template},
    {"POST", "/desk/list/{}/templates/{}", post_template},
    {.verb = NULL},
};
