/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* /listrunner/lists/{list}/scheduled: posts that wait for the time at which they are to be sent. */
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "lists/keys.h"
#include "lists/posts/injection.h"
#include "lists/posts/scheduled_post.h"
#include "mail/mime/downgrade.h"
#include "mail/send_at.h"
#include "mail/wire.h"
#include "runners/rest/resources.h"
#include "switchboard/intake.h"
#include "switchboard/name.h"

/* With its zone, as RFC 3339 has it: a time that a program gives back must mean the same. */
static json_t *zoned_time(int64_t time)
{
    g_autofree char *text = clock_text(time);
    return json_string(text);
}

static json_t *post_json(const Call *call, const Scheduled *post)
{
    g_autofree char *list = segment(post->list_id);
    return json_pack("{sI so so so so so so so sI so}", "number", (json_int_t)post->number, "list_id",
                     json_words(post->list_id), "send_at", zoned_time(post->due_at), "made_at",
                     zoned_time(post->made_at), "sender", json_email(post->sender ? post->sender : ""), "author",
                     post->author ? json_email(post->author) : json_null(), "subject",
                     json_words(post->subject ? post->subject : ""), "message_id",
                     json_words(post->message_id ? post->message_id : ""), "size", (json_int_t)post->size, "self_link",
                     json_link(call, "listrunner/lists/%s/scheduled/%" G_GINT64_FORMAT, list, post->number));
}

typedef struct PostWalk {
    const Call *call;
    Page *page;
} PostWalk;

static bool add_post(const Scheduled *post, void *data)
{
    const PostWalk *walk = data;
    if (page_takes(walk->page))
        page_add(walk->page, post_json(walk->call, post));
    return true;
}

static void get_all(Call *call)
{
    g_auto(Page) page = {0};
    GError *error = NULL;
    g_autoptr(List) list = page_of_list(call, &page);
    if (!list)
        return;
    PostWalk walk = {call, &page};
    scheduled_each(call->store, list->list_id, add_post, &walk, &error);
    answer_page(call, NULL, &page, &error);
}

/* The post of the path, on the list of the path; NULL: 404 or 503 was answered. */
static Scheduled *find(Call *call)
{
    int64_t number;
    GError *error = NULL;
    g_autoptr(List) list = rest_list(call);
    if (!list)
        return NULL;
    g_autoptr(Scheduled) post = g_ascii_string_to_signed(call->args[1], 10, 1, G_MAXINT64, &number, NULL)
                                    ? scheduled_find(call->store, number, &error)
                                    : NULL;
    if (post && strcmp(post->list_id, list->list_id) == 0)
        return g_steal_pointer(&post);
    if (!error || rest_missing(call, error))
        answer_refusal(call, 404, "No post %s of this list waits for its time", call->args[1]);
    return NULL;
}

static void get_one(Call *call)
{
    g_autoptr(Scheduled) post = form_expect(call, "", "") ? find(call) : NULL;
    if (!post)
        return;
    json_t *object = post_json(call, post);
    gsize length;
    g_autoptr(GBytes) encoded = downgrade_to_7bit(post->message);
    const char *bytes = g_bytes_get_data(encoded, &length);
    g_autofree char *valid = g_utf8_make_valid(bytes ? bytes : "", (gssize)length);
    json_object_set_new(object, "msg", json_string(valid));
    answer_json(call, 200, object);
}

/* From the parameter send_at. False: 400 was answered. */
static bool read_time(Call *call, int64_t *due)
{
    g_autoptr(GError) wrong = NULL;
    if (send_at_read_ahead(form_text(call, "send_at"), clock_now(), due, &wrong))
        return true;
    g_autofree char *why = g_strndup(wrong->message, strlen(wrong->message) - 1); /* form_refuse() ends the sentence */
    return form_refuse(call, "send_at", "%s", why);
}

/* The rules of the list judge it first, as what comes by mail. */
static void post_new(Call *call)
{
    int64_t due;
    bool fine = form_expect(call, "text send_at", "") && read_time(call, &due);
    g_autoptr(List) list = fine ? rest_list(call) : NULL;
    if (!list)
        return;
    const char *text = form_text(call, "text");
    g_autoptr(GBytes) message = wire_text(text, strlen(text));
    const Injection injection = {
        .queue = "in", .list = list, .to = TO_POSTING, .host = call->rest->site.hostname, .door = "rest"};
    g_autoptr(Draft) draft = injection_draft(&injection, message);
    if (due > 0)
        meta_set_integer(draft_meta(draft), KEY_SEND_AT, due);
    Intake intake = {.draft = draft};
    if (intake_store(call->rest->spool, &intake, 1, false))
        answer_empty(call, 202);
    else
        rest_fail(call, intake.error);
}

static void change(Call *call)
{
    int64_t due;
    GError *error = NULL;
    g_autoptr(Work) work = form_expect(call, "send_at", "") && read_time(call, &due) ? rest_begin(call) : NULL;
    g_autoptr(Scheduled) post = work ? find(call) : NULL;
    rest_finish(call, work, post && scheduled_post_move(work, post->number, due, &error), &error);
}

static void drop(Call *call)
{
    GError *error = NULL;
    g_autoptr(Work) work = form_expect(call, "", "") ? rest_begin(call) : NULL;
    g_autoptr(Scheduled) post = work ? find(call) : NULL;
    rest_finish(call, work, post && scheduled_post_drop(work, post->number, &error), &error);
}

static const RestField fields[] = {
    {"number", MAY_LIST, MAY_NOBODY},
    {"list_id", MAY_LIST, MAY_NOBODY},
    {"send_at", MAY_LIST, MAY_LIST},
    {"made_at", MAY_LIST, MAY_NOBODY},
    {"sender", MAY_LIST, MAY_NOBODY},
    {"author", MAY_LIST, MAY_NOBODY},
    {"subject", MAY_LIST, MAY_NOBODY},
    {"size", MAY_LIST, MAY_NOBODY},
    {"msg", MAY_LIST, MAY_NOBODY},
    {"message_id", MAY_LIST, MAY_NOBODY},
    {"text", MAY_NOBODY, MAY_LIST},
    {"self_link", MAY_LIST, MAY_NOBODY},
    {0},
};

const RestRoute rest_scheduled[] = {
    {"GET", "listrunner/lists/{list}/scheduled", OF_LIST, MAY_LIST, fields, get_all,
     "Posts of the list that wait for the time at which they are to be sent"},
    {"POST", "listrunner/lists/{list}/scheduled", OF_LIST, MAY_LIST, fields, post_new,
     "Hand a post in, to be sent at a time"},
    {"GET", "listrunner/lists/{list}/scheduled/{number}", OF_LIST, MAY_LIST, fields, get_one,
     "One of them, with its message"},
    {"PATCH", "listrunner/lists/{list}/scheduled/{number}", OF_LIST, MAY_LIST, fields, change,
     "Give it another time; \"now\" sends it"},
    {"DELETE", "listrunner/lists/{list}/scheduled/{number}", OF_LIST, MAY_LIST, fields, drop, "Drop it"},
    {0},
};
