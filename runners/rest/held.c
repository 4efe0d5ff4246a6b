/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* /lists/{list}/held: posts that wait for a moderator. */
#include <string.h>

#include "base/fail.h"
#include "base/mailbox.h"
#include "lists/keys.h"
#include "lists/posts/held_post.h"
#include "mail/header.h"
#include "mail/message.h"
#include "mail/mime/downgrade.h"
#include "runners/rest/resources.h"
#include "store/lists/list_setting.h"
#include "store/people/user.h"
#include "store/posts/held.h"

/* Clients take the text for a mail, in which bytes over 127 stand encoded, as in Mailman's answers: Postorius shows
 * others as question marks. */
static json_t *mail_json(GBytes *message)
{
    gsize length;
    g_autoptr(GBytes) encoded = message ? downgrade_to_7bit(message) : NULL;
    const char *bytes = encoded ? g_bytes_get_data(encoded, &length) : NULL;
    if (!bytes)
        return json_string("");
    g_autofree char *valid = g_utf8_make_valid(bytes, (gssize)length);
    return json_string(valid);
}

/* Return the reason that Mailman gives for posts that this rule holds, because clients may look for it; NULL: it has
 * no such rule. */
static const char *reason_of_rule(const char *rule)
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
    for (size_t i = 0; i < G_N_ELEMENTS(reasons); i++)
        if (strcmp(reasons[i].rule, rule) == 0)
            return reasons[i].reason;
    return NULL;
}

/* A reason for each rule that matched, or the one that people read if Mailman lacks one of these rules. Never empty. */
static json_t *reasons_json(const Held *held, const json_t *hits)
{
    size_t index;
    json_t *hit, *reasons = json_array();
    json_array_foreach(hits, index, hit) {
        const char *reason = reason_of_rule(json_string_value(hit));
        if (!reason) {
            json_array_clear(reasons);
            break;
        }
        json_array_append_new(reasons, json_string(reason));
    }
    if (json_array_size(reasons) == 0)
        json_array_append_new(reasons, json_words(held->reason ? held->reason : ""));
    return reasons;
}

/* Clients make a link of the subject, so that there must be one. */
static json_t *subject_json(const char *subject)
{
    return json_words(subject && *subject ? subject : "(no subject)");
}

/* As the mail has it, encoded. */
static json_t *original_subject_json(const Held *held)
{
    g_autoptr(Message) message = held->message ? message_new(held->message) : NULL;
    g_autofree char *subject = message ? message_value(message, "Subject") : NULL;
    return subject_json(subject);
}

/* Return the rules that the runner in noted when it held the post. */
static json_t *rules_json(const json_t *meta, const char *key)
{
    json_t *rules = json_object_get(meta, key);
    return json_is_array(rules) ? json_incref(rules) : json_array();
}

/* NULL: error is set. */
static json_t *held_json(const Call *call, Store *store, const List *list, const Held *held, GError **error)
{
    g_autofree char *segment_of_list = segment(held->list_id);
    g_autofree char *id = g_strdup_printf("<%s>", held->message_id ? held->message_id : "");
    g_autofree char *subject = header_decode(held->subject ? held->subject : ""), *language = NULL;
    const char *sender = held->sender ? held->sender : "";
    if (!address_language(store, list->list_id, sender, &language, error))
        return NULL;
    if (!language)
        language = g_strdup(list->settings->preferred_language);
    g_autoptr(json_t) meta = held->meta ? meta_parse(held->meta, strlen(held->meta), NULL) : NULL;
    json_t *hits = rules_json(meta, KEY_HITS), *reasons = reasons_json(held, hits);
    const char *from = json_string_value(json_object_get(meta, KEY_SENDER));
    return json_pack("{so so so so so so so so sI so so sI so so so so so}", "envsender", json_words(from ? from : ""),
                     "hold_date", json_time(held->held_at), "lang", json_words(language), "listid",
                     json_words(held->list_id), "message_id", json_words(id), "moderation_reasons", reasons,
                     "moderation_sender", json_email(sender), "msg", mail_json(held->message), "original_size",
                     (json_int_t)held->size, "original_subject", original_subject_json(held), "reason",
                     json_incref(json_array_get(reasons, 0)), "request_id", (json_int_t)held->list_number,
                     "rule_hits", hits, "rule_misses", rules_json(meta, KEY_MISSES), "self_link",
                     json_link(call, "lists/%s/held/%" G_GINT64_FORMAT, segment_of_list, held->list_number), "sender",
                     json_email(sender), "subject", subject_json(subject));
}

/* The place in the held posts of a list that the answer has reached. */
typedef struct HeldWalk {
    List *list;
    int64_t after, skip;
} HeldWalk;

static void walk_free(void *data)
{
    HeldWalk *walk = data;
    list_free(walk->list);
    g_free(walk);
}

static bool walk_read(const Call *call, Store *store, void *data, unsigned most, json_t *entries, GError **error)
{
    HeldWalk *walk = data;
    g_autoptr(GPtrArray) page = held_page(store, walk->list->list_id, walk->after, walk->skip, most, error);
    if (!page)
        return false;
    for (guint i = 0; i < page->len; i++) {
        json_t *entry = held_json(call, store, walk->list, page->pdata[i], error);
        if (!entry)
            return false;
        json_array_append_new(entries, entry);
    }
    if (page->len > 0)
        walk->after = ((const Held *)page->pdata[page->len - 1])->list_number;
    walk->skip = 0;
    return true;
}

