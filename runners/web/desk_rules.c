/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Bans of a list, and its rows of header fields: shown, added, removed. */
#include <string.h>

#include "base/fail.h"
#include "lists/people/ban.h"
#include "lists/posts/header_rows.h"
#include "runners/web/desk.h"
#include "runners/web/desk_try.h"
#include "store/lists/header_match.h"
#include "store/lists/list_choice.h"
#include "store/people/ban.h"

#define TICKED "lift-"
#define BANS 500 /* that a page shows */

/* ---- bans ---- */

typedef struct BanRows {
    json_t *rows;
    const char *typed; /* "": all */
    bool more;
} BanRows;

static bool add_ban(const Ban *ban, void *data)
{
    BanRows *self = data;
    g_autofree char *lower = g_utf8_strdown(ban->email, -1);
    if (!strstr(lower, self->typed))
        return true;
    self->more = json_array_size(self->rows) >= BANS;
    if (self->more)
        return false;
    json_t *view = json_pack("{ss sb}", "email", ban->email, "is_pattern", *ban->email == '^');
    desk_set_line(view, "shown", ban->email);
    json_array_append_new(self->rows, view);
    return true;
}

/* view is taken. */
static void show_bans(Desk *desk, int status, json_t *view)
{
    GError *error = NULL;
    int64_t total;
    const char *list_id = desk->list->list_id;
    g_autofree char *typed = web_query(desk->call, "q");
    g_autofree char *lower = g_utf8_strdown(typed ? typed : "", -1);
    BanRows rows = {.rows = json_array(), .typed = g_strstrip(lower)};
    json_object_set_new(view, "bans", rows.rows);
    if (!ban_each(desk_store(desk), list_id, add_ban, &rows, &error) ||
        !ban_count(desk_store(desk), list_id, &total, &error)) {
        json_decref(view);
        web_fail(desk->call, error);
        return;
    }
    json_object_set_new(view, "total", json_integer(total));
    json_object_set_new(view, "more", json_boolean(rows.more));
    json_object_set_new(view, "typed", json_string(typed ? typed : ""));
    desk_page(desk, status, "desk_bans", view);
}

static void get_bans(WebCall *call)
{
    g_auto(Desk) desk = {0};
    g_autofree char *done = web_query(call, "done");
    if (desk_open(&desk, call, MAY_LIST))
        show_bans(&desk, 200, json_pack("{sb}", "done", done != NULL));
}

/* Each line that was typed is banned, and those that are ticked are lifted, or all stays as it is. With "try" the page
 * shows instead what the bans that were typed would have done. */
static void post_bans(WebCall *call)
{
    GError *error = NULL;
    g_auto(Desk) desk = {0};
    g_autoptr(Work) work = desk_open(&desk, call, MAY_LIST) ? desk_begin(&desk) : NULL;
    if (!work)
        return;
    bool done = true, any = false;
    const char *typed = web_field(call, "add");
    g_autoptr(json_t) bans = json_array();
    g_auto(GStrv) lines = g_strsplit_set(typed, "\r\n", -1);
    for (char **line = lines; done && *line; line++) {
        g_autoptr(GError) refusal = NULL;
        if (!*g_strstrip(*line))
            continue;
        any = true;
        json_array_append_new(bans, json_string(*line));
        done = ban_impose(work, desk.list, *line, &refusal) || fail_unless(&error, FAIL_EXISTS, &refusal);
    }
    GHashTableIter at;
    void *name;
    g_hash_table_iter_init(&at, call->form);
    while (done && g_hash_table_iter_next(&at, &name, NULL)) {
        g_autoptr(GError) refusal = NULL;
        if (!g_str_has_prefix(name, TICKED))
            continue;
        any = true;
        done = ban_lift(work, desk.list, (const char *)name + strlen(TICKED), &refusal) ||
               fail_unless(&error, FAIL_MISSING, &refusal);
    }
    if (!done) {
        work_cancel(work);
        desk_refuse(&desk, error, show_bans, json_pack("{ss}", "lines", typed));
    } else if (web_has_field(call, "try")) {
        work_cancel(work); /* they may be imposed */
        desk_try(&desk, 200, "desk_try",
                 json_pack("{ss s[{ss ss}]}", "page", "bans", "fields", "name", "add", "value", typed),
                 json_pack("{sO}", "bans", bans));
    } else if (web_commit(call, work)) {
        desk_see(&desk, any ? "/bans?done=1" : "/bans");
    }
}

/* ---- header fields ---- */

/* A button names its row by place and content, since places move: "2.4f0c...". g_free() */
static char *row_mark(const HeaderMatch *row)
{
    g_autofree char *text = g_strjoin("\n", row->header, row->pattern, row->target ? row->target : "", NULL);
    g_autofree char *sum = g_compute_checksum_for_string(G_CHECKSUM_SHA256, text, -1);
    return g_strdup_printf("%" G_GINT64_FORMAT ".%.16s", row->position, sum);
}

