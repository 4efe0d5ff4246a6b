/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The log of a list has each change, of all kinds or one, and the button that undoes one of a setting or a ban.
 * Another page says what became of a post: each recipient with the attempts to reach him, of one list, or for
 * operators of all. */
#include <string.h>

#include "base/fail.h"
#include "base/trail/trail.h"
#include "lists/change.h"
#include "lists/posts/trace.h"
#include "mail/visible.h"
#include "runners/web/desk.h"

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
            return web_say(call, words->text);
    return word;
}

static json_t *row_view(const Desk *desk, const ListLogRow *row)
{
    Role role;
    Undo undo;
    const WebCall *call = desk->call;
    const bool left = role_parse(row->kind, &role) && row->before && row->after;
    const bool decided = strcmp(row->kind, LOG_POST) == 0 || strcmp(row->kind, LOG_SCHEDULED) == 0 ||
                         strcmp(row->kind, LOG_REQUEST) == 0;
    const bool may_undo = may_restore(desk, row, NULL) && change_look(desk_store(desk), desk->list, row, &undo, NULL) &&
                          undo == UNDO_DONE;
    json_t *view = json_pack("{sI ss ss sb sb}", "key", (json_int_t)row->key, "kind", text_of(call, kinds, row->kind),
                             "door", text_of(call, doors, row->door), "may_undo", may_undo, "has_values",
                             row->before || row->after);
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

/* view is taken. */
static void show(Desk *desk, int status, json_t *view)
{
    GError *error = NULL;
    int64_t before = 0;
    const WebCall *call = desk->call;
    const char *asked = kind_asked(call);
    json_t *choices = json_array(), *shown = json_array();
    json_object_set_new(view, "kinds", choices);
    json_object_set_new(view, "rows", shown);
    json_object_set_new(view, "of_kind", asked ? json_string(asked) : json_null());
    for (const Word *kind = kinds; kind->word; kind++)
        json_array_append_new(choices, json_pack("{ss ss sb}", "word", kind->word, "text", web_say(call, kind->text),
                                                 "selected", kind->word == asked));
    g_autofree char *from = web_query(call, "before");
    if (from)
        g_ascii_string_to_signed(from, 10, 1, G_MAXINT64, &before, NULL);
    g_autoptr(GPtrArray) rows = list_log_page(desk_store(desk), desk->list->list_id, asked, before, ROWS + 1, &error);
    if (!rows) {
        json_decref(view);
        web_fail(desk->call, error);
        return;
    }
    for (guint i = 0; i < MIN(rows->len, ROWS); i++)
        json_array_append_new(shown, row_view(desk, rows->pdata[i]));
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
    g_autoptr(ListLogRow) row = list_log_find(desk_store(&desk), desk.list->list_id, key, &error);
    if (!row || !may_restore(&desk, row, &error) || !change_undo(work, desk.list, key, &result, &error)) {
        desk_refuse(&desk, error, show, json_object());
        return;
    }
    if (result != UNDO_DONE) {
        show(&desk, 409, json_pack("{sb}", result == UNDO_CHANGED ? "changed" : "not_possible", true));
    } else if (web_commit(call, work)) {
        const char *kind = kind_asked(call); /* the rows among which the button was */
        g_autofree char *place = g_strconcat("/log?undone=1", kind ? "&kind=" : "", kind ? kind : "", NULL);
        desk_see(&desk, place);
    }
}

/* ---- what became of a post ---- */

static const char *trace_text(const json_t *row, const char *name)
{
    const char *text = json_string_value(json_object_get(row, name));
    return text ? text : "";
}

/* The object of the array whose "key" this is, made where there is none. */
static json_t *object_of(json_t *array, const char *key)
{
    size_t at;
    json_t *object;
    json_array_foreach(array, at, object)
        if (strcmp(trace_text(object, "key"), key) == 0)
            return object;
    object = json_object();
    g_autofree char *valid = g_utf8_make_valid(key, -1);
    json_object_set_new(object, "key", json_string(valid));
    json_array_append_new(array, object);
    return object;
}

static json_t *array_of(json_t *object, const char *name)
{
    if (!json_object_get(object, name))
        json_object_set_new(object, name, json_array());
    return json_object_get(object, name);
}

/* Add a row to its mail: to a recipient's attempts, or to what was done with the mail. */
static void add_row(json_t *mails, const json_t *row)
{
    static const char *const lines[] = {"time", "program", "host", "dsn"};
    const char *email = trace_text(row, "email"), *status = trace_text(row, "status");
    json_t *mail = object_of(mails, trace_text(row, "trace")), *view = json_object();
    for (size_t i = 0; i < G_N_ELEMENTS(lines); i++)
        desk_set_line(view, lines[i], trace_text(row, lines[i]));
    desk_set_line(view, "text", trace_text(row, *status ? "reply" : "text"));
    desk_set_line(mail, "of_list", trace_text(row, "list"));
    if (!*email) {
        json_array_append_new(array_of(mail, "steps"), view);
        return;
    }
    if (*status)
        json_object_set_new(view,
                            strcmp(status, "sent") == 0      ? "is_sent"
                            : strcmp(status, "bounced") == 0 ? "is_bounced"
                                                             : "is_deferred",
                            json_true());
    json_t *member = object_of(array_of(mail, "members"), email);
    g_autofree char *uri = g_uri_escape_string(email, NULL, false);
    json_object_set_new(member, "uri", json_string(uri));
    desk_set_line(member, "address", email);
    json_array_append_new(array_of(member, "attempts"), view);
}

static void set_uri(json_t *view, const char *name, const char *text)
{
    g_autofree char *uri = g_uri_escape_string(text, NULL, false);
    json_object_set_new(view, name, json_string(uri));
}

/* Set what was found. False: *error is set, or the place is none. */
static bool set_found(const Desk *desk, PostTrace *trace, const char *place, json_t *view, GError **error)
{
    int64_t since;
    size_t at;
    json_t *one;
    g_autoptr(json_t) rows = json_array();
    if (!trace_begin(trace, place) || !trace_read(trace, rows, error) || !trail_since(trace->directory, &since, error))
        return false;
    g_autoptr(json_t) not_asked = trace_not_asked(desk_store(desk), desk->call->web->config, error);
    if (!not_asked)
        return false;
    json_array_foreach(not_asked, at, one) {
        json_t *host = json_object(); /* which may know more */
        desk_set_line(host, "host", json_string_value(one));
        json_array_append_new(array_of(view, "hosts"), host);
        json_object_set_new(view, "not_asked", json_true());
    }
    json_t *mails = array_of(view, "mails");
    json_array_foreach(rows, at, one)
        add_row(mails, one);
    if (trace->next)
        set_uri(view, "next", trace->next);
    if (since)
        web_set_time(view, "since", since);
    json_object_set_new(view, "nothing", json_boolean(json_array_size(rows) == 0));
    json_object_set_new(view, "damaged", json_boolean(trace->damaged > 0));
    json_object_set_new(view, "more_mails", json_boolean(trace->more_mails));
    return true;
}

static void show_trace(Desk *desk, json_t *view)
{
    GError *error = NULL;
    const WebCall *call = desk->call;
    g_autofree char *typed = web_query(call, "of"), *address = web_query(call, "address");
    g_autofree char *place = web_query(call, "from"), *key = NULL;
    g_strstrip(typed ? typed : (typed = g_strdup("")));
    g_strstrip(address ? address : (address = g_strdup("")));
    json_object_set_new(view, "typed", json_string(typed));
    json_object_set_new(view, "typed_address", json_string(address));
    set_uri(view, "typed_uri", typed);
    set_uri(view, "address_uri", address);
    const char *number = typed + (*typed == '#');
    size_t digits = strspn(number, "0123456789");
    if (desk->list && digits > 0 && digits < TRACE_DIGITS && !number[digits]) /* on a page of a list that is enough */
        key = g_strdup_printf("%s#%s", desk->list->list_id, number);
    else if (*typed)
        key = trace_find_key(desk_store(desk), typed, &error);
    g_auto(PostTrace) trace = {.directory = config_string(call->web->config, "trail", "directory"),
                               .key = key,
                               .list = desk->list,
                               .address = *address ? address : NULL,
                               .most = DESK_PAGE};
    bool unknown = g_error_matches(error, FAIL, FAIL_MISSING) || g_error_matches(error, FAIL, FAIL_NEVER);
    if (unknown)
        g_clear_error(&error);
    json_object_set_new(view, "nothing", json_boolean(unknown));
    if (key)
        set_found(desk, &trace, place, view, &error);
    if (!error) {
        desk_page(desk, 200, "desk_trace", view);
        return;
    }
    json_decref(view);
    web_fail(desk->call, error);
}

static void get_of_list(WebCall *call)
{
    g_auto(Desk) desk = {0};
    if (!desk_open(&desk, call, MAY_LIST))
        return;
    g_autofree char *path = g_uri_escape_string(desk.list->list_id, NULL, false);
    show_trace(&desk, json_pack("{so}", "action", json_sprintf("%s/desk/list/%s/trace", call->web->base, path)));
}

static void get_of_site(WebCall *call)
{
    g_auto(Desk) desk = {0};
    if (desk_open_site(&desk, call))
        show_trace(&desk,
                   json_pack("{so sb}", "action", json_sprintf("%s/desk/site/trace", call->web->base), "all", true));
}

const WebRoute web_desk_log[] = {
    {"GET", "/desk/list/{}/log", get_log},
    {"POST", "/desk/list/{}/log", post_log},
    {"GET", "/desk/list/{}/trace", get_of_list},
    {"GET", "/desk/site/trace", get_of_site},
    {.verb = NULL},
};
