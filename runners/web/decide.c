/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * What a letter to a moderator is about, decided from the link in it (lists/moderate.h). The page has a choice for each
 * post and request that waits, one reason for all that are rejected, and one button.
 */
#include <string.h>

#include "base/clock.h"
#include "lists/moderate.h"
#include "lists/reason.h"
#include "mail/visible.h"
#include "runners/web/mail_html.h"
#include "runners/web/web.h"
#include "store/held.h"
#include "store/list.h"
#include "store/pending.h"

#define POST_FIELD "post-"
#define REQUEST_FIELD "request-"
#define BRIEF 300       /* bytes of a subject, a name, an address that a page shows */

/* "2026-11-28 01:20 UTC"; g_free(). */
static char *time_text(int64_t time)
{
    g_autoptr(GDateTime) at = g_date_time_new_from_unix_utc(time / CLOCK_SECOND);
    return g_date_time_format(at, "%Y-%m-%d %H:%M UTC");
}

typedef struct Counts {
    int of[MODERATE_UNDONE + 1]; /* how many had this ModerateOutcome */
} Counts;

static json_t *post_view(WebCall *call, Work *work, const List *list, const Held *held)
{
    g_autofree char *reasons = reason_translate(work, list, call->language, held->reason ? held->reason : "");
    g_autofree char *size = g_format_size((guint64)held->size), *since = time_text(held->held_at);
    g_autofree char *subject = visible_line(held->subject ? held->subject : "", BRIEF);
    g_autofree char *sender = visible_line(held->sender ? held->sender : "", BRIEF);
    g_autoptr(GString) why = g_string_new(NULL);
    visible_append(why, reasons, strlen(reasons));
    return json_pack("{sI ss ss ss ss ss}", "number", (json_int_t)held->number, "subject", subject, "sender", sender,
                     "reasons", why->str, "size", size, "since", since);
}

static json_t *request_view(const Pending *request)
{
    g_autofree char *since = time_text(request->made_at), *address = visible_line(request->address, BRIEF);
    g_autofree char *name = visible_line(request->display_name ? request->display_name : "", BRIEF);
    return json_pack("{sI ss ss ss sb}", "number", (json_int_t)request->number, "address", address, "name", name,
                     "since", since, "joins", request->kind == PENDING_JOIN);
}

/* The numbers behind which the page begins, from the query; 0: at the first. */
static ModerateAfter read_after(const WebCall *call)
{
    ModerateAfter after = {0};
    g_autofree char *post = web_query(call, "after"), *request = web_query(call, "after_request");
    if (post)
        g_ascii_string_to_signed(post, 10, 0, G_MAXINT64 - 1, &after.post, NULL);
    if (request)
        g_ascii_string_to_signed(request, 10, 0, G_MAXINT64 - 1, &after.request, NULL);
    return after;
}

/* "?after=12&after_request=4", or nothing for the first page. */
static char *page_query(ModerateAfter after)
{
    if (after.post == 0 && after.request == 0)
        return g_strdup("");
    return g_strdup_printf("?after=%" G_GINT64_FORMAT "&after_request=%" G_GINT64_FORMAT, after.post, after.request);
}

/* Where the page that follows begins. */
static ModerateAfter next_after(const ModerateWaiting *waiting, ModerateAfter after)
{
    const GPtrArray *posts = waiting->posts, *requests = waiting->requests;
    if (posts->len > 0)
        after.post = ((const Held *)posts->pdata[posts->len - 1])->number;
    if (requests->len > 0)
        after.request = ((const Pending *)requests->pdata[requests->len - 1])->number;
    return after;
}

/* The page with what waits. view is taken. */
static void show(WebCall *call, Work *work, const Ticket *ticket, json_t *view)
{
    GError *error = NULL;
    g_auto(ModerateWaiting) waiting = {0};
    const ModerateAfter after = read_after(call);
    g_autoptr(List) list = list_by_id(work_store(work), ticket->list_id, &error);
    if (!list || !moderate_waiting(work, ticket, after, &waiting, &error)) {
        json_decref(view);
        web_fail(call, error);
        return;
    }
    json_t *posts = json_array(), *requests = json_array();
    for (unsigned i = 0; i < waiting.posts->len; i++)
        json_array_append_new(posts, post_view(call, work, list, waiting.posts->pdata[i]));
    for (unsigned i = 0; i < waiting.requests->len; i++)
        json_array_append_new(requests, request_view(waiting.requests->pdata[i]));
    json_object_set_new(view, "list", json_string(list->posting_address));
    json_object_set_new(view, "title", json_string(list->posting_address));
    json_object_set_new(view, "moderator", json_string(ticket->moderator));
    json_object_set_new(view, "token", json_string(call->args[0]));
    g_autofree char *page = page_query(after), *next = page_query(next_after(&waiting, after));
    json_object_set_new(view, "page", json_string(page));
    json_object_set_new(view, "next", waiting.more ? json_string(next) : json_null());
    json_object_set_new(view, "reason_chars", json_integer(MODERATE_REASON_MAX / 4)); /* of up to 4 bytes each */
    json_object_set_new(view, "waits", json_boolean(waiting.posts->len + waiting.requests->len > 0));
    json_object_set_new(view, "posts", posts);
    json_object_set_new(view, "requests", requests);
    web_page(call, 200, "decide", view);
}

