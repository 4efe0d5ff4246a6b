/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The people of a list: members are searched, removed and saved as CSV, and others are added, from lines or CSV
 * (lists/people/member_line.h). Two pages tell which mail to members comes back, and which sources they come from.
 * Names are those that came with the membership. */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/mailbox.h"
#include "lists/people/join.h"
#include "lists/people/member_line.h"
#include "lists/people/own_address.h"
#include "lists/people/roster.h"
#include "lists/sources/source.h"
#include "runners/web/desk.h"
#include "store/lists/list_setting.h"
#include "store/people/ban.h"
#include "store/people/bounce.h"
#include "store/people/member.h"
#include "store/people/source.h"

#define TICKED "member-"
#define PORTION 500 /* members that the CSV has from one reading of the store */
#define STREAMS 50  /* answers of any size that are on their way at once */
#define FORMULA "=+-@\t" /* what a spreadsheet takes for one begins so */

static json_t *member_view(const WebCall *call, const Member *member)
{
    static const char *const states[] = {[DELIVERY_ENABLED] = N_("Mail comes"),
                                         [DELIVERY_BY_USER] = N_("stopped by the member"),
                                         [DELIVERY_BY_BOUNCES] = N_("stopped, since mail came back"),
                                         [DELIVERY_BY_MODERATOR] = N_("stopped by an owner"),
                                         [DELIVERY_UNKNOWN] = N_("stopped")};
    const char *state = states[CLAMP(member->effective.delivery_status, 0, DELIVERY_UNKNOWN)];
    g_autofree char *since = web_day(member->joined_at);
    json_t *view = json_pack("{ss ss ss sb}", "id", member->id, "since", since, "state", web_say(call, state), "digest",
                             member->effective.delivery_mode != MODE_REGULAR);
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
                                             web_say(call, roles[role].title), "selected", (Role)role == chosen));
    json_object_set_new(view, "roles", all);
    json_object_set_new(view, "role", json_string(roles[chosen].word));
    json_object_set_new(view, "title", json_string(web_say(call, roles[chosen].title)));
}

/* ---- searching ---- */

