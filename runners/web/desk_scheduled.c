/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * Posts of a list that wait for the time at which they are to be sent: shown, moved, sent, cancelled. Neither lists nor
 * people have a time zone, so the page has one, UTC unless the person chooses another, in which all times on it are
 * shown and typed.
 */
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "lists/posts/scheduled_post.h"
#include "mail/send_at.h"
#include "runners/web/desk.h"

/* The offsets from UTC that are in use. */
static const char *const zones[] = {"-12:00", "-11:00", "-10:00", "-09:30", "-09:00", "-08:00", "-07:00", "-06:00",
                                    "-05:00", "-04:00", "-03:30", "-03:00", "-02:30", "-02:00", "-01:00", "+00:00",
                                    "+01:00", "+02:00", "+03:00", "+03:30", "+04:00", "+04:30", "+05:00", "+05:30",
                                    "+05:45", "+06:00", "+06:30", "+07:00", "+08:00", "+08:45", "+09:00", "+09:30",
                                    "+10:00", "+10:30", "+11:00", "+12:00", "+12:45", "+13:00", "+13:45", "+14:00"};
#define UTC "+00:00"

/* The same text of the table; UTC where it is none of it. */
static const char *zone_of(const char *text)
{
    for (size_t at = 0; at < G_N_ELEMENTS(zones); at++)
        if (g_strcmp0(zones[at], text) == 0)
            return zones[at];
    return UTC;
}

/* "UTC", "UTC+01:00"; g_free() */
static char *zone_name(const char *zone)
{
    return g_strconcat("UTC", strcmp(zone, UTC) == 0 ? "" : zone, NULL);
}

/* ---- showing ---- */

typedef struct PostRows {
    json_t *rows;
    GTimeZone *zone;
    int64_t now, asked; /* about the post of this number the page asks; 0: about none */
    bool more;
} PostRows;

static bool add_post(const Scheduled *post, void *data)
{
    PostRows *self = data;
    if (self->asked != 0 && post->number != self->asked)
        return true;
    self->more = json_array_size(self->rows) >= DESK_PAGE;
    if (self->more)
        return false;
    g_autoptr(GDateTime) due = g_date_time_new_from_unix_utc(post->due_at / CLOCK_SECOND);
    g_autoptr(GDateTime) here = g_date_time_to_timezone(due, self->zone);
    g_autofree char *day = g_date_time_format(here, "%Y-%m-%d"), *minute = g_date_time_format(here, "%H:%M");
    g_autofree char *fault = scheduled_post_fault(post, self->now);
    json_t *view = json_pack("{sI ss ss}", "number", (json_int_t)post->number, "day", day, "minute", minute);
    web_set_time(view, "due", post->due_at);
    if (post->subject && *post->subject)
        desk_set_line(view, "subject", post->subject);
    desk_set_line(view, "author", post->author ? post->author : post->sender);
    if (fault)
        desk_set_line(view, "trouble", fault);
    json_array_append_new(self->rows, view);
    return true;
}

/* view is taken. */
static void show_posts(Desk *desk, json_t *view, int status, const char *zone, int64_t asked)
{
    GError *error = NULL;
    g_autoptr(GTimeZone) offset = g_time_zone_new_identifier(zone);
    PostRows rows = {.rows = json_array(), .zone = offset, .now = clock_now(), .asked = asked};
    json_object_set_new(view, "posts", rows.rows);
    if (!scheduled_each(desk_store(desk), desk->list->list_id, add_post, &rows, &error)) {
        json_decref(view);
        web_fail(desk->call, error);
        return;
    }
    json_object_set_new(view, "some", json_boolean(json_array_size(rows.rows) > 0));
    json_object_set_new(view, "more", json_boolean(rows.more));
    json_t *choices = json_array();
    for (size_t at = 0; at < G_N_ELEMENTS(zones); at++) {
        g_autofree char *text = zone_name(zones[at]);
        json_array_append_new(choices, json_pack("{ss ss sb}", "value", zones[at], "text", text, "selected",
                                                 strcmp(zones[at], zone) == 0));
    }
    g_autofree char *name = zone_name(zone);
    json_object_set_new(view, "zones", choices);
    json_object_set_new(view, "zone", json_string(zone));
    json_object_set_new(view, "zone_name", json_string(name));
    desk_page(desk, status, "desk_scheduled", view);
}