/* NULL: the call was answered. An unknown token is counted as a guess. */
static Ticket *find_ticket(WebCall *call, Work *work)
{
    static const struct {
        int status;
        const char *notice;
    } refusals[] = {[MODERATE_UNKNOWN] = {404, "no_ticket"},
                    [MODERATE_GUESSING] = {429, "guessing"},
                    [MODERATE_NO_MODERATOR] = {403, "no_moderator"}};
    GError *error = NULL;
    ModerateAccess access;
    Ticket *ticket = NULL;
    if (!moderate_ticket(work, call->args[0], &ticket, &access, &error))
        web_fail(call, error);
    else if (access != MODERATE_MAY)
        web_notice(call, refusals[access].status, refusals[access].notice, NULL);
    return ticket;
}

static void get_decide(WebCall *call)
{
    g_autoptr(Work) work = web_look(call);
    g_autoptr(Ticket) ticket = work ? find_ticket(call, work) : NULL;
    if (ticket)
        show(call, work, ticket, json_object());
}

/* The post that the path names; NULL: the call was answered. */
static Held *find_post(WebCall *call)
{
    GError *error = NULL;
    int64_t number;
    Held *held = NULL;
    g_autoptr(Work) work = web_look(call);
    g_autoptr(Ticket) ticket = work ? find_ticket(call, work) : NULL;
    if (!ticket)
        return NULL;
    bool good = !g_ascii_string_to_signed(call->args[1], 10, 1, G_MAXINT64, &number, NULL) ||
                moderate_post(work, ticket, number, &held, &error);
    if (!held)
        good ? web_missing(call, NULL) : web_fail(call, error);
    return held;
}

/* A post as it is read, with what it brings along. */
static void get_post(WebCall *call)
{
    g_autoptr(Held) held = find_post(call);
    if (!held)
        return;
    g_autoptr(Readable) mail = readable_new(held->message, READABLE_TEXT);
    g_autofree char *files = g_strdup_printf("%s/decide/%s/post/%s/file/", call->web->base, call->args[0],
                                             call->args[1]);
    const MailHtml how = {.theme = call->web->theme, .language = call->language, .files = files};
    g_autoptr(GString) text = g_string_new(NULL);
    mail_html(&how, mail, text);
    json_t *view = json_pack("{ss ss ss ss}", "token", call->args[0], "title", mail->head.subject, "subject",
                             mail->head.subject, "text", text->str);
    json_object_set_new(view, "from", mail_html_people(&how, &mail->head.from));
    json_object_set_new(view, "to", mail_html_people(&how, &mail->head.to));
    json_object_set_new(view, "cc", mail_html_people(&how, &mail->head.cc));
    json_object_set_new(view, "addressed", json_boolean(mail_html_is_addressed(&mail->head)));
    web_page(call, 200, "post", view);
}

static void get_file(WebCall *call)
{
    size_t number;
    g_autoptr(Held) held = find_post(call);
    if (!held)
        return;
    g_autoptr(Readable) mail = readable_new(held->message, 0);
    bool is_number = g_ascii_string_to_unsigned(call->args[2], 10, 0, G_MAXUINT32, &number, NULL);
    web_attachment(call, is_number ? readable_file(mail, number) : NULL);
}

/* Do what one field of the form says: "post-12=accept". */
static bool decide_field(Work *work, const Ticket *ticket, const char *name, ModerateOne *one, Counts *counts,
                         GError **error)
{
    ModerateOutcome outcome;
    one->is_request = g_str_has_prefix(name, REQUEST_FIELD);
    if (!one->is_request && !g_str_has_prefix(name, POST_FIELD))
        return true;
    if (!*one->word || strcmp(one->word, "defer") == 0)
        return true;
    const char *number = strchr(name, '-') + 1;
    if (!g_ascii_string_to_signed(number, 10, 1, G_MAXINT64, &one->number, NULL))
        return true;
    if (!moderate_one(work, ticket, one, &outcome, error))
        return false;
    counts->of[outcome]++;
    return true;
}

static void post_decide(WebCall *call)
{
    GError *error = NULL;
    g_autoptr(Work) look = web_look(call); /* outside of the unit, which would undo the count of a guess */
    g_autoptr(Ticket) ticket = look ? find_ticket(call, look) : NULL;
    g_autoptr(Work) work = ticket ? web_begin(call) : NULL;
    if (!work)
        return;
    const char *reason = web_field(call, "reason");
    Counts counts = {0};
    GHashTableIter at;
    void *name, *value;
    g_hash_table_iter_init(&at, call->form);
    while (g_hash_table_iter_next(&at, &name, &value)) {
        ModerateOne one = {.word = value, .reason = reason};
        if (!decide_field(work, ticket, name, &one, &counts, &error)) {
            web_fail(call, error);
            return;
        }
    }
    if (!web_commit(call, work))
        return;
    g_autoptr(Work) after = web_look(call); /* the database may have been opened anew since the first look */
    if (after)
        show(call, after, ticket,
             json_pack("{sb sb sb si}", "decided", counts.of[MODERATE_DONE] > 0, "gone", counts.of[MODERATE_GONE] > 0,
                       "undone", counts.of[MODERATE_UNDONE] > 0, "count", counts.of[MODERATE_DONE]));
}

const WebRoute web_decide[] = {
    {"GET", "/decide/{}", get_decide},
    {"POST", "/decide/{}", post_decide},
    {"GET", "/decide/{}/post/{}", get_post},
    {"GET", "/decide/{}/post/{}/file/{}/{}", get_file},
    {.verb = NULL},
};
