/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * Adding people to a list, from lines or CSV (lists/people/member_line.h). The first form shows what the lines would
 * do, the second does it: who is there already, is banned, or may not be on a list is left out, then as well.
 */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/mailbox.h"
#include "lists/people/join.h"
#include "lists/people/member_line.h"
#include "lists/people/own_address.h"
#include "lists/people/roster.h"
#include "lists/people/workflow.h"
#include "runners/web/desk.h"
#include "store/people/ban.h"
#include "store/people/member.h"

#define SHOWN 100 /* lines of each kind that the page shows */

/* How the people of the form come onto the list. */
typedef struct Adding {
    const char *how; /* "invite", or a role that they get at once */
    Role role;
    bool invite;
} Adding;

/* Preview says what the lines would do. */
typedef struct Preview {
    GPtrArray *people;           /* of MemberLine: those who would be added */
    json_t *added, *there, *bad; /* arrays of lines that are shown */
    unsigned there_count, bad_count;
} Preview;

static void line_free(void *data)
{
    member_line_clear(data);
    g_free(data);
}

static void preview_clear(Preview *preview)
{
    g_clear_pointer(&preview->people, g_ptr_array_unref);
    json_decref(preview->added);
    json_decref(preview->there);
    json_decref(preview->bad);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Preview, preview_clear)

static void note(json_t *lines, const MemberLine *line, const char *why)
{
    if (json_array_size(lines) >= SHOWN)
        return;
    json_t *view = json_pack("{sI}", "number", (json_int_t)line->number);
    desk_set_line(view, "address", line->address);
    desk_set_line(view, "name", line->display_name);
    if (why)
        desk_set_line(view, "why", why);
    json_array_append_new(lines, view);
}

/* Why may the address not be added? NULL: it may. false: the store failed. g_free() */
static bool find_bar(const Desk *desk, Work *work, const Adding *adding, const char *address, char **why,
                     GError **error)
{
    g_autofree char *by = NULL;
    *why = NULL;
    if (!mailbox_legible(address)) {
        *why = g_strdup("no mail address");
        return true;
    }
    if (!own_address_bars(work, desk->list->list_id, adding->role, address, why, error))
        return false;
    if (*why || adding->role != ROLE_MEMBER)
        return true;
    if (!ban_check(desk_store(desk), desk->list->list_id, address, NULL, &by, error))
        return false;
    *why = by ? g_strdup_printf("banned: %s", by) : NULL;
    return true;
}

/* Sort one line in. */
static bool take(const Desk *desk, Work *work, const Adding *adding, MemberLine *line, Preview *preview, GError **error)
{
    g_autofree char *why = line->rank == RANK_NONE ? g_strdup("Group status says that it is no member") : NULL;
    g_autoptr(Member) there = NULL;
    if ((!why && !find_bar(desk, work, adding, line->address, &why, error)) ||
        (!why && !member_look_up(desk_store(desk), desk->list->list_id, adding->role, line->address, &there, error)))
        return false;
    if (why) {
        note(preview->bad, line, why);
        preview->bad_count++;
    } else if (there) {
        note(preview->there, line, NULL);
        preview->there_count++;
    } else {
        note(preview->added, line, NULL);
        MemberLine *kept = g_new0(MemberLine, 1);
        *kept = *line;
        *line = (MemberLine){0};
        g_ptr_array_add(preview->people, kept);
    }
    return true;
}

/* An apostrophe that the saved CSV has before a name. */
static void strip_apostrophe(MemberLine *line)
{
    char *name = line->display_name;
    if (name && *name == '\'' && name[1] && strchr("=+-@\t", name[1]))
        memmove(name, name + 1, strlen(name));
}

/* Read all lines; each address once. */
static bool read_lines(const Desk *desk, Work *work, const Adding *adding, Preview *preview, GError **error)
{
    const char *text = web_field(desk->call, "people");
    g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    FILE *file = fmemopen((void *)(uintptr_t)(*text ? text : "\n"), MAX(strlen(text), 1), "r");
    g_autoptr(MemberLines) lines = member_lines_new(file);
    bool done = true;
    for (bool last = false; done && !last;) {
        g_auto(MemberLine) line = {0};
        g_autoptr(GError) refusal = NULL;
        if (member_lines_next(lines, &line, &refusal)) {
            last = line.last;
            g_autofree char *lower = line.address ? g_utf8_strdown(line.address, -1) : NULL;
            strip_apostrophe(&line);
            if (!last && g_hash_table_add(seen, g_steal_pointer(&lower)))
                done = take(desk, work, adding, &line, preview, error);
        } else if (g_error_matches(refusal, FAIL, FAIL_NEVER)) {
            note(preview->bad, &line, refusal->message);
            preview->bad_count++;
        } else {
            last = true;
            note(preview->bad, &line, refusal->message);
            preview->bad_count++;
        }
    }
    fclose(file);
    return done;
}

