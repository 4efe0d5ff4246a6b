/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The log of a list: each change, of all kinds or one, and the button that undoes one of a setting or a ban. */
#include <string.h>

#include "base/fail.h"
#include "lists/change.h"
#include "mail/visible.h"
#include "runners/web/desk.h"
#include "runners/web/waiting.h"

#define ROWS 50
#define BRIEF 2000 /* bytes of a value that are shown */

/* A value of some lines, without what a page should not show; NULL for NULL. */
static json_t *value_json(const char *value)
{
    if (!value)
        return json_null();
    const bool cut = strlen(value) > BRIEF;
    g_autoptr(GString) text = g_string_new(NULL);
    visible_append(text, value, cut ? (size_t)(g_utf8_find_prev_char(value, value + BRIEF) - value) : strlen(value));
    if (cut)
        g_string_append(text, "…");
    return json_string(text->str);
}

/* May the person give back the value that the setting of the row had before? */
static bool may_restore(const Desk *desk, const ListLogRow *row, GError **error)
{
    const ListSetting *setting = strcmp(row->kind, LOG_SETTING) == 0 ? list_setting_find(row->name, NULL) : NULL;
    if (setting && !authority_covers(authority_of_setting(setting), desk->by))
        return fail(error, FAIL_NEVER, "%s: it is for the people who run the site to set", row->name);
    return !setting || !row->before || desk_words_allowed(desk, setting, row->before, error);
}

/* Is there a button? */
static bool may_undo(const Desk *desk, const ListLogRow *row)
{
    Undo undo;
    return may_restore(desk, row, NULL) && change_look(desk_store(desk), desk->list, row, &undo, NULL) &&
           undo == UNDO_DONE;
}

/* A word of the log, and what the page calls it. */
typedef struct Word {
    const char *word, *text;
} Word;

static const Word kinds[] = {{LOG_SETTING, N_("Setting")},
                             {"member", N_("Member")},
                             {LOG_OPTIONS, N_("Options of a member")},
                             {LOG_IMPORT, N_("Many at once")},
                             {LOG_SOURCE, N_("Source of members")},
                             {"owner", N_("Owner")},
                             {"moderator", N_("Moderator")},
                             {"nonmember", N_("Nonmember")},
                             {LOG_POST, N_("Held post")},
                             {LOG_SCHEDULED, N_("Scheduled post")},
                             {LOG_REQUEST, N_("Request")},
                             {LOG_BAN, N_("Ban")},
                             {LOG_HEADER_MATCH, N_("Header field")},
                             {LOG_TEMPLATE, N_("Text of a letter")},
                             {LOG_LIST, N_("List")},
                             {0}};
static const Word doors[] = {{"page", N_("by a page")},     {"mail", N_("by mail")},       {"rest", N_("by REST")},
                             {"shell", N_("in the shell")}, {"timer", N_("by the timer")}, {0}};
/* Of leave_way_text(). */
static const Word ways[] = {{"mail", N_("left by mail")},
                            {"page", N_("left by a page")},
                            {"one-click", N_("left by one click in a mail program")},
                            {"complaint", N_("left by calling a mail spam")},
                            {"rest", N_("left by REST")},
                            {"shell", N_("left in the shell")},
                            {"bounces", N_("left because mail came back")},
                            {"source", N_("left because a source of members does not give the address")},
                            {0}};

/* The word itself, where the page has no text for it. */
static const char *text_of(const WebCall *call, const Word *words, const char *word)
{
    for (; words->word; words++)
        if (strcmp(words->word, word) == 0)
            return theme_text(call->web->theme, call->language, words->text);
    return word;
}

static json_t *row_view(const Desk *desk, const ListLogRow *row)
{
    Role role;
    const WebCall *call = desk->call;
    const bool left = role_parse(row->kind, &role) && row->before && row->after;
    const bool decided = strcmp(row->kind, LOG_POST) == 0 || strcmp(row->kind, LOG_SCHEDULED) == 0 ||
                         strcmp(row->kind, LOG_REQUEST) == 0;
    json_t *view = json_pack("{sI ss ss sb sb}", "key", (json_int_t)row->key, "kind",
                             text_of(call, kinds, row->kind), "door", text_of(call, doors, row->door), "may_undo",
                             may_undo(desk, row), "has_values", row->before || row->after);
    web_set_time(view, "when", row->made_at);
    if (strcmp(row->by, "-") != 0)
        desk_set_line(view, "by", row->by);
    desk_set_line(view, "name", row->name);
    if (decided && row->before)
        desk_set_line(view, "subject", row->before);
    json_object_set_new(view, "before", value_json(decided ? NULL : row->before));
    json_object_set_new(view, "after", value_json(left ? text_of(call, ways, row->after) : row->after));
    return view;
}

