/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Where members of a list come from, and how the last reading went. Nothing can be set here: the operator does that. */
#include "lists/sources/source.h"
#include "runners/web/desk.h"

static const char *const kinds[] = {[SOURCE_FILE] = N_("File"),
                                    [SOURCE_URL] = N_("Address of the web"),
                                    [SOURCE_LIST] = N_("Another list"),
                                    [SOURCE_SQL] = N_("Database"),
                                    [SOURCE_LDAP] = N_("Directory")};

static json_t *lines_view(const char *bad_lines)
{
    json_t *all = json_array();
    g_auto(GStrv) lines = g_strsplit(bad_lines ? bad_lines : "", "\n", -1);
    for (char **line = lines; *line; line++) {
        json_t *view = json_object();
        desk_set_line(view, "line", *line);
        json_array_append_new(all, view);
    }
    return all;
}

static json_t *source_view(const WebCall *call, const MemberSource *source)
{
    g_autofree char *place = source_shown(source);
    const char *kind = theme_text(call->web->theme, call->language,
                                  kinds[CLAMP(source->kind, 0, (int)G_N_ELEMENTS(kinds) - 1)]);
    json_t *view = json_pack("{ss sI sI so}", "kind", kind, "given", (json_int_t)source->given, "kept_out",
                             (json_int_t)source->kept_out, "lines", lines_view(source->bad_lines));
    desk_set_line(view, "name", source->name);
    desk_set_line(view, "place", place);
    desk_set_line(view, "fault", source->fault);
    if (source->read_at > 0)
        web_set_time(view, "when", source->read_at);
    return view;
}

static void get_sources(WebCall *call)
{
    GError *error = NULL;
    g_auto(Desk) desk = {0};
    if (!desk_open(&desk, call, MAY_LIST))
        return;
    g_autoptr(GPtrArray) all = source_all(desk_store(&desk), desk.list->list_id, &error);
    if (!all) {
        web_fail(call, error);
        return;
    }
    json_t *rows = json_array();
    for (guint at = 0; at < all->len; at++)
        json_array_append_new(rows, source_view(call, all->pdata[at]));
    desk_page(&desk, 200, "desk_sources", json_pack("{so}", "sources", rows));
}

const WebRoute web_desk_sources[] = {
    {"GET", "/desk/list/{}/sources", get_sources},
    {.verb = NULL},
};
