/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * Hold back points where too many members fail with the same reply (store/people/bounce.h). When a brake closes,
 * who was charged for the reply earlier that day gets the points back: a portion in the transaction that closes it, and
 * the others by entries of our own queue, a portion each, so that nobody waits for the list for long. A portion that is
 * done twice takes nothing back the second time, since what is taken back weighs nothing.
 */
#include <string.h>

#include "base/clock.h"
#include "lists/keys.h"
#include "runners/bounces/case.h"

#define PORTION 1000 /* members who are looked at in one transaction */

/* Points to be taken back, all borrowed. domain NULL: from all members. after: the last member who was looked at. */
typedef struct TakeBack {
    const char *list_id, *domain, *reply;
    const char *but; /* the address in hand, which is not charged yet; NULL: there is none */
    int64_t day;
    const char *after;
} TakeBack;

typedef struct Charged {
    const TakeBack *what;
    GPtrArray *addresses; /* of char *, owned */
    GArray *weights;      /* of int64_t */
    char *last;           /* who was looked at last, as members are in order */
    int number;
} Charged;

static bool gather_charged(const BounceDay *day, void *data)
{
    Charged *charged = data;
    const TakeBack *what = charged->what;
    charged->number++;
    g_free(charged->last);
    charged->last = mailbox_folded(day->address);
    if (what->but && g_ascii_strcasecmp(day->address, what->but) == 0)
        return true;
    g_autofree char *reply = bounce_reply_key(day->text, day->address);
    if (strcmp(reply, what->reply) != 0)
        return true;
    g_ptr_array_add(charged->addresses, g_strdup(day->address));
    g_array_append_val(charged->weights, day->weight);
    return true;
}

/* Take back from the next members in order. *last: who was the last of them, g_free(); NULL: there are no more. */
static bool take_portion(Store *store, const TakeBack *what, char **last, GError **error)
{
    g_autoptr(GPtrArray) addresses = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GArray) weights = g_array_new(FALSE, FALSE, sizeof(int64_t));
    Charged charged = {.what = what, .addresses = addresses, .weights = weights};
    const BouncePortion portion = {what->list_id, what->domain, what->day, what->after, PORTION};
    bool done = bounce_day_portion(store, &portion, gather_charged, &charged, error);
    for (guint at = 0; done && at < addresses->len; at++)
        done = bounce_take_back(store, &(BounceTakenBack){what->list_id, addresses->pdata[at], what->day,
                                                          g_array_index(weights, int64_t, at), true},
                                error);
    *last = done && charged.number == PORTION ? g_steal_pointer(&charged.last) : NULL;
    g_free(charged.last);
    return done;
}

static void add_entry(Case *given, const TakeBack *what)
{
    json_t *meta = json_object();
    meta_set_string(meta, META_LIST, what->list_id);
    meta_set_string(meta, META_TRACE, entry_trace(given->entry));
    meta_set_string(meta, KEY_TO, TO_BOUNCES);
    meta_set_integer(meta, META_ORDINAL, clock_unique() % INT64_C(1000000000000));
    json_object_set_new(meta, KEY_TAKE_BACK,
                        json_pack("{ss ss* sI ss}", "reply", what->reply, "domain", what->domain, "day",
                                  (json_int_t)what->day, "after", what->after));
    outcome_add(given->outcome, draft_new(given->bounces->queue, meta));
}

bool case_take_back(Case *given, GError **error)
{
    const json_t *meta = json_object_get(entry_meta(given->entry), KEY_TAKE_BACK);
    TakeBack what = {.list_id = given->list->list_id, .domain = meta_string(meta, "domain", NULL),
                     .reply = meta_string(meta, "reply", ""), .day = json_integer_value(json_object_get(meta, "day")),
                     .after = meta_string(meta, "after", "")};
    g_autofree char *last = NULL;
    if (!take_portion(given->bounces->shared->store, &what, &last, error))
        return false;
    list_runner_log(given->entry, "result=%s (points for: %s)", last ? "taken-back-in-part" : "taken-back", what.reply);
    what.after = last;
    if (last)
        add_entry(given, &what);
    return true;
}

/* A question to the brake; its strings are borrowed, but for domain and reply. */
typedef struct BrakeAsked {
    BounceBrakeEvent event;
    char *domain, *reply;
} BrakeAsked;

static void brake_asked_clear(BrakeAsked *asked)
{
    g_free(asked->domain);
    g_free(asked->reply);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(BrakeAsked, brake_asked_clear)

static BrakeAsked ask(const Failed *failed, const BounceEvent *noted, bool first)
{
    static const char *const mailbox[] = {"user-unknown", "mailbox-disabled", "mailbox-full", NULL};
    static const char *const host[] = {"host-unknown", "network", "expired", NULL};
    bool recipient = failed->about == BOUNCE_ABOUT_RECIPIENT;
    const char *at = strrchr(noted->address->text, '@');
    BrakeAsked asked = {.domain = g_ascii_strdown(at ? at + 1 : "", -1),
                        .reply = bounce_reply_key(noted->text, noted->address->text)};
    asked.event = (BounceBrakeEvent){.list_id = noted->list_id, .domain = asked.domain, .reply = asked.reply,
                                     .text = noted->text, .first = first, .at = noted->at,
                                     .mailbox = recipient && g_strv_contains(mailbox, failed->reason),
                                     .host = recipient && g_strv_contains(host, failed->reason)};
    return asked;
}

bool case_brake(Case *given, const Failed *failed, const BounceEvent *noted, bool first, HeldBack *held, GError **error)
{
    g_auto(BrakeAsked) asked = ask(failed, noted, first);
    Store *store = given->bounces->shared->store;
    BounceBrake brake = {0};
    if (*noted->text == '\0' || *asked.reply == '\0')
        return true;
    bool verified = bounce_source_verified(noted->source);
    if (!(verified ? bounce_brake_count(store, &asked.event, &brake, error)
                   : bounce_brake_look(store, &asked.event, &brake, error)))
        return false;
    held->held = brake.held;
    if (!brake.closed)
        return true;
    list_runner_log(given->entry, "domain=%s result=held-back (too many members fail with: %s)", asked.domain,
                    noted->text);
    TakeBack what = {noted->list_id,
                     brake.of_list ? NULL : asked.domain,
                     asked.reply,
                     noted->address->text,
                     noted->at / BOUNCE_DAY,
                     ""};
    g_autofree char *last = NULL;
    if (!take_portion(store, &what, &last, error))
        return false;
    held->more = last != NULL;
    what.after = last;
    if (last)
        add_entry(given, &what);
    return true;
}

bool case_brake_again(Case *given, const Failed *failed, const BounceEvent *noted, GError **error)
{
    g_auto(BrakeAsked) asked = ask(failed, noted, false);
    BounceBrake brake = {0};
    if (!bounce_brake_look(given->bounces->shared->store, &asked.event, &brake, error))
        return false;
    const TakeBack what = {noted->list_id, brake.of_list ? NULL : asked.domain, asked.reply, NULL,
                           noted->at / BOUNCE_DAY, ""};
    add_entry(given, &what);
    return true;
}
