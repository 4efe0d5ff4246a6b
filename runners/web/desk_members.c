/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The members of a list are searched, removed and saved as CSV. Names are those that came with the membership. */
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "lists/people/roster.h"
#include "runners/web/desk.h"
#include "store/people/member.h"
#include "store/people/source.h"

#define TICKED "member-"
#define PORTION 500 /* members that the CSV has from one reading of the store */
#define STREAMS 50  /* answers of any size that are on their way at once */

static const char *status_text(const WebCall *call, const Member *member)
{
    static const char *const states[] = {[DELIVERY_ENABLED] = N_("Mail comes"),
                                         [DELIVERY_BY_USER] = N_("stopped by the member"),
                                         [DELIVERY_BY_BOUNCES] = N_("stopped, since mail came back"),
                                         [DELIVERY_BY_MODERATOR] = N_("stopped by an owner"),
                                         [DELIVERY_UNKNOWN] = N_("stopped")};
    const int status = CLAMP(member->effective.delivery_status, 0, DELIVERY_UNKNOWN);
    return theme_text(call->web->theme, call->language, states[status]);
}

static char *day_text(int64_t time)
{
    g_autoptr(GDateTime) at = g_date_time_new_from_unix_utc(time / CLOCK_SECOND);
    return g_date_time_format(at, "%Y-%m-%d");
}

/* Say which sources made the membership (store/people/source.h). */
static bool set_source(const Desk *desk, json_t *view, const Member *member, GError **error)
{
    g_auto(GStrv) names = source_of_member(desk_store(desk), member->id, error);
    if (!names)
        return false;
    g_autofree char *text = g_strjoinv(", ", names);
    desk_set_line(view, "source", text);
    return true;
}

static json_t *member_view(const WebCall *call, const Member *member)
{
    g_autofree char *since = day_text(member->joined_at);
    json_t *view = json_pack("{ss ss ss sb}", "id", member->id, "since", since, "state", status_text(call, member),
                             "digest", member->effective.delivery_mode != MODE_REGULAR);
    desk_set_line(view, "address", member->address);
    desk_set_line(view, "name", member->given_name);
    return view;
}

static const struct {
    const char *word, *title;
} roles[] = {[ROLE_MEMBER] = {"member", N_("Members")},
             [ROLE_OWNER] = {"owner", N_("Owners")},
             [ROLE_MODERATOR] = {"moderator", N_("Moderators")},
             [ROLE_NONMEMBER] = {"nonmember", N_("Known nonmembers")}};

static Role read_role(const char *word)
{
    for (size_t role = 0; role < G_N_ELEMENTS(roles); role++)
        if (g_strcmp0(word, roles[role].word) == 0)
            return (Role)role;
    return ROLE_MEMBER;
}

static void set_roles(const WebCall *call, json_t *view, Role chosen)
{
    json_t *all = json_array();
    for (size_t role = 0; role < G_N_ELEMENTS(roles); role++)
        json_array_append_new(all, json_pack("{ss ss sb}", "word", roles[role].word, "text",
                                             theme_text(call->web->theme, call->language, roles[role].title),
                                             "selected", (Role)role == chosen));
    json_object_set_new(view, "roles", all);
    json_object_set_new(view, "role", json_string(roles[chosen].word));
    json_object_set_new(view, "title", json_string(theme_text(call->web->theme, call->language, roles[chosen].title)));
}

/* ---- searching ---- */

/* Make a pattern of the text that somebody typed: it may stand anywhere, unless there is a * in it. g_free() */
static char *pattern_of(const char *typed)
{
    g_autofree char *text = g_strstrip(g_strdup(typed ? typed : ""));
    return !*text ? NULL : strchr(text, '*') ? g_steal_pointer(&text) : g_strdup_printf("*%s*", text);
}

