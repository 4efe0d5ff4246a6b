/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* /lists/{list}/held: posts that wait for a moderator. */
#include <string.h>

#include "base/fail.h"
#include "lists/held_post.h"
#include "mail/header.h"
#include "mail/message.h"
#include "runners/keys.h"
#include "runners/rest/resources.h"

static json_t *octets_json(GBytes *message)
{
    gsize length;
    const char *octets = message ? g_bytes_get_data(message, &length) : NULL;
    if (!octets)
        return json_string("");
    g_autofree char *valid = g_utf8_make_valid(octets, (gssize)length);
    return json_string(valid);
}

/* What Mailman says of a post that this rule holds, for clients may look for it; else the reason as people read it. */
static const char *reason_of(const Held *held)
{
    static const struct {
        const char *rule, *reason;
    } reasons[] = {
        {"nonmember-moderation", "The message is not from a list member"},
        {"member-moderation", "The message comes from a moderated member"},
        {"emergency", "Emergency moderation is in effect for this list"},
        {"administrivia", "Message contains administrivia"},
        {"implicit-dest", "Message has implicit destination"},
    };
    g_autoptr(json_t) meta = held->meta ? meta_parse(held->meta, strlen(held->meta), NULL) : NULL;
    const json_t *hits = meta ? json_object_get(meta, KEY_HITS) : NULL;
    const char *rule = json_string_value(json_array_get(hits, 0));
    for (size_t i = 0; rule && i < G_N_ELEMENTS(reasons); i++)
        if (strcmp(reasons[i].rule, rule) == 0)
            return reasons[i].reason;
    return held->reason ? held->reason : "";
}

static json_t *held_json(const Call *call, const Held *held)
{
    g_autofree char *list = segment(held->list_id);
    g_autofree char *id = g_strdup_printf("<%s>", held->message_id ? held->message_id : "");
    g_autofree char *subject = header_decode(held->subject ? held->subject : "");
    return json_pack("{so so so so so sI so so so}", "hold_date", json_time(held->held_at), "message_id",
                     json_words(id), "msg", octets_json(held->message), "original_subject",
                     json_words(held->subject ? held->subject : ""), "reason",
                     json_words(reason_of(held)), "request_id", (json_int_t)held->list_number, "self_link",
                     json_link(call, "lists/%s/held/%" G_GINT64_FORMAT, list, held->list_number), "sender",
                     json_words(held->sender ? held->sender : ""), "subject", json_words(subject));
}

static void get_all(Call *call)
{
    Paging paging;
    GError *error = NULL;
    int64_t total = 0;
    bool fine = form_expect(call, "", "count page") && form_paging(call, &paging);
    g_autoptr(List) list = fine ? rest_list(call, 0) : NULL;
    if (!list)
        return;
    Store *store = call->rest->store;
    g_autoptr(GPtrArray) page = held_total(store, list->list_id, &total, &error)
                                    ? held_page(store, list->list_id, paging.start, paging.count, &error)
                                    : NULL;
    if (!page) {
        rest_fail(call, error);
        return;
    }
    json_t *entries = json_array();
    for (guint i = 0; i < page->len; i++)
        json_array_append_new(entries, held_json(call, page->pdata[i]));
    answer_collection(call, entries, total, paging.start);
}

static void get_count(Call *call)
{
    GError *error = NULL;
    int64_t total;
    g_autoptr(List) list = rest_list(call, 0);
    if (list && held_total(call->rest->store, list->list_id, &total, &error))
        answer_json(call, 200, json_pack("{sI}", "count", (json_int_t)total));
    else if (list)
        rest_fail(call, error);
}

/* The post of the path; NULL: 404 was answered. */
static Held *find(Call *call, Store *store)
{
    int64_t number;
    GError *error = NULL;
    g_autoptr(List) list = rest_list(call, 0);
    if (!list)
        return NULL;
    Held *held = g_ascii_string_to_signed(call->args[1], 10, 1, G_MAXINT64, &number, NULL)
                     ? held_find_in_list(store, list->list_id, number, &error)
                     : NULL;
    if (held)
        return held;
    if (error)
        rest_fail(call, error);
    else
        answer_refusal(call, 404, "No post %s is held on this list", call->args[1]);
    return NULL;
}

static void get_one(Call *call)
{
    Store *store = rest_store(call);
    g_autoptr(Held) held = store ? find(call, store) : NULL;
    if (held)
        answer_json(call, 200, held_json(call, held));
}

static void post(Call *call)
{
    static const HeldVerdict verdicts[] = {[ACTION_ACCEPT] = HELD_ACCEPT, [ACTION_REJECT] = HELD_REJECT,
                                           [ACTION_DISCARD] = HELD_DISCARD, [ACTION_DEFER] = HELD_DEFER,
                                           [ACTION_HOLD] = HELD_DEFER};
    GError *error = NULL;
    bool told;
    int action = ACTION_DEFER;
    if (!form_expect(call, "action", "comment") || !form_choice(call, "action", FORM_ACTIONS, &action))
        return;
    g_autoptr(Work) work = rest_begin(call);
    if (!work)
        return;
    g_autoptr(Held) held = find(call, work_store(work));
    const char *comment = form_text(call, "comment");
    if (held)
        rest_finish(call, work, held_post_decide(work, held->number, verdicts[action],
                                                 comment && *comment ? comment : NULL, &told, &error), &error);
}

const RestRoute rest_held[] = {
    {"GET", "lists/{list}/held", get_all, NULL},
    {"GET", "lists/{list}/held/count", get_count, NULL},
    {"GET", "lists/{list}/held/{id}", get_one, NULL},
    {"POST", "lists/{list}/held/{id}", post, NULL},
    {NULL, NULL, NULL, NULL},
};