/* view is taken. */
static void show_rows(Desk *desk, int status, json_t *view)
{
    GError *error = NULL;
    json_t *rows = json_array(), *choices = json_array();
    json_object_set_new(view, "rows", rows);
    json_object_set_new(view, "targets", choices);
    g_autoptr(GPtrArray) all = header_match_all(desk_store(desk), desk->list->list_id, &error);
    if (!all) {
        json_decref(view);
        web_fail(desk->call, error);
        return;
    }
    for (guint i = 0; i < all->len; i++) {
        const HeaderMatch *row = all->pdata[i];
        g_autofree char *mark = row_mark(row);
        json_t *shown = json_pack("{ss}", "row", mark);
        desk_set_line(shown, "header", row->header);
        desk_set_line(shown, "pattern", row->pattern);
        desk_set_line(shown, "target", row->target);
        json_array_append_new(rows, shown);
    }
    for (Action action = ACTION_HOLD; action <= ACTION_DEFER; action++)
        json_array_append_new(choices, json_string(action_text(action)));
    desk_page(desk, status, "desk_header_matches", view);
}

static void get_rows(WebCall *call)
{
    g_auto(Desk) desk = {0};
    g_autofree char *done = web_query(call, "done");
    if (desk_open(&desk, call, MAY_LIST))
        show_rows(&desk, 200, json_pack("{sb}", "done", done != NULL));
}

static bool add_row(const Desk *desk, Work *work, GError **error)
{
    WebCall *call = desk->call;
    const char *target = web_field(call, "target");
    g_autoptr(HeaderMatch) row = g_new0(HeaderMatch, 1);
    row->list_id = g_strdup(desk->list->list_id);
    row->position = -1;
    row->header = g_ascii_strdown(web_field(call, "header"), -1);
    row->pattern = g_strdup(web_field(call, "pattern"));
    row->target = *target ? g_strdup(target) : NULL;
    g_strstrip(row->header);
    return header_rows_add(work, row, error);
}

/* FAIL_MISSING: there is another row in that place now, or none. */
static bool remove_row(const Desk *desk, Work *work, const char *mark, GError **error)
{
    const int64_t position = g_ascii_strtoll(mark, NULL, 10);
    g_autoptr(HeaderMatch) row = header_match_find(desk_store(desk), desk->list->list_id, position, error);
    g_autofree char *now = row ? row_mark(row) : NULL;
    if (!row)
        return false;
    if (strcmp(now, mark) != 0)
        return fail(error, FAIL_MISSING, "the rows were changed meanwhile, and nothing was removed");
    return header_rows_remove(work, desk->list->list_id, position, error);
}

/* One row is removed or added. With "try" the page shows instead what a new row would have done. */
static void post_rows(WebCall *call)
{
    static const char *const names[] = {"header", "pattern", "target"};
    GError *error = NULL;
    g_auto(Desk) desk = {0};
    g_autoptr(Work) work = desk_open(&desk, call, MAY_LIST) ? desk_begin(&desk) : NULL;
    if (!work)
        return;
    const char *mark = web_field(call, "remove"), *pattern = web_field(call, "pattern");
    if (!(*mark ? remove_row(&desk, work, mark, &error) : add_row(&desk, work, &error))) {
        work_cancel(work);
        desk_refuse(&desk, error, show_rows,
                    json_pack("{ss ss}", "header", web_field(call, "header"), "pattern", pattern));
    } else if (!*mark && web_has_field(call, "try")) {
        work_cancel(work); /* it may be added */
        json_t *fields = json_array();
        for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
            json_array_append_new(fields, json_pack("{ss ss}", "name", names[i], "value", web_field(call, names[i])));
        const char *target = web_field(call, "target");
        g_autofree char *header = g_ascii_strdown(web_field(call, "header"), -1);
        desk_try(&desk, 200, "desk_try", json_pack("{ss so}", "page", "header-matches", "fields", fields),
                 json_pack("{s[{ss ss ss*}]}", "header_matches", "header", g_strstrip(header), "pattern", pattern,
                           "action", *target ? target : NULL));
    } else if (web_commit(call, work)) {
        desk_see(&desk, "/header-matches?done=1");
    }
}

const WebRoute web_desk_rules[] = {
    {"GET", "/desk/list/{}/bans", get_bans},
    {"POST", "/desk/list/{}/bans", post_bans},
    {"GET", "/desk/list/{}/header-matches", get_rows},
    {"POST", "/desk/list/{}/header-matches", post_rows},
    {.verb = NULL},
};