static void get_posts(WebCall *call)
{
    g_auto(Desk) desk = {0};
    g_autofree char *zone = web_query(call, "zone"), *done = web_query(call, "done");
    if (desk_open(&desk, call, MAY_MODERATOR))
        show_posts(&desk,
                   json_pack("{sb sb sb sb}", "moved", g_strcmp0(done, "move") == 0, "sent",
                             g_strcmp0(done, "send") == 0, "cancelled", g_strcmp0(done, "cancel") == 0, "gone",
                             g_strcmp0(done, "gone") == 0),
                   200, zone_of(zone), 0);
}

/* ---- changing ---- */

/* A time that is over sends nothing: somebody may have mistyped it. False, with the view of the page that says so. */
static bool read_time(WebCall *call, const char *zone, int64_t *due, json_t **refusal)
{
    g_autoptr(GError) wrong = NULL;
    g_autofree char *text = g_strdup_printf("%s %s %s", web_field(call, "day"), web_field(call, "minute"), zone);
    *refusal = NULL;
    if (!send_at_read(text, clock_now(), due, &wrong)) {
        *refusal = json_object();
        desk_set_line(*refusal, "fault", wrong->message);
    } else if (*due <= clock_now()) {
        *refusal = json_pack("{sb}", "past", true);
    }
    return !*refusal;
}

/* FAIL_MISSING also for a post of another list. */
static bool change(const Desk *desk, Work *work, const char *word, int64_t due, GError **error)
{
    int64_t number = g_ascii_strtoll(web_field(desk->call, "post"), NULL, 10);
    g_autoptr(Scheduled) post = scheduled_find(desk_store(desk), number, error);
    if (!post)
        return false;
    if (strcmp(post->list_id, desk->list->list_id) != 0)
        return fail(error, FAIL_MISSING, "the post is of another list");
    return strcmp(word, "move") == 0   ? scheduled_post_move(work, number, due, error)
           : strcmp(word, "send") == 0 ? scheduled_post_send(work, number, error)
                                       : scheduled_post_drop(work, number, error);
}

/* A post that is sent or cancelled cannot be called back, so both are asked about. */
static void post_posts(WebCall *call)
{
    int64_t due = 0;
    json_t *refusal = NULL;
    g_autoptr(GError) error = NULL;
    g_auto(Desk) desk = {0};
    if (!desk_open(&desk, call, MAY_MODERATOR))
        return;
    const char *word = web_field(call, "do"), *zone = zone_of(web_field(call, "zone"));
    bool sends = strcmp(word, "send") == 0, cancels = strcmp(word, "cancel") == 0, moves = strcmp(word, "move") == 0;
    int64_t asked = g_ascii_strtoll(web_field(call, "post"), NULL, 10);
    if (!sends && !cancels && !moves) {
        show_posts(&desk, json_object(), 400, zone, 0);
        return;
    }
    if (!moves && !*web_field(call, "confirm") && asked > 0) {
        show_posts(&desk, json_pack("{sb sb sb}", "asks", true, "asks_send", sends, "asks_cancel", cancels), 200, zone,
                   asked);
        return;
    }
    if (moves && !read_time(call, zone, &due, &refusal)) {
        show_posts(&desk, refusal, 400, zone, 0);
        return;
    }
    g_autoptr(Work) work = desk_begin(&desk);
    if (!work)
        return;
    if (change(&desk, work, word, due, &error)) {
        if (!web_commit(call, work))
            return;
    } else {
        work_cancel(work);
        if (g_error_matches(error, FAIL, FAIL_NEVER)) {
            json_t *view = json_object();
            desk_set_line(view, "fault", error->message);
            show_posts(&desk, view, 400, zone, 0);
            return;
        }
        if (!g_error_matches(error, FAIL, FAIL_MISSING)) {
            web_fail(call, g_steal_pointer(&error));
            return;
        }
        word = "gone";
    }
    g_autofree char *escaped = g_uri_escape_string(zone, NULL, false);
    g_autofree char *path = g_strdup_printf("/scheduled?done=%s&zone=%s", word, escaped);
    desk_see(&desk, path);
}

const WebRoute web_desk_scheduled[] = {
    {"GET", "/desk/list/{}/scheduled", get_posts},
    {"POST", "/desk/list/{}/scheduled", post_posts},
    {.verb = NULL},
};
