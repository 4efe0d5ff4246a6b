/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Posts at /lists/{list}/held, and people who asked to join or to leave at /lists/{list}/requests: both wait for a
 * moderator. At /listrunner/lists/{list}/scheduled, posts that wait for the time at which they are to be sent. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/mailbox.h"
#include "lists/keys.h"
#include "lists/people/request.h"
#include "lists/posts/held_post.h"
#include "lists/posts/injection.h"
#include "lists/posts/scheduled_post.h"
#include "mail/date.h"
#include "mail/header.h"
#include "mail/message.h"
#include "mail/mime/downgrade.h"
#include "mail/transfer.h"
#include "runners/rest/resources.h"
#include "store/lists/list_setting.h"
#include "store/people/user.h"
#include "store/posts/held.h"
#include "switchboard/intake.h"
#include "switchboard/name.h"

/* ---- held posts ---- */

static json_t *subject_json(const char *subject)
{
    return json_words(subject && *subject ? subject : "(no subject)");
}

/* A reason for each rule that matched, as Mailman gives it, because clients may look for it. If Mailman lacks one of
 * these rules, there is only the reason that people read. Never empty. */
static json_t *reasons_json(const Held *held, const json_t *hits)
{
    static const struct {
        const char *rule, *reason;
    } known[] = {
        {"nonmember-moderation", "The message is not from a list member"},
        {"member-moderation", "The message comes from a moderated member"},
        {"emergency", "Emergency moderation is in effect for this list"},
        {"administrivia", "Message contains administrivia"},
        {"implicit-dest", "Message has implicit destination"},
    };
    size_t index;
    json_t *hit, *reasons = json_array();
    json_array_foreach(hits, index, hit) {
        const char *reason = NULL;
        for (size_t i = 0; i < G_N_ELEMENTS(known); i++)
            if (strcmp(known[i].rule, json_string_value(hit)) == 0)
                reason = known[i].reason;
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

/* Return the rules that the runner in noted when it held the post. */
static json_t *rules_json(const json_t *meta, const char *key)
{
    json_t *rules = json_object_get(meta, key);
    return json_is_array(rules) ? json_incref(rules) : json_array();
}

/* The object of a held post, as Mailman's clients know it: they make a link of the subject, so that there must be one,
 * and Postorius shows bytes over 127 of a mail as question marks, so that they are encoded. NULL: error is set. */
static json_t *held_json(const Call *call, Store *store, const List *list, const Held *held, GError **error)
{
    g_autofree char *segment_of_list = segment(held->list_id);
    g_autofree char *id = g_strdup_printf("<%s>", held->message_id ? held->message_id : "");
    g_autofree char *subject = header_decode(held->subject ? held->subject : ""), *language = NULL;
    const char *sender = held->sender ? held->sender : "";
    g_autoptr(Mailbox) address = mailbox_new(sender);
    if (!address_language(store, list->list_id, address, &language, error))
        return NULL;
    if (!language)
        language = g_strdup(list->settings->preferred_language);
    g_autoptr(json_t) meta = held->meta ? meta_parse(held->meta, strlen(held->meta), NULL) : NULL;
    json_t *hits = rules_json(meta, KEY_HITS), *reasons = reasons_json(held, hits);
    const char *from = json_string_value(json_object_get(meta, KEY_SENDER));
    g_autoptr(Message) message = held->message ? message_new(held->message) : NULL;
    g_autofree char *original_subject = message ? message_value(message, "Subject") : NULL;
    gsize length = 0;
    g_autoptr(GBytes) encoded = held->message ? downgrade_to_7bit(held->message) : NULL;
    const char *bytes = encoded ? g_bytes_get_data(encoded, &length) : NULL;
    g_autofree char *mail = g_utf8_make_valid(bytes ? bytes : "", (gssize)length);
    return json_pack("{so so so so so so so so sI so so sI so so so so so}", "envsender", json_words(from ? from : ""),
                     "hold_date", json_time(held->held_at), "lang", json_words(language), "listid",
                     json_words(held->list_id), "message_id", json_words(id), "moderation_reasons", reasons,
                     "moderation_sender", json_email(sender), "msg", json_string(mail), "original_size",
                     (json_int_t)held->size, "original_subject", subject_json(original_subject), "reason",
                     json_incref(json_array_get(reasons, 0)), "request_id", (json_int_t)held->list_number, "rule_hits",
                     hits, "rule_misses", rules_json(meta, KEY_MISSES), "self_link",
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

static bool walk_read(const Call *call, void *data, unsigned most, json_t *entries, GError **error)
{
    HeldWalk *walk = data;
    g_autoptr(GPtrArray) page = held_page(call->store, walk->list->list_id, walk->after, walk->skip, most, error);
    if (!page)
        return false;
    for (guint i = 0; i < page->len; i++) {
        json_t *entry = held_json(call, call->store, walk->list, page->pdata[i], error);
        if (!entry)
            return false;
        json_array_append_new(entries, entry);
    }
    if (page->len > 0)
        walk->after = ((const Held *)page->pdata[page->len - 1])->list_number;
    walk->skip = 0;
    return true;
}

static void get_held_all(Call *call)
{
    static const LongCollection kind = {20, walk_read, walk_free}; /* whole mails are in it */
    Paging paging;
    GError *error = NULL;
    int64_t total = 0;
    bool fine = form_expect(call, "", "count page") && form_paging(call, &paging);
    g_autoptr(List) list = fine ? rest_list(call) : NULL;
    if (!list)
        return;
    if (!held_total(call->store, list->list_id, &total, &error)) {
        rest_fail(call, error);
        return;
    }
    HeldWalk *walk = g_new(HeldWalk, 1);
    *walk = (HeldWalk){g_steal_pointer(&list), 0, paging.start};
    answer_long(call, &kind, walk, total, &paging);
}

static void get_held_count(Call *call)
{
    GError *error = NULL;
    int64_t total;
    g_autoptr(List) list = rest_list(call);
    bool read = list && held_total(call->store, list->list_id, &total, &error);
    answer_found(call, read ? json_pack("{sI}", "count", (json_int_t)total) : NULL, &error);
}

/* The post of the path; NULL: 404 was answered. */
static Held *find_held(Call *call)
{
    int64_t number;
    GError *error = NULL;
    g_autoptr(List) list = rest_list(call);
    if (!list)
        return NULL;
    Held *held = g_ascii_string_to_signed(call->args[1], 10, 1, G_MAXINT64, &number, NULL)
                     ? held_find_in_list(call->store, list->list_id, number, &error)
                     : NULL;
    if (held)
        return held;
    if (!error)
        answer_refusal(call, 404, "No post %s is held on this list", call->args[1]);
    rest_fail(call, error);
    return NULL;
}

static void get_held(Call *call)
{
    GError *error = NULL;
    g_autoptr(Held) held = find_held(call);
    g_autoptr(List) list = held ? rest_list(call) : NULL;
    answer_found(call, list ? held_json(call, call->store, list, held, &error) : NULL, &error);
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

static void post_held(Call *call)
{
    static const HeldVerdict verdicts[] = {[ACTION_ACCEPT] = HELD_ACCEPT,
                                           [ACTION_REJECT] = HELD_REJECT,
                                           [ACTION_DISCARD] = HELD_DISCARD,
                                           [ACTION_DEFER] = HELD_DEFER,
                                           [ACTION_HOLD] = HELD_DEFER};
    GError *error = NULL;
    int action = ACTION_DEFER;
    bool told;
    if (!form_expect(call, "action", "comment forward") || !form_choice(call, "action", FORM_ACTIONS, &action))
        return;
    g_auto(GStrv) forward = read_forward(call);
    g_autoptr(Work) work = forward ? rest_begin(call) : NULL;
    if (!work)
        return;
    const char *comment = form_is_empty(call, "comment") ? NULL : form_text(call, "comment");
    g_autoptr(Held) held = find_held(call);
    bool done = held != NULL;
    for (char **address = forward; done && *address; address++) /* first, since the verdict may remove the post */
        done = held_post_forward(work, held, *address, &error);
    done = done && held_post_decide(work, held->number, verdicts[action], comment, &told, &error);
    rest_finish(call, work, done, &error);
}

static const RestField held_fields[] = {
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
    {"GET", "lists/{list}/held", OF_LIST, MAY_LIST, held_fields, get_held_all, NULL},
    {"GET", "lists/{list}/held/count", OF_LIST, MAY_LIST, held_fields, get_held_count, NULL},
    {"GET", "lists/{list}/held/{id}", OF_LIST, MAY_LIST, held_fields, get_held, NULL},
    {"POST", "lists/{list}/held/{id}", OF_LIST, MAY_LIST, held_fields, post_held, NULL},
    {0},
};

/* ---- tokens of requests: 24 digits that depend on the 16 that follow, so that a mistyped one is found out ---- */

#define CHECK_DIGITS 24

char *request_token(int64_t number)
{
    g_autofree char *digits = g_strdup_printf("%016" PRIx64, (uint64_t)number);
    g_autofree char *check = g_compute_checksum_for_string(G_CHECKSUM_SHA1, digits, -1);
    return g_strdup_printf("%.*s%s", CHECK_DIGITS, check, digits);
}

/* Read a name that request_token() made. False: it is none. */
static bool request_number(const char *token, int64_t *number)
{
    if (strlen(token) != CHECK_DIGITS + 16)
        return false;
    *number = (int64_t)strtoull(token + CHECK_DIGITS, NULL, 16);
    g_autofree char *made = request_token(*number);
    return strcmp(made, token) == 0;
}

/* ---- requests ---- */

/* Add the name that the site knows for an address whose request has none. Only the site may see it. False: error is
 * set. */
static bool add_name(const Call *call, Store *store, json_t *request, GError **error)
{
    g_autoptr(KnownAddress) known = NULL;
    if (*json_string_value(json_object_get(request, "display_name")) || !authority_covers(MAY_NAME, call->by))
        return true;
    g_autoptr(Mailbox) address = mailbox_new(json_string_value(json_object_get(request, "email")));
    if (!address_look_up(store, address, &known, error))
        return false;
    if (known && known->display_name)
        json_object_set_new(request, "display_name", json_words(known->display_name));
    return true;
}

static json_t *request_json(const Pending *pending)
{
    g_autofree char *token = request_token(pending->number);
    return json_pack(
        "{so so so ss ss ss so}", "display_name", json_words(pending->display_name ? pending->display_name : ""),
        "email", json_email(pending->address->text), "list_id", json_words(pending->list_id), "token", token,
        "token_owner", pending->waits_for == PENDING_MODERATOR ? "moderator" : "subscriber", "type",
        pending->kind == PENDING_JOIN ? "subscription" : "unsubscription", "when", json_time(pending->made_at));
}

enum { OWNER_NO_ONE, OWNER_SUBSCRIBER, OWNER_MODERATOR };
enum { TYPE_SUBSCRIPTION, TYPE_UNSUBSCRIPTION };

typedef struct RequestWalk {
    int owner; /* -1: any */
    int type;
    Page page;
} RequestWalk;

static bool gather(const Pending *pending, void *data)
{
    RequestWalk *walk = data;
    int owner = pending->waits_for == PENDING_MODERATOR ? OWNER_MODERATOR : OWNER_SUBSCRIBER;
    PendingKind kind = walk->type == TYPE_SUBSCRIPTION ? PENDING_JOIN : PENDING_LEAVE;
    bool fits = pending->kind == kind && (walk->owner < 0 || walk->owner == owner);
    if (fits && page_takes(&walk->page))
        page_add(&walk->page, request_json(pending));
    return true;
}

/* Answer with the requests that the parameters ask for; at .../count with their number. */
static void get_requests(Call *call)
{
    RequestWalk walk = {.owner = -1, .type = TYPE_SUBSCRIPTION};
    GError *error = NULL;
    g_autoptr(List) list = page_begin(call, "", "token_owner request_type", &walk.page) &&
                                   form_choice(call, "token_owner", "no_one, subscriber, moderator", &walk.owner) &&
                                   form_choice(call, "request_type", "subscription, unsubscription", &walk.type)
                               ? rest_list(call)
                               : NULL;
    bool read = list && pending_each(call->store, list->list_id, g_get_real_time(), gather, &walk, &error);
    if (g_str_has_suffix(call->route->path, "/count")) {
        answer_found(call, read ? json_pack("{sI}", "count", (json_int_t)walk.page.total) : NULL, &error);
    } else {
        /* A name costs a look into the store, so it is read for the rows of the page alone. */
        for (size_t at = 0; at < json_array_size(walk.page.entries) && !error; at++)
            add_name(call, call->store, json_array_get(walk.page.entries, at), &error);
        answer_page(call, NULL, &walk.page, &error);
    }
    page_clear(&walk.page);
}

/* The request of the path; NULL: 404 was answered. The list decides who is on it; other requests are answered by their
 * persons alone, since with a change of address their other lists, and the roles that they have there, go along. */
static Pending *find_request(Call *call, int64_t now)
{
    int64_t number;
    GError *error = NULL;
    g_autoptr(List) list = rest_list(call);
    if (!list)
        return NULL;
    bool named = request_number(call->args[1], &number);
    Pending *pending = named ? pending_find(call->store, number, now, &error) : NULL;
    if (pending && (pending->kind == PENDING_JOIN || pending->kind == PENDING_LEAVE) &&
        strcmp(pending->list_id, list->list_id) == 0)
        return pending;
    if (!error)
        answer_refusal(call, 404, "There is no such request on this list");
    rest_fail(call, error);
    pending_free(pending);
    return NULL;
}

static void get_request(Call *call)
{
    g_autoptr(Pending) pending = find_request(call, g_get_real_time());
    g_autoptr(json_t) request = pending ? request_json(pending) : NULL;
    GError *error = NULL;
    if (!request)
        return;
    if (add_name(call, call->store, request, &error))
        answer_json(call, 200, g_steal_pointer(&request));
    else
        rest_fail(call, error);
}

/* A request that waits for its person is not the moderators' yet: to accept it is to confirm it in the person's place,
 * to reject it is to drop it. */
static void post_request(Call *call)
{
    static const RequestVerdict verdicts[] = {[ACTION_ACCEPT] = REQUEST_ACCEPT,
                                              [ACTION_REJECT] = REQUEST_REJECT,
                                              [ACTION_DISCARD] = REQUEST_DISCARD,
                                              [ACTION_DEFER] = REQUEST_DEFER,
                                              [ACTION_HOLD] = REQUEST_DEFER};
    GError *error = NULL;
    g_auto(Subscription) made = {0};
    int action = ACTION_DEFER;
    if (!form_expect(call, "action", "reason") || !form_choice(call, "action", FORM_ACTIONS, &action))
        return;
    g_autoptr(Work) work = rest_begin(call);
    g_autoptr(Pending) pending = work ? find_request(call, work_now(work)) : NULL;
    const char *reason = form_is_empty(call, "reason") ? NULL : form_text(call, "reason");
    RequestVerdict verdict = verdicts[action];
    bool of_person = pending && pending->waits_for == PENDING_PERSON;
    if (of_person && verdict == REQUEST_REJECT)
        verdict = REQUEST_DISCARD;
    else if (of_person && verdict == REQUEST_ACCEPT)
        verdict = REQUEST_CONFIRM;
    bool done = pending && ((of_person && verdict == REQUEST_DEFER) ||
                            request_decide(work, pending->number, verdict, reason, &made, &error));
    rest_finish(call, work, done, &error);
}

static const RestField request_fields[] = {
    {"display_name", MAY_LIST, MAY_NOBODY},
    {"email", MAY_LIST, MAY_NOBODY},
    {"list_id", MAY_LIST, MAY_NOBODY},
    {"token", MAY_LIST, MAY_NOBODY},
    {"type", MAY_LIST, MAY_NOBODY},
    {"when", MAY_LIST, MAY_NOBODY},
    {"token_owner", MAY_LIST, MAY_NOBODY},
    {"request_type", MAY_LIST, MAY_NOBODY},
    {"action", MAY_NOBODY, MAY_LIST},
    {"reason", MAY_NOBODY, MAY_LIST},
    {0},
};

const RestRoute rest_requests[] = {
    {"GET", "lists/{list}/requests", OF_LIST, MAY_LIST, request_fields, get_requests, NULL},
    {"GET", "lists/{list}/requests/count", OF_LIST, MAY_LIST, request_fields, get_requests, NULL},
    {"GET", "lists/{list}/requests/{token}", OF_LIST, MAY_LIST, request_fields, get_request, NULL},
    {"POST", "lists/{list}/requests/{token}", OF_LIST, MAY_LIST, request_fields, post_request, NULL},
    {0},
};

/* ---- posts that wait for their time ---- */

/* With its zone, as RFC 3339 has it: a time that a program gives back must mean the same. */
static json_t *zoned_time(int64_t time)
{
    g_autofree char *text = clock_text(time);
    return json_string(text);
}

static json_t *scheduled_json(const Call *call, const Scheduled *post)
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

static bool add_scheduled(const Scheduled *post, void *data)
{
    const PostWalk *walk = data;
    if (page_takes(walk->page))
        page_add(walk->page, scheduled_json(walk->call, post));
    return true;
}

static void get_scheduled_all(Call *call)
{
    g_auto(Page) page = {0};
    GError *error = NULL;
    g_autoptr(List) list = page_of_list(call, &page);
    if (!list)
        return;
    PostWalk walk = {call, &page};
    scheduled_each(call->store, list->list_id, add_scheduled, &walk, &error);
    answer_page(call, NULL, &page, &error);
}

/* The post of the path, on the list of the path; NULL: 404 or 503 was answered. */
static Scheduled *find_scheduled(Call *call)
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

static void get_scheduled(Call *call)
{
    g_autoptr(Scheduled) post = form_expect(call, "", "") ? find_scheduled(call) : NULL;
    if (!post)
        return;
    json_t *object = scheduled_json(call, post);
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
static void post_scheduled(Call *call)
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

static void change_scheduled(Call *call)
{
    int64_t due;
    GError *error = NULL;
    g_autoptr(Work) work = form_expect(call, "send_at", "") && read_time(call, &due) ? rest_begin(call) : NULL;
    g_autoptr(Scheduled) post = work ? find_scheduled(call) : NULL;
    rest_finish(call, work, post && scheduled_post_move(work, post->number, due, &error), &error);
}

static void drop_scheduled(Call *call)
{
    GError *error = NULL;
    g_autoptr(Work) work = form_expect(call, "", "") ? rest_begin(call) : NULL;
    g_autoptr(Scheduled) post = work ? find_scheduled(call) : NULL;
    rest_finish(call, work, post && scheduled_post_drop(work, post->number, &error), &error);
}

static const RestField scheduled_fields[] = {
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
    {"GET", "listrunner/lists/{list}/scheduled", OF_LIST, MAY_LIST, scheduled_fields, get_scheduled_all,
     "Posts of the list that wait for the time at which they are to be sent"},
    {"POST", "listrunner/lists/{list}/scheduled", OF_LIST, MAY_LIST, scheduled_fields, post_scheduled,
     "Hand a post in, to be sent at a time"},
    {"GET", "listrunner/lists/{list}/scheduled/{number}", OF_LIST, MAY_LIST, scheduled_fields, get_scheduled,
     "One of them, with its message"},
    {"PATCH", "listrunner/lists/{list}/scheduled/{number}", OF_LIST, MAY_LIST, scheduled_fields, change_scheduled,
     "Give it another time; \"now\" sends it"},
    {"DELETE", "listrunner/lists/{list}/scheduled/{number}", OF_LIST, MAY_LIST, scheduled_fields, drop_scheduled,
     "Drop it"},
    {0},
};