/* view is taken. */
static void show(Desk *desk, int status, json_t *view)
{
    GError *error = NULL;
    int64_t total;
    g_autofree char *typed = web_query(desk->call, "q"), *after = web_query(desk->call, "after");
    g_autofree char *word = web_query(desk->call, "role"), *next = NULL;
    const Role role = read_role(word);
    /* The text that was typed may stand anywhere, unless there is a * in it. */
    g_autofree char *text = g_strstrip(g_strdup(typed ? typed : "")), *anywhere = g_strdup_printf("*%s*", text);
    MemberCriteria criteria = MEMBER_CRITERIA_ALL;
    criteria.list_id = desk->list->list_id;
    criteria.roles = 1u << role;
    criteria.subscriber = !*text ? NULL : strchr(text, '*') ? text : anywhere;
    criteria.given_names = true;
    g_autoptr(GPtrArray) found = member_page(desk_store(desk), &criteria, after, DESK_PAGE, &next, &error);
    if (!found || !member_count(desk_store(desk), desk->list->list_id, role, &total, &error)) {
        json_decref(view);
        web_missing(desk->call, error);
        return;
    }
    json_t *rows = json_array();
    json_object_set_new(view, "members", rows);
    for (guint i = 0; i < found->len; i++) {
        const Member *member = found->pdata[i];
        g_auto(GStrv) sources = source_of_member(desk_store(desk), member->id, &error);
        if (!sources) {
            json_decref(view);
            web_fail(desk->call, error);
            return;
        }
        g_autofree char *source = g_strjoinv(", ", sources);
        json_t *row = member_view(desk->call, member);
        desk_set_line(row, "source", source);
        json_array_append_new(rows, row);
    }
    g_autofree char *next_uri = next ? g_uri_escape_string(next, NULL, false) : NULL;
    g_autofree char *typed_uri = g_uri_escape_string(typed ? typed : "", NULL, false);
    set_roles(desk->call, view, role);
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

/* People who are ticked are shown once more, and removed when that form comes with "confirm": all of them, or none. */
static void post_members(WebCall *call)
{
    GError *error = NULL;
    g_auto(Desk) desk = {0};
    if (!desk_open(&desk, call, MAY_LIST))
        return;
    const Role role = read_role(web_field(call, "role"));
    g_autoptr(GPtrArray) ticked = find_ticked(&desk, role, &error);
    if (!ticked) {
        web_fail(call, error);
        return;
    }
    if (ticked->len == 0) {
        show(&desk, 400, json_pack("{sb}", "nothing", true));
        return;
    }
    if (!*web_field(call, "confirm")) {
        json_t *rows = json_array(), *view = json_pack("{so}", "members", rows);
        for (guint i = 0; i < ticked->len; i++)
            json_array_append_new(rows, member_view(call, ticked->pdata[i]));
        set_roles(call, view, role);
        desk_page(&desk, 200, "desk_remove", view);
        return;
    }
    g_autoptr(Work) work = desk_begin(&desk);
    if (!work)
        return;
    const char *list_id = desk.list->list_id;
    bool done = true;
    for (guint i = 0; done && i < ticked->len; i++) {
        g_autoptr(Mailbox) address = mailbox_new(((const Member *)ticked->pdata[i])->address);
        done = roster_remove(work, list_id, role, address, &error);
    }
    int64_t left = 1;
    if (done && role == ROLE_OWNER)
        done = member_count(desk_store(&desk), list_id, role, &left, &error) &&
               (left > 0 || fail(&error, FAIL_NEVER, "the list would have no owner"));
    if (!done) {
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
    if (is_name && *cell && strchr(FORMULA, *cell))
        g_string_append_c(text, '\'');
    for (; *cell; cell++) {
        if (*cell == '"')
            g_string_append_c(text, '"');
        g_string_append_c(text, *cell);
    }
    g_string_append_c(text, '"');
}

/* Send the next members. The answer ends with the last one, or is cut short when they cannot be read. */
static void room(HttpStream *stream)
{
    CsvStream *self = http_stream_data(stream);
    g_autoptr(GError) error = NULL;
    g_autofree char *after = g_steal_pointer(&self->after);
    g_autoptr(GString) text = g_string_new(self->begun ? "" : "address,name,delivery_status,delivery_mode,joined\r\n");
    self->begun = true;
    MemberCriteria criteria = MEMBER_CRITERIA_ALL;
    criteria.list_id = self->list_id;
    criteria.roles = 1u << self->role;
    g_autoptr(GPtrArray) page = NULL;
    if (self->web->seat.store)
        page = member_page(self->web->seat.store, &criteria, after, PORTION, &self->after, &error);
    else
        fail(&error, FAIL_LATER, "the database is away");
    if (!page) {
        log_error("a list of members was cut short: %s", error->message);
        http_stream_end(stream);
        return;
    }
    for (guint i = 0; i < page->len; i++) {
        const Member *member = page->pdata[i];
        g_autofree char *since = web_day(member->joined_at);
        add_cell(text, member->address, false);
        g_string_append_c(text, ',');
        add_cell(text, member->given_name, true);
        g_string_append_printf(text, ",%s,%s,%s\r\n", delivery_status_text(member->effective.delivery_status),
                               delivery_mode_text(member->effective.delivery_mode), since);
    }
    bool end = !self->after;
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

/* ---- adding ---- */

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
static bool find_bar(const Desk *desk, Work *work, const Adding *adding, const Mailbox *address, char **why,
                     GError **error)
{
    g_autofree char *by = NULL;
    *why = NULL;
    if (!address->legible) {
        *why = g_strdup("no mail address");
        return true;
    }
    if (!own_address_bars(work, desk->list->list_id, adding->role, address->text, why, error))
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
    g_autoptr(Mailbox) address = mailbox_new(line->address);
    if ((!why && !find_bar(desk, work, adding, address, &why, error)) ||
        (!why && !member_look_up(desk_store(desk), desk->list->list_id, adding->role, address, &there, error)))
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
        if (!member_lines_next(lines, &line, &refusal)) {
            last = !g_error_matches(refusal, FAIL, FAIL_NEVER);
            note(preview->bad, &line, refusal->message);
            preview->bad_count++;
            continue;
        }
        last = line.last;
        g_autofree char *lower = line.address ? g_utf8_strdown(line.address, -1) : NULL;
        char *name = line.display_name;
        if (name && *name == '\'' && name[1] && strchr(FORMULA, name[1])) /* as the CSV has it that was saved here */
            memmove(name, name + 1, strlen(name));
        if (!last && g_hash_table_add(seen, g_steal_pointer(&lower)))
            done = take(desk, work, adding, &line, preview, error);
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

static void get_add(WebCall *call)
{
    g_auto(Desk) desk = {0};
    if (desk_open(&desk, call, MAY_LIST))
        desk_page(&desk, 200, "desk_add", json_pack("{sb}", "asks", true));
}

/* The first form shows what the lines would do. The second has "confirm", and adds all or none. */
static void post_add(WebCall *call)
{
    GError *error = NULL;
    g_auto(Desk) desk = {0};
    if (!desk_open(&desk, call, MAY_LIST))
        return;
    const Adding adding = read_adding(call);
    const bool confirmed = *web_field(call, "confirm");
    g_auto(Preview) preview = {.people = g_ptr_array_new_with_free_func(line_free),
                               .added = json_array(),
                               .there = json_array(),
                               .bad = json_array()};
    g_autoptr(Work) work = confirmed ? desk_begin(&desk) : web_look(call);
    if (!work)
        return;
    bool done = read_lines(&desk, work, &adding, &preview, &error);
    const unsigned count = preview.people->len;
    if (done && !confirmed) {
        desk_page(&desk, 200, "desk_add",
                  json_pack("{sb sb sb ss ss sO sO sO si si si sb sb}", "previews", true, "invites", adding.invite,
                            "any", count > 0, "how", adding.how, "people", web_field(call, "people"), "added",
                            preview.added, "there", preview.there, "bad", preview.bad, "count", (int)count,
                            "there_count", (int)preview.there_count, "bad_count", (int)preview.bad_count, "more",
                            count > SHOWN, "adds", !adding.invite));
        return;
    }
    for (guint i = 0; done && i < count; i++) {
        const MemberLine *line = preview.people->pdata[i];
        g_auto(Subscription) made = {0};
        g_autoptr(Mailbox) address = mailbox_new(line->address);
        const Joiner joiner = {.address = address, .name = line->display_name, .facts = FACT_APPROVED | FACT_INVITED};
        const RosterEntry entry = {
            .role = adding.role, .address = address, .name = line->display_name, .own = &line->own};
        done = adding.invite ? join_ask(work, desk.list, &joiner, &made, &error)
                             : roster_add(work, desk.list->list_id, &entry, &error);
    }
    if (!done) {
        if (confirmed)
            work_cancel(work);
        web_fail(call, error);
    } else if (web_commit(call, work)) {
        g_autofree char *path = g_strdup_printf("/members?role=%s&added=%u", adding.invite ? "member" : adding.how,
                                                count);
        desk_see(&desk, path);
    }
}

/* ---- bounces ---- */

#define DAYS 90
#define STEP 4 /* units of the chart for a day */
#define HEIGHT 40
#define SCORES 200 /* members who are shown */

typedef struct Chart {
    int64_t first; /* day */
    int64_t bounces[DAYS];
} Chart;

static bool count_day(const BounceDay *day, void *data)
{
    Chart *chart = data;
    if (day->day >= chart->first && day->day < chart->first + DAYS)
        chart->bounces[day->day - chart->first] += day->bounces;
    return true;
}

static bool add_standing(const BounceScore *score, const BounceDay *last, void *data)
{
    json_t *rows = data;
    g_autofree char *points = g_strdup_printf("%" G_GINT64_FORMAT ".%02d", score->score / 100,
                                              (int)(score->score % 100));
    json_t *view = json_pack("{ss sb}", "points", points, "stopped", score->status == DELIVERY_BY_BOUNCES);
    desk_set_line(view, "address", score->address);
    desk_set_line(view, "reason", last ? last->reason : "");
    desk_set_line(view, "text", last ? last->text : "");
    json_array_append_new(rows, view);
    return json_array_size(rows) < SCORES;
}

/* A chart of the last days, and the members who stand badly. */
static void get_bounces(WebCall *call)
{
    GError *error = NULL;
    g_auto(Desk) desk = {0};
    if (!desk_open(&desk, call, MAY_LIST))
        return;
    Chart chart = {.first = clock_now() / BOUNCE_DAY - DAYS + 1};
    const BounceFilter of_list = {.list_id = desk.list->list_id};
    const BounceFilter lately = {.list_id = desk.list->list_id, .since = chart.first * BOUNCE_DAY};
    json_t *view = json_object(), *rows = json_array();
    json_object_set_new(view, "members", rows);
    if (!bounce_day_each(desk_store(&desk), &lately, count_day, &chart, &error) ||
        !bounce_standing_each(desk_store(&desk), &of_list, add_standing, rows, &error)) {
        json_decref(view);
        web_fail(call, error);
        return;
    }
    json_t *bars = json_array();
    int64_t total = 0;
    int most = 0; /* the day with most bounces */
    for (int i = 0; i < DAYS; i++) {
        total += chart.bounces[i];
        most = chart.bounces[i] > chart.bounces[most] ? i : most;
    }
    for (int i = 0; i < DAYS; i++) {
        const int height = (int)MAX(chart.bounces[i] * HEIGHT / MAX(chart.bounces[most], 1), 1);
        if (chart.bounces[i] > 0)
            json_array_append_new(bars, json_pack("{si si si}", "x", i * STEP, "y", HEIGHT - height, "height", height));
    }
    g_autoptr(GDateTime) day = g_date_time_new_from_unix_utc((chart.first + most) * (BOUNCE_DAY / CLOCK_SECOND));
    g_autofree char *most_day = g_date_time_format(day, "%Y-%m-%d");
    json_object_set_new(view, "total", json_integer(total));
    json_object_set_new(view, "most", json_integer(chart.bounces[most]));
    json_object_set_new(view, "most_day", json_string(most_day));
    json_object_set_new(view, "chart",
                        total > 0 ? json_pack("{si si so}", "width", DAYS * STEP, "height", HEIGHT, "bars", bars)
                                  : (json_decref(bars), json_null()));
    json_object_set_new(view, "threshold", json_integer(desk.list->settings->bounce_score_threshold));
    json_object_set_new(view, "more", json_boolean(json_array_size(rows) >= SCORES));
    desk_page(&desk, 200, "desk_bounces", view);
}

/* ---- sources ---- */

/* Where members come from, and how the last reading went. Nothing can be set here: the operator does that. */
static void get_sources(WebCall *call)
{
    static const char *const kinds[] = {[SOURCE_FILE] = N_("File"),
                                        [SOURCE_URL] = N_("Address of the web"),
                                        [SOURCE_LIST] = N_("Another list"),
                                        [SOURCE_SQL] = N_("Database"),
                                        [SOURCE_LDAP] = N_("Directory")};
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
    for (guint at = 0; at < all->len; at++) {
        const MemberSource *source = all->pdata[at];
        g_autofree char *place = source_shown(source);
        const char *kind = kinds[CLAMP(source->kind, 0, (int)G_N_ELEMENTS(kinds) - 1)];
        json_t *bad_lines = json_array();
        json_t *row = json_pack("{ss sI sI so}", "kind", web_say(call, kind), "given", (json_int_t)source->given,
                                "kept_out", (json_int_t)source->kept_out, "lines", bad_lines);
        g_auto(GStrv) lines = g_strsplit(source->bad_lines ? source->bad_lines : "", "\n", -1);
        for (char **line = lines; *line; line++) {
            json_t *one = json_object();
            desk_set_line(one, "line", *line);
            json_array_append_new(bad_lines, one);
        }
        desk_set_line(row, "name", source->name);
        desk_set_line(row, "place", place);
        desk_set_line(row, "fault", source->fault);
        if (source->read_at > 0)
            web_set_time(row, "when", source->read_at);
        json_array_append_new(rows, row);
    }
    desk_page(&desk, 200, "desk_sources", json_pack("{so}", "sources", rows));
}

const WebRoute web_desk_members[] = {
    {"GET", "/desk/list/{}/members", get_members},
    {"POST", "/desk/list/{}/members", post_members},
    {"GET", "/desk/list/{}/members.csv", get_csv},
    {"GET", "/desk/list/{}/members/add", get_add},
    {"POST", "/desk/list/{}/members/add", post_add},
    {"GET", "/desk/list/{}/bounces", get_bounces},
    {"GET", "/desk/list/{}/sources", get_sources},
    {.verb = NULL},
};