static void get_all(Call *call)
{
    static const LongCollection kind = {20, walk_read, walk_free}; /* whole mails are in it */
    Paging paging;
    GError *error = NULL;
    int64_t total = 0;
    bool fine = form_expect(call, "", "count page") && form_paging(call, &paging);
    g_autoptr(List) list = fine ? rest_list(call) : NULL;
    if (!list)
        return;
    if (!held_total(call->rest->store, list->list_id, &total, &error)) {
        rest_fail(call, error);
        return;
    }
    HeldWalk *walk = g_new(HeldWalk, 1);
    *walk = (HeldWalk){g_steal_pointer(&list), 0, paging.start};
    answer_long(call, &kind, walk, total, &paging);
}

static void get_count(Call *call)
{
    GError *error = NULL;
    int64_t total;
    g_autoptr(List) list = rest_list(call);
    bool read = list && held_total(call->rest->store, list->list_id, &total, &error);
    answer_found(call, read ? json_pack("{sI}", "count", (json_int_t)total) : NULL, &error);
}

/* The post of the path; NULL: 404 was answered. */
static Held *find(Call *call)
{
    int64_t number;
    GError *error = NULL;
    g_autoptr(List) list = rest_list(call);
    if (!list)
        return NULL;
    Held *held = g_ascii_string_to_signed(call->args[1], 10, 1, G_MAXINT64, &number, NULL)
                     ? held_find_in_list(call->rest->store, list->list_id, number, &error)
                     : NULL;
    if (held)
        return held;
    if (!error)
        answer_refusal(call, 404, "No post %s is held on this list", call->args[1]);
    rest_fail(call, error);
    return NULL;
}

static void get_one(Call *call)
{
    GError *error = NULL;
    g_autoptr(Held) held = find(call);
    g_autoptr(List) list = held ? rest_list(call) : NULL;
    answer_found(call, list ? held_json(call, call->rest->store, list, held, &error) : NULL, &error);
}

#define FORWARD_MAX 10 /* addresses of one call */

/* Read the addresses to which the post is sent, as Mailman 3.3.10 takes them: one, or several. NULL: 400 was
 * answered. */
static char **read_forward(Call *call)
{
    g_auto(GStrv) addresses = form_words(call, "forward");
    unsigned count = g_strv_length(addresses);
    if (count > FORWARD_MAX) {
        form_refuse(call, "forward", "%u addresses; allowed: up to %d", count, FORWARD_MAX);
        return NULL;
    }
    for (unsigned i = 0; i < count; i++)
        if (!mailbox_legible(addresses[i])) {
            form_refuse(call, "forward", "\"%s\" is no address", addresses[i]);
            return NULL;
        }
    return g_steal_pointer(&addresses);
}

/* Forwarding comes first: the verdict may remove the post. */
static bool forward_and_decide(Call *call, Work *work, char *const *forward, HeldVerdict verdict, GError **error)
{
    bool told;
    g_autoptr(Held) held = find(call);
    const char *comment = form_is_empty(call, "comment") ? NULL : form_text(call, "comment");
    for (; held && *forward; forward++)
        if (!held_post_forward(work, held, *forward, error))
            return false;
    return held && held_post_decide(work, held->number, verdict, comment, &told, error);
}

static void post(Call *call)
{
    static const HeldVerdict verdicts[] = {[ACTION_ACCEPT] = HELD_ACCEPT, [ACTION_REJECT] = HELD_REJECT,
                                           [ACTION_DISCARD] = HELD_DISCARD, [ACTION_DEFER] = HELD_DEFER,
                                           [ACTION_HOLD] = HELD_DEFER};
    GError *error = NULL;
    int action = ACTION_DEFER;
    if (!form_expect(call, "action", "comment forward") || !form_choice(call, "action", FORM_ACTIONS, &action))
        return;
    g_auto(GStrv) forward = read_forward(call);
    g_autoptr(Work) work = forward ? rest_begin(call) : NULL;
    if (work)
        rest_finish(call, work, forward_and_decide(call, work, forward, verdicts[action], &error), &error);
}

static const RestField fields[] = {
    {"envsender", MAY_LIST, MAY_NOBODY},
    {"hold_date", MAY_LIST, MAY_NOBODY},
    {"lang", MAY_LIST, MAY_NOBODY},
    {"listid", MAY_LIST, MAY_NOBODY},
    {"message_id", MAY_LIST, MAY_NOBODY},
    {"moderation_reasons", MAY_LIST, MAY_NOBODY},
    {"moderation_sender", MAY_LIST, MAY_NOBODY},
    {"msg", MAY_LIST, MAY_NOBODY},
    {"original_size", MAY_LIST, MAY_NOBODY},
    {"original_subject", MAY_LIST, MAY_NOBODY},
    {"reason", MAY_LIST, MAY_NOBODY},
    {"request_id", MAY_LIST, MAY_NOBODY},
    {"rule_hits", MAY_LIST, MAY_NOBODY},
    {"rule_misses", MAY_LIST, MAY_NOBODY},
    {"self_link", MAY_LIST, MAY_NOBODY},
    {"sender", MAY_LIST, MAY_NOBODY},
    {"subject", MAY_LIST, MAY_NOBODY},
    {"action", MAY_NOBODY, MAY_LIST},
    {"comment", MAY_NOBODY, MAY_LIST},
    {"forward", MAY_NOBODY, MAY_LIST},
    {0},
};

const RestRoute rest_held[] = {
    {"GET", "lists/{list}/held", OF_LIST, MAY_LIST, fields, get_all, NULL},
    {"GET", "lists/{list}/held/count", OF_LIST, MAY_LIST, fields, get_count, NULL},
    {"GET", "lists/{list}/held/{id}", OF_LIST, MAY_LIST, fields, get_one, NULL},
    {"POST", "lists/{list}/held/{id}", OF_LIST, MAY_LIST, fields, post, NULL},
    {0},
};