/* The kind of rows that the address of the page asks for; NULL: all. */
static const char *kind_asked(const WebCall *call)
{
    g_autofree char *asked = web_query(call, "kind");
    for (const Word *kind = kinds; kind->word; kind++)
        if (g_strcmp0(asked, kind->word) == 0)
            return kind->word;
    return NULL;
}

/* The kinds to choose from. */
static json_t *choices_view(const WebCall *call, const char *chosen)
{
    json_t *choices = json_array();
    for (const Word *kind = kinds; kind->word; kind++)
        json_array_append_new(choices, json_pack("{ss ss sb}", "word", kind->word, "text",
                                                 theme_text(call->web->theme, call->language, kind->text), "selected",
                                                 kind->word == chosen));
    return choices;
}

/* view is taken. */
static void show(Desk *desk, int status, json_t *view)
{
    GError *error = NULL;
    int64_t before = 0;
    const char *kind = kind_asked(desk->call);
    g_autofree char *from = web_query(desk->call, "before");
    json_object_set_new(view, "kinds", choices_view(desk->call, kind));
    json_object_set_new(view, "of_kind", kind ? json_string(kind) : json_null());
    if (from)
        g_ascii_string_to_signed(from, 10, 1, G_MAXINT64, &before, NULL);
    g_autoptr(GPtrArray) rows = list_log_page(desk_store(desk), desk->list->list_id, kind, before, ROWS + 1, &error);
    if (!rows) {
        json_decref(view);
        web_fail(desk->call, error);
        return;
    }
    json_t *shown = json_array();
    for (guint i = 0; i < MIN(rows->len, ROWS); i++)
        json_array_append_new(shown, row_view(desk, rows->pdata[i]));
    json_object_set_new(view, "rows", shown);
    if (rows->len > ROWS)
        json_object_set_new(view, "older", json_integer(((const ListLogRow *)rows->pdata[ROWS - 1])->key));
    desk_page(desk, status, "desk_log", view);
}

static void get_log(WebCall *call)
{
    g_auto(Desk) desk = {0};
    g_autofree char *undone = web_query(call, "undone");
    if (desk_open(&desk, call, MAY_LIST))
        show(&desk, 200, json_pack("{sb}", "undone", undone != NULL));
}

/* One who may not sees no button for it. */
static bool undo_allowed(const Desk *desk, int64_t key, GError **error)
{
    g_autoptr(ListLogRow) row = list_log_find(desk_store(desk), desk->list->list_id, key, error);
    return row && may_restore(desk, row, error);
}

/* The rows of the kind from which it was undone. */
static void see_undone(const Desk *desk)
{
    const char *kind = kind_asked(desk->call);
    g_autofree char *place = g_strconcat("/log?undone=1", kind ? "&kind=" : "", kind ? kind : "", NULL);
    desk_see(desk, place);
}

static void post_log(WebCall *call)
{
    GError *error = NULL;
    int64_t key;
    Undo result;
    g_auto(Desk) desk = {0};
    if (!desk_open(&desk, call, MAY_LIST))
        return;
    if (!g_ascii_string_to_signed(web_field(call, "undo"), 10, 1, G_MAXINT64, &key, NULL)) {
        web_missing(call, NULL);
        return;
    }
    g_autoptr(Work) work = desk_begin(&desk);
    if (!work)
        return;
    if (!undo_allowed(&desk, key, &error) || !change_undo(work, desk.list, key, &result, &error)) {
        desk_refuse(&desk, error, show, json_object());
        return;
    }
    if (result != UNDO_DONE)
        show(&desk, 409, json_pack("{sb}", result == UNDO_CHANGED ? "changed" : "not_possible", true));
    else if (web_commit(call, work))
        see_undone(&desk);
}

const WebRoute web_desk_log[] = {
    {"GET", "/desk/list/{}/log", get_log},
    {"POST", "/desk/list/{}/log", post_log},
    {.verb = NULL},
};