/* view is taken. */
static void show(Desk *desk, int status, json_t *view)
{
    GError *error = NULL;
    int64_t total;
    g_autofree char *typed = web_query(desk->call, "q"), *after = web_query(desk->call, "after");
    g_autofree char *word = web_query(desk->call, "role"), *pattern = pattern_of(typed), *next = NULL;
    const Role role = read_role(word);
    MemberCriteria criteria = MEMBER_CRITERIA_ALL;
    criteria.list_id = desk->list->list_id;
    criteria.roles = 1u << role;
    criteria.subscriber = pattern;
    criteria.given_names = true;
    g_autoptr(GPtrArray) found = member_page(desk_store(desk), &criteria, after, DESK_PAGE, &next, &error);
    if (!found || !member_count(desk_store(desk), desk->list->list_id, role, &total, &error)) {
        json_decref(view);
        web_missing(desk->call, error);
        return;
    }
    json_t *rows = json_array();
    bool fine = true;
    for (guint i = 0; i < found->len && fine; i++) {
        json_t *row = member_view(desk->call, found->pdata[i]);
        fine = set_source(desk, row, found->pdata[i], &error);
        json_array_append_new(rows, row);
    }
    if (!fine) {
        json_decref(rows);
        json_decref(view);
        web_fail(desk->call, error);
        return;
    }
    g_autofree char *next_uri = next ? g_uri_escape_string(next, NULL, false) : NULL;
    g_autofree char *typed_uri = g_uri_escape_string(typed ? typed : "", NULL, false);
    set_roles(desk->call, view, role);
    json_object_set_new(view, "members", rows);
    json_object_set_new(view, "total", json_integer(total));
    json_object_set_new(view, "typed", json_string(typed ? typed : ""));
    json_object_set_new(view, "typed_uri", json_string(typed_uri));
    json_object_set_new(view, "next", next_uri ? json_string(next_uri) : json_null());
    desk_page(desk, status, "desk_members", view);
}

static void get_members(WebCall *call)
{
    g_auto(Desk) desk = {0};
    g_autofree char *removed = web_query(call, "removed"), *added = web_query(call, "added");
    if (desk_open(&desk, call, MAY_LIST))
        show(&desk, 200, json_pack("{sb sb}", "removed", removed != NULL, "added", added != NULL));
}

/* ---- removing ---- */

/* Find the people who are ticked in the form and are on the list in that role (of Member); NULL: the store failed. */
static GPtrArray *find_ticked(const Desk *desk, Role role, GError **error)
{
    g_autoptr(GPtrArray) found = g_ptr_array_new_with_free_func((GDestroyNotify)member_free);
    GHashTableIter at;
    void *name;
    g_hash_table_iter_init(&at, desk->call->form);
    while (g_hash_table_iter_next(&at, &name, NULL)) {
        g_autoptr(GError) missing = NULL;
        if (!g_str_has_prefix(name, TICKED))
            continue;
        Member *member = member_by_id(desk_store(desk), (const char *)name + strlen(TICKED), &missing);
        if (member && member->role == role && strcmp(member->list_id, desk->list->list_id) == 0) {
            g_ptr_array_add(found, member);
            continue;
        }
        g_clear_pointer(&member, member_free);
        if (missing && !g_error_matches(missing, FAIL, FAIL_MISSING) && !g_error_matches(missing, FAIL, FAIL_NEVER)) {
            g_propagate_error(error, g_steal_pointer(&missing));
            return NULL;
        }
    }
    return g_steal_pointer(&found);
}

static void ask_to_remove(const Desk *desk, Role role, const GPtrArray *ticked)
{
    json_t *rows = json_array(), *view = json_object();
    for (guint i = 0; i < ticked->len; i++)
        json_array_append_new(rows, member_view(desk->call, ticked->pdata[i]));
    set_roles(desk->call, view, role);
    json_object_set_new(view, "members", rows);
    desk_page(desk, 200, "desk_remove", view);
}

/* FAIL_NEVER: nobody would own the list any more. */
static bool remove_all(const Desk *desk, Work *work, Role role, const GPtrArray *ticked, GError **error)
{
    int64_t left;
    const char *list_id = desk->list->list_id;
    for (guint i = 0; i < ticked->len; i++)
        if (!roster_remove(work, list_id, role, ((const Member *)ticked->pdata[i])->address, error))
            return false;
    return role != ROLE_OWNER || (member_count(desk_store(desk), list_id, role, &left, error) &&
                                  (left > 0 || fail(error, FAIL_NEVER, "the list would have no owner")));
}

static void post_members(WebCall *call)
{
    GError *error = NULL;
    g_auto(Desk) desk = {0};
    if (!desk_open(&desk, call, MAY_LIST))
        return;
    const Role role = read_role(web_field(call, "role"));
    g_autoptr(GPtrArray) ticked = find_ticked(&desk, role, &error);
    if (!ticked)
        web_fail(call, error);
    else if (ticked->len == 0)
        show(&desk, 400, json_pack("{sb}", "nothing", true));
    else if (!*web_field(call, "confirm"))
        ask_to_remove(&desk, role, ticked);
    if (call->answered)
        return;
    g_autoptr(Work) work = desk_begin(&desk);
    if (!work)
        return;
    if (!remove_all(&desk, work, role, ticked, &error)) {
        work_cancel(work);
        desk_refuse(&desk, error, show, json_object());
    } else if (web_commit(call, work)) {
        g_autofree char *path = g_strdup_printf("/members?role=%s&removed=%u", roles[role].word, ticked->len);
        desk_see(&desk, path);
    }
}