static Adding read_adding(WebCall *call)
{
    static const struct {
        const char *word;
        Role role;
    } words[] = {{"member", ROLE_MEMBER}, {"moderator", ROLE_MODERATOR}, {"owner", ROLE_OWNER}};
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++)
        if (strcmp(web_field(call, "how"), words[i].word) == 0)
            return (Adding){words[i].word, words[i].role, false};
    return (Adding){"invite", ROLE_MEMBER, true};
}

static void show_form(const Desk *desk, int status, json_t *view)
{
    desk_page(desk, status, "desk_add", view);
}

static void get_add(WebCall *call)
{
    g_auto(Desk) desk = {0};
    if (desk_open(&desk, call, MAY_LIST))
        show_form(&desk, 200, json_pack("{sb}", "asks", true));
}

static void show_preview(const Desk *desk, const Adding *adding, const Preview *preview)
{
    const unsigned count = preview->people->len;
    show_form(desk, 200,
              json_pack("{sb sb sb ss ss sO sO sO si si si sb sb}", "previews", true, "invites", adding->invite, "any",
                        count > 0, "how", adding->how, "people", web_field(desk->call, "people"), "added",
                        preview->added, "there", preview->there, "bad", preview->bad, "count", (int)count,
                        "there_count", (int)preview->there_count, "bad_count", (int)preview->bad_count, "more",
                        count > SHOWN, "adds", !adding->invite));
}

static bool add_one(const Desk *desk, Work *work, const Adding *adding, const MemberLine *line, GError **error)
{
    if (adding->invite) {
        g_auto(Subscription) made = {0};
        const Joiner joiner = {
            .address = line->address, .name = line->display_name, .facts = FACT_APPROVED | FACT_INVITED};
        return join_ask(work, desk->list, &joiner, &made, error);
    }
    const RosterEntry entry = {
        .role = adding->role, .address = line->address, .name = line->display_name, .own = &line->own};
    return roster_add(work, desk->list->list_id, &entry, error);
}

/* All or none. */
static void add_all(Desk *desk, const Adding *adding)
{
    GError *error = NULL;
    g_auto(Preview) preview = {.people = g_ptr_array_new_with_free_func(line_free),
                               .added = json_array(),
                               .there = json_array(),
                               .bad = json_array()};
    g_autoptr(Work) work = desk_begin(desk);
    if (!work)
        return;
    bool done = read_lines(desk, work, adding, &preview, &error);
    for (guint i = 0; done && i < preview.people->len; i++)
        done = add_one(desk, work, adding, preview.people->pdata[i], &error);
    if (!done) {
        work_cancel(work);
        web_fail(desk->call, error);
    } else if (web_commit(desk->call, work)) {
        g_autofree char *path = g_strdup_printf("/members?role=%s&added=%u", adding->invite ? "member" : adding->how,
                                                preview.people->len);
        desk_see(desk, path);
    }
}

static void post_add(WebCall *call)
{
    GError *error = NULL;
    g_auto(Desk) desk = {0};
    if (!desk_open(&desk, call, MAY_LIST))
        return;
    const Adding adding = read_adding(call);
    if (*web_field(call, "confirm")) {
        add_all(&desk, &adding);
        return;
    }
    g_auto(Preview) preview = {.people = g_ptr_array_new_with_free_func(line_free),
                               .added = json_array(),
                               .there = json_array(),
                               .bad = json_array()};
    g_autoptr(Work) work = web_look(call);
    if (!work)
        return;
    if (read_lines(&desk, work, &adding, &preview, &error))
        show_preview(&desk, &adding, &preview);
    else
        web_fail(call, error);
}

const WebRoute web_desk_add[] = {
    {"GET", "/desk/list/{}/members/add", get_add},
    {"POST", "/desk/list/{}/members/add", post_add},
    {.verb = NULL},
};