/* ---- CSV ---- */

/* A list of members that is being sent. */
typedef struct CsvStream {
    Web *web;
    char *list_id, *after; /* after NULL: from the first */
    Role role;
    bool begun;
} CsvStream;

/* Append a field (RFC 4180). A name that a spreadsheet would take for a formula has an apostrophe before it. */
static void add_cell(GString *text, const char *cell, bool is_name)
{
    g_string_append_c(text, '"');
    if (is_name && *cell && strchr("=+-@\t", *cell))
        g_string_append_c(text, '\'');
    for (; *cell; cell++) {
        if (*cell == '"')
            g_string_append_c(text, '"');
        g_string_append_c(text, *cell);
    }
    g_string_append_c(text, '"');
}

/* The next members; *end: there are no more. */
static bool add_some(CsvStream *self, GString *text, bool *end, GError **error)
{
    MemberCriteria criteria = MEMBER_CRITERIA_ALL;
    criteria.list_id = self->list_id;
    criteria.roles = 1u << self->role;
    char *next = NULL;
    if (!self->web->store)
        return fail(error, FAIL_LATER, "the database is away");
    g_autoptr(GPtrArray) page = member_page(self->web->store, &criteria, self->after, PORTION, &next, error);
    for (guint i = 0; page && i < page->len; i++) {
        const Member *member = page->pdata[i];
        g_autofree char *since = day_text(member->joined_at);
        add_cell(text, member->address, false);
        g_string_append_c(text, ',');
        add_cell(text, member->given_name, true);
        g_string_append_printf(text, ",%s,%s,%s\r\n", delivery_status_text(member->effective.delivery_status),
                               delivery_mode_text(member->effective.delivery_mode), since);
    }
    g_free(self->after);
    self->after = next;
    *end = !next;
    return page != NULL;
}

static void room(HttpStream *stream)
{
    CsvStream *self = http_stream_data(stream);
    g_autoptr(GError) error = NULL;
    bool end = false;
    g_autoptr(GString) text = g_string_new(self->begun ? "" : "address,name,delivery_status,delivery_mode,joined\r\n");
    self->begun = true;
    if (!add_some(self, text, &end, &error)) {
        log_error("a list of members was cut short: %s", error->message);
        http_stream_end(stream);
        return;
    }
    if (text->len > 0)
        http_stream_send(stream, text->str, text->len);
    if (end)
        http_stream_finish(stream);
}

static void closed(HttpStream *stream)
{
    CsvStream *self = http_stream_data(stream);
    self->web->streams--;
    g_free(self->list_id);
    g_free(self->after);
    g_free(self);
}

static void get_csv(WebCall *call)
{
    static const HttpStreamSpec spec = {.room = room, .closed = closed, .finite = true};
    static const char type[] = "text/csv; charset=utf-8";
    g_auto(Desk) desk = {0};
    g_autofree char *word = web_query(call, "role");
    if (!desk_open(&desk, call, MAY_LIST))
        return;
    if (call->web->streams >= STREAMS) {
        http_set_header(call->http, "Retry-After", "30");
        web_notice(call, 503, "later", NULL);
        return;
    }
    const Role role = read_role(word);
    g_autofree char *how = g_strdup_printf("attachment; filename=\"%s-%s.csv\"", desk.list->list_name,
                                           roles[role].word);
    web_set_headers(call);
    http_set_header(call->http, "Content-Disposition", how);
    call->answered = true;
    if (strcmp(http_verb(call->http), "HEAD") == 0) {
        http_answer(call->http, 200, type, "", 0);
        return;
    }
    CsvStream *self = g_new0(CsvStream, 1);
    *self = (CsvStream){.web = call->web, .list_id = g_strdup(desk.list->list_id), .role = role};
    call->web->streams++;
    room(http_stream(call->http, type, &spec, self));
}

const WebRoute web_desk_members[] = {
    {"GET", "/desk/list/{}/members", get_members},
    {"POST", "/desk/list/{}/members", post_members},
    {"GET", "/desk/list/{}/members.csv", get_csv},
    {.verb = NULL},
};
