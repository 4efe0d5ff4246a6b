/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/bounces/case.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "lists/keys.h"
#include "lists/letters/letter.h"
#include "lists/people/leave.h"
#include "lists/people/people.h"
#include "mail/address.h"
#include "mail/answer.h"
#include "mail/header.h"
#include "runners/bounces/letters.h"
#include "runners/posts/list_runner.h"
#include "store/lists/list_setting.h"

/* ---- the brake ---- */

/*
 * Hold back points where too many members fail with the same reply (store/people/bounce.h). When a brake closes,
 * who was charged for the reply earlier that day gets the points back: a portion in the transaction that closes it, and
 * the others by entries of our own queue, a portion each, so that nobody waits for the list for long. A portion that is
 * done twice takes nothing back the second time, since what is taken back weighs nothing.
 */
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
        done = bounce_take_back(store,
                                &(BounceTakenBack){what->list_id, addresses->pdata[at], what->day,
                                                   g_array_index(weights, int64_t, at), true},
                                error);
    *last = done && charged.number == PORTION ? g_steal_pointer(&charged.last) : NULL;
    g_free(charged.last);
    return done;
}

static void add_take_back(Case *given, const TakeBack *what)
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
    TakeBack what = {.list_id = given->list->list_id,
                     .domain = meta_string(meta, "domain", NULL),
                     .reply = meta_string(meta, "reply", ""),
                     .day = json_integer_value(json_object_get(meta, "day")),
                     .after = meta_string(meta, "after", "")};
    g_autofree char *last = NULL;
    if (!take_portion(given->bounces->shared->store, &what, &last, error))
        return false;
    list_runner_log(given->entry, "result=%s (points for: %s)", last ? "taken-back-in-part" : "taken-back", what.reply);
    what.after = last;
    if (last)
        add_take_back(given, &what);
    return true;
}

/* The answer of a brake about a failure. */
typedef struct HeldBack {
    bool held; /* too many fail with the same reply: it costs no points */
    bool more; /* the points of further members are taken back by an entry that was added to the outcome */
} HeldBack;

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

static BrakeAsked ask_brake(const Failed *failed, const BounceEvent *noted, bool first)
{
    static const char *const mailbox[] = {"user-unknown", "mailbox-disabled", "mailbox-full", NULL};
    static const char *const host[] = {"host-unknown", "network", "expired", NULL};
    bool recipient = failed->about == BOUNCE_ABOUT_RECIPIENT;
    /* "example.org anne": the domain as members are counted by it. */
    const char *folded = noted->address->folded, *end = strchr(folded, ' ');
    BrakeAsked asked = {.domain = g_strndup(folded, end ? (size_t)(end - folded) : 0),
                        .reply = bounce_reply_key(noted->text, noted->address->text)};
    asked.event = (BounceBrakeEvent){.list_id = noted->list_id,
                                     .domain = asked.domain,
                                     .reply = asked.reply,
                                     .text = noted->text,
                                     .first = first,
                                     .at = noted->at,
                                     .mailbox = recipient && g_strv_contains(mailbox, failed->reason),
                                     .host = recipient && g_strv_contains(host, failed->reason)};
    return asked;
}

/* Ask the brake of a failure, and count it when its source is verified (store/people/bounce.h). first: as
 * bounce_note() says. */
static bool hold_back(Case *given, const Failed *failed, const BounceEvent *noted, bool first, HeldBack *held,
                      GError **error)
{
    g_auto(BrakeAsked) asked = ask_brake(failed, noted, first);
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
    TakeBack what = {noted->list_id, brake.of_list ? NULL : asked.domain, asked.reply, noted->address->text,
                     noted->at / BOUNCE_DAY, ""};
    g_autofree char *last = NULL;
    if (!take_portion(store, &what, &last, error))
        return false;
    held->more = last != NULL;
    what.after = last;
    if (last)
        add_take_back(given, &what);
    return true;
}

/* Add the entry once more that hold_back() has told of (more), when a crash has lost it. */
static bool hold_back_again(Case *given, const Failed *failed, const BounceEvent *noted, GError **error)
{
    g_auto(BrakeAsked) asked = ask_brake(failed, noted, false);
    BounceBrake brake = {0};
    if (!bounce_brake_look(given->bounces->shared->store, &asked.event, &brake, error))
        return false;
    const TakeBack what = {
        noted->list_id, brake.of_list ? NULL : asked.domain, asked.reply, NULL, noted->at / BOUNCE_DAY, ""};
    add_take_back(given, &what);
    return true;
}

/* ---- what is done to a member ---- */

#define TEXT_MAX 300   /* bytes of a reason that are kept */
#define DAY (86400 * CLOCK_SECOND)
#define SAME_DAY_MAX 50 /* bounces of a member on a day that are told apart; more are dropped */

VerpList case_verp_list(const Case *given, char **local)
{
    *local = list_local(given->list, "bounces", VERP_LIST_MAX);
    return (VerpList){given->list->list_id, *local, given->list->mail_host, given->bounces->delimiter};
}

static char *effect_of(const Case *given, const char *address)
{
    g_autofree char *key = address_key(address);
    return g_strconcat(given->key, ":", key, NULL);
}

bool case_owner_room(Case *given, bool *room, GError **error)
{
    int64_t today = 0, most = given->bounces->notices_a_day;
    if (!bounce_count(given->bounces->shared->store, given->list->list_id, "notice", given->now, &today, error))
        return false;
    *room = most == 0 || today <= most;
    return true;
}

/* Beside the acts, 48 bits that tell the entry: who did them writes their letters, and nobody else. An entry of out
 * has a number for it, because its name may come a second time. */
#define ACTS INT64_C(0xff)
static int64_t tag_of(Entry *entry)
{
    int64_t tag = 0;
    for (int i = 0; i < 6; i++)
        tag = tag << 8 | entry_name(entry)->hash[i];
    return (meta_integer(entry_meta(entry), KEY_WRITING, tag) & INT64_C(0xffffffffffff)) << 8;
}

bool case_record(Case *given, const char *effect, unsigned *acts, GError **error)
{
    const ListSettings *settings = given->list->settings;
    bool wants = (*acts & (SCORE_REMOVE | SCORE_LEFT) && settings->bounce_notify_owner_on_removal) ||
                 (*acts & SCORE_DISABLE && settings->bounce_notify_owner_on_disable) ||
                 (*acts & SCORE_GREW && !(*acts & SCORE_DISABLE) && settings->bounce_notify_owner_on_bounce_increment);
    bool room = false;
    if (wants && !case_owner_room(given, &room, error))
        return false;
    *acts |= room ? SCORE_TELL_OWNER : 0;
    return store_record_effect(given->bounces->shared->store, effect, tag_of(given->entry) | *acts, error);
}

bool case_find(Case *given, const char *effect, bool *before, unsigned *acts, GError **error)
{
    int64_t number;
    if (!store_find_effect(given->bounces->shared->store, effect, before, &number, error))
        return false;
    *acts = (number & ~ACTS) == tag_of(given->entry) ? (unsigned)(number & ACTS) : 0;
    return true;
}

Work *case_work(const Case *given, ActorDoor door)
{
    const ListRunner *shared = given->bounces->shared;
    const Actor actor = {.role = ACTOR_OPERATOR, .door = door, .from = entry_trace(given->entry), .name = "bounces"};
    return work_new(shared->store, &shared->site, &actor);
}

static bool set_status(Case *given, const Member *member, DeliveryStatus status, GError **error)
{
    Preferences own = member->own;
    own.delivery_status = status;
    g_autoptr(Work) work = case_work(given, DOOR_MAIL);
    return people_set_preferences(work, PREFERENCES_OF_MEMBER, member->id, &own, error);
}

/* A member in hand. */
typedef struct MemberCase {
    const Member *member;
    const char *effect; /* under which it is recorded */
    BounceScore *score;
    unsigned acts;
    bool held; /* too many fail with the same reply */
} MemberCase;

static BounceEvent event_of(const Case *given, const Failed *failed, const Mailbox *address, const char *text)
{
    int64_t weight = failed->about != BOUNCE_ABOUT_RECIPIENT ? 0
                     : failed->soft                          ? given->list->settings->bounce_temporary_weight
                                                             : SCORE_POINT;
    return (BounceEvent){.list_id = given->list->list_id,
                         .address = address,
                         .at = given->now,
                         .weight = weight,
                         .class = bounce_class_name(failed->class),
                         .status = failed->status,
                         .reason = failed->reason,
                         .source = failed->probe ? "probe" : failed->source,
                         .text = text};
}

static char *text_of(const Failed *failed)
{
    return g_utf8_make_valid(failed->text, (gssize)MIN(strlen(failed->text), TEXT_MAX));
}

/* The first time: score and disable. */
static bool score_member(Case *given, const Failed *failed, MemberCase *fate, GError **error)
{
    const Member *member = fate->member;
    BounceScore *score = fate->score;
    unsigned *acts = &fate->acts;
    Store *store = given->bounces->shared->store;
    ScoreRules rules = score_rules(given->list, given->bounces->probes);
    g_autofree char *text = text_of(failed);
    g_autoptr(Mailbox) address = mailbox_new(member->address);
    const BounceEvent event = event_of(given, failed, address, text);
    BounceNoted noted;
    HeldBack held = {0};
    if (!bounce_note(store, &event, &noted, error) || !hold_back(given, failed, &event, noted.first, &held, error))
        return false;
    fate->held = held.held;
    if (fate->held &&
        !bounce_take_back(store,
                          &(BounceTakenBack){event.list_id, member->address, event.at / BOUNCE_DAY, noted.added, false},
                          error))
        return false;
    int64_t added = fate->held ? 0 : noted.added;
    if (score->disabled_at)
        score_forgive(score);
    *acts = failed->probe && event.weight > 0 && !fate->held ? score_probe_bounced(&rules, score, given->now) : 0;
    if (!*acts)
        *acts = score_bounced(&rules, score, added, given->now);
    if ((*acts & SCORE_DISABLE && !set_status(given, member, DELIVERY_BY_BOUNCES, error)) ||
        (*acts && !bounce_score_write(store, score, error)))
        return false;
    *acts |= held.more ? SCORE_TAKE_BACK : 0;
    return (*acts == 0 && noted.number > SAME_DAY_MAX) || case_record(given, fate->effect, acts, error);
}

static void log_member(const Case *given, const Failed *failed, const BounceScore *score, unsigned acts,
                       const char *result)
{
    char points[32] = "";
    if (score)
        g_snprintf(points, sizeof points, " score=%d.%02d", (int)(score->score / SCORE_POINT),
                   (int)(score->score % SCORE_POINT));
    g_autofree char *reported = failed->reported ? g_strdup_printf(" reported=<%s>", failed->reported) : g_strdup("");
    list_runner_log(given->entry, "address=<%s>%s source=%s class=%s about=%s status=%s reason=%s%s result=%s",
                    failed->address, reported, failed->probe ? "probe" : failed->source,
                    bounce_class_name(failed->class), bounce_about_name(failed->about),
                    *failed->status ? failed->status : "-", failed->reason, points,
                    result                 ? result
                    : acts & SCORE_LEFT    ? "removed way=complaint"
                    : acts & SCORE_REMOVE  ? "removed way=bounces"
                    : acts & SCORE_DISABLE ? "disabled"
                    : acts & SCORE_PROBE   ? "probed"
                    : acts & SCORE_GREW    ? "scored"
                                           : "not-counted");
}

/* NULL without an error: it is no member. */
static Member *find_member(Case *given, const Failed *failed, GError **error)
{
    g_autoptr(GError) fault = NULL;
    g_autoptr(Mailbox) address = mailbox_new(failed->address);
    Member *member = member_find(given->bounces->shared->store, given->list->list_id, ROLE_MEMBER, address, &fault);
    if (!member && !g_error_matches(fault, FAIL, FAIL_MISSING))
        g_propagate_error(error, g_steal_pointer(&fault));
    return member;
}

static bool send(Case *given, const Failed *failed, const BounceScore *score, unsigned acts, GError **error)
{
    Letter letter = {.address = failed->address, .failed = failed, .score = score->score, .warnings = score->warnings,
                     .next_at = score->next_at, .acts = acts};
    return letters_send(given, &letter, error);
}

/* An address of no member is of no interest, unless it is an owner's or a moderator's: who does not get what concerns
 * the list cannot be told, so the owner of the site is; once a day for an address, however many mails to it come back
 * and however many lists it serves. */
static bool no_member(Case *given, const Failed *failed, const char *effect, bool before, unsigned acts, GError **error)
{
    Store *store = given->bounces->shared->store;
    g_auto(GStrv) all = list_administrators(store, given->list->list_id, error);
    if (!all)
        return false;
    g_autofree char *wanted = address_key(failed->address);
    bool serves = false;
    for (char **each = all; *each; each++) {
        g_autofree char *key = address_key(*each);
        serves |= strcmp(key, wanted) == 0;
    }
    if (serves && !before) {
        int64_t ignored;
        bool told, room;
        g_autofree char *today = g_strdup_printf("unreachable:%s:%" PRId64, wanted, given->now / DAY);
        if (!store_find_effect(store, today, &told, &ignored, error) || !case_owner_room(given, &room, error))
            return false;
        acts = room && !told ? SCORE_TELL_OWNER : 0;
        if ((acts != 0 && !store_record_effect(store, today, 0, error)) ||
            !store_record_effect(store, effect, tag_of(given->entry) | acts, error))
            return false;
    }
    log_member(given, failed, NULL, 0, serves ? before ? "done-before" : "administrator" : "no-member");
    return !serves || !(acts & SCORE_TELL_OWNER) || letters_unreachable(given, failed, error);
}

bool case_failed(Case *given, const Failed *failed, GError **error)
{
    g_autoptr(GError) fault = NULL;
    g_autofree char *effect = effect_of(given, failed->address);
    bool before;
    unsigned acts;
    if (!case_find(given, effect, &before, &acts, error))
        return false;
    g_autoptr(Member) member = find_member(given, failed, &fault);
    if (fault)
        return fail_with(error, &fault);
    if (!member && !before && failed->known_as) {
        Failed origin = *failed;
        origin.address = failed->known_as;
        origin.known_as = NULL;
        origin.reported = failed->address;
        return case_failed(given, &origin, error);
    }
    if (!member)
        return no_member(given, failed, effect, before, acts, error);
    if (!before && member->effective.delivery_status != DELIVERY_ENABLED) {
        log_member(given, failed, NULL, 0, "disabled-already");
        return true;
    }
    g_auto(BounceScore) score = {0};
    MemberCase fate = {.member = member, .effect = effect, .score = &score, .acts = acts};
    if (!bounce_score_read(given->bounces->shared->store, member->id, &score, error))
        return false;
    if (before && acts & SCORE_TAKE_BACK) {
        /* The entry was worked before, and a crash came before what it had added was there. */
        g_autofree char *text = text_of(failed);
        g_autoptr(Mailbox) address = mailbox_new(member->address);
        const BounceEvent event = event_of(given, failed, address, text);
        if (!hold_back_again(given, failed, &event, error))
            return false;
    }
    if (!before && !score_member(given, failed, &fate, error))
        return false;
    log_member(given, failed, &score, fate.acts,
               before                                    ? "done-before"
               : failed->about != BOUNCE_ABOUT_RECIPIENT ? "not-the-member's"
               : fate.held                               ? "held-back"
                                                         : NULL);
    return send(given, failed, &score, fate.acts, error);
}

/* ---- complaints ---- */

/* Leaving is as if the person had asked for it. Its letters have tokens, so they are kept until the entry is done. */
static bool part(Case *given, const Failed *failed, MemberCase *fate, GError **error)
{
    const Member *member = fate->member;
    ListRunner *shared = given->bounces->shared;
    g_autoptr(Mailbox) address = mailbox_new(member->address);
    BounceEvent event = {.list_id = given->list->list_id,
                         .address = address,
                         .at = given->now,
                         .class = bounce_class_name(failed->class),
                         .status = failed->status,
                         .reason = failed->reason,
                         .source = failed->source,
                         .text = ""};
    BounceNoted noted;
    if (!bounce_note(shared->store, &event, &noted, error))
        return false;
    switch ((ComplaintAction)given->list->settings->bounce_complaint_action) {
    case COMPLAINT_UNSUBSCRIBE: {
        g_auto(Subscription) made = {0};
        g_autoptr(Work) work = list_runner_work(shared, given->entry);
        if (!leave_complained(work, given->list, address, &made, error) || !work_keep(work, given->key, error))
            return false;
        fate->acts = made.result == SUBSCRIPTION_DONE ? SCORE_LEFT : 0; /* else it waits for a moderator */
        kept_rows_note(shared, given->key, given->outcome);
        list_runner_work_into(work, given->outcome);
        break;
    }
    case COMPLAINT_DISABLE: /* as if the member had: no warnings, which would be complained about, too */
        if (!set_status(given, member, DELIVERY_BY_USER, error))
            return false;
        fate->acts = SCORE_DISABLE;
        break;
    default:
        if (noted.number > SAME_DAY_MAX)
            return true;
    }
    return case_record(given, fate->effect, &fate->acts, error);
}

bool case_complained(Case *given, const Failed *failed, GError **error)
{
    g_autoptr(GError) fault = NULL;
    g_autofree char *effect = effect_of(given, failed->address);
    bool before;
    unsigned acts;
    if (!case_find(given, effect, &before, &acts, error))
        return false;
    g_autoptr(Member) member = before ? NULL : find_member(given, failed, &fault);
    if (fault)
        return fail_with(error, &fault);
    if (!before && !member) {
        log_member(given, failed, NULL, 0, "no-member");
        return true;
    }
    MemberCase fate = {.member = member, .effect = effect, .acts = acts};
    if (!before && !part(given, failed, &fate, error))
        return false;
    if (before) { /* the letters of an earlier try that a crash cut short go out again */
        ListRunner *shared = given->bounces->shared;
        g_autoptr(Work) work = list_runner_work(shared, given->entry);
        if (!work_recall(work, given->key, error))
            return false;
        if (work_entries(work) > 0)
            kept_rows_note(shared, given->key, given->outcome);
        list_runner_work_into(work, given->outcome);
    }
    bool waits = !before && fate.acts == 0 && given->list->settings->bounce_complaint_action == COMPLAINT_UNSUBSCRIBE;
    log_member(given, failed, NULL, fate.acts, before ? "done-before" : waits ? "waits-for-moderator" : NULL);
    return send(given, failed, &(BounceScore){0}, fate.acts, error);
}

/* ---- what names nobody ---- */

#define FORWARDED 1
#define FORWARDED_LAST 2

bool case_forward(Case *given, const char *why, GError **error)
{
    const ListRunner *shared = given->bounces->shared;
    g_autofree char *effect = effect_of(given, "forward");
    bool before;
    int64_t how;
    if (given->list->settings->forward_unrecognized_bounces_to == FORWARD_DISCARD) {
        list_runner_log(given->entry, "result=discarded (%s)", why);
        return true;
    }
    /* A mail that left this site and came back as it was is no report for the owners to read, and a letter about it
     * could come back, too. */
    g_auto(LoopMark) mark = {0};
    g_autoptr(GBytes) octets = entry_message(given->entry);
    g_autoptr(Message) message = message_new(octets);
    if (!list_runner_loop_mark(given->bounces->shared, given->entry, message, &mark, error))
        return false;
    if (mark.depth > 0) {
        list_runner_log(given->entry, "result=discarded (%s; it is mail of this site that came back)", why);
        return true;
    }
    if (!store_find_effect(shared->store, effect, &before, &how, error))
        return false;
    if (!before) {
        int64_t today = 0, most = given->bounces->notices_a_day;
        if (!bounce_count(shared->store, given->list->list_id, "notice", given->now, &today, error))
            return false;
        how = most > 0 && today > most ? 0 : most > 0 && today == most ? FORWARDED_LAST : FORWARDED;
        if (how != 0 && !store_record_effect(shared->store, effect, how, error))
            return false;
    }
    if (how == 0) {
        list_runner_log(given->entry, "result=discarded (%s; the owners got max_owner_notices_per_day today)", why);
        return true;
    }
    list_runner_log(given->entry, "result=forwarded (%s)", why);
    return letters_forward(given, why, how == FORWARDED_LAST, error);
}

/* ---- posts that reached nobody ---- */

/*
 * Tell the author, or the owners, of a post that reached nobody. out sends the recipients that it has given up, as
 * long as nobody of their block has got the post (KEY_BLOCK_OF). They are counted here until they are all, over
 * entries, attempts, processes and hosts; the transaction of the runner holds the lock of the list, so two entries
 * are never counted at once. Of a post that reached somebody only what failed before that is counted.
 */
#define HEADER_MAX (48 * 1024) /* bytes of the post's header in the letter */

/* Names of effects: "unreached:LIST:TRACE", and below it the blocks, and below these their recipients. */
typedef struct Unreached {
    Case *given;
    const json_t *meta;
    char *post, *block;
    int64_t size; /* recipients of the block */
} Unreached;

/* Set *whole when nobody of the block has got the post. Most blocks that reached nobody are told of by one entry. Of
 * others the block's own effect counts the recipients: out may tell of one twice, so each has an effect. */
static bool count_block(const Unreached *lost, bool *whole, GError **error)
{
    static const char *const keys[] = {KEY_FAILURES, KEY_LOST};
    Store *store = lost->given->bounces->shared->store;
    g_autoptr(GPtrArray) effects = g_ptr_array_new_with_free_func(g_free);
    int64_t added, count;
    for (size_t i = 0; i < G_N_ELEMENTS(keys); i++) {
        size_t at;
        json_t *one;
        json_array_foreach(json_object_get(lost->meta, keys[i]), at, one) {
            const char *address = json_is_string(one) ? json_string_value(one) : meta_string(one, "address", "");
            g_autofree char *key = address_key(address);
            g_ptr_array_add(effects, g_strconcat(lost->block, ":", key, NULL));
        }
    }
    *whole = effects->len >= lost->size;
    if (*whole)
        return true;
    if (!store_record_effects(store, effects, &added, error) ||
        !store_add_effect(store, lost->block, added, &count, error))
        return false;
    *whole = count >= lost->size;
    return true;
}

/* Note the block, and set *whole when that is so of all blocks. */
static bool count_post(const Unreached *lost, bool *whole, GError **error)
{
    Store *store = lost->given->bounces->shared->store;
    int64_t number = meta_integer(lost->meta, KEY_BLOCK, 0), most = meta_integer(lost->meta, KEY_BLOCK_MOST, 0);
    int64_t total = meta_integer(lost->meta, KEY_BLOCKS, 0), last = 0, count;
    *whole = number == 0 && most == 0 && total <= 1;
    if (*whole)
        return true;
    g_autofree char *own = g_strdup_printf("%s#%" G_GINT64_FORMAT, lost->post, number);
    g_autofree char *all = g_strconcat(lost->post, "#", NULL);
    bool before;
    if (!store_find_effect(store, own, &before, &count, error) ||
        (!before && !store_record_effect(store, own, total <= 0 && (most == 0 || lost->size < most), error)))
        return false;
    if (total > 0) {
        if (!store_add_effect(store, all, before ? 0 : 1, &count, error))
            return false;
        *whole = count >= total;
        return true;
    }
    /* Where their number is not known they were filled in order, so the first with fewer recipients than it might have
     * is the last one. */
    before = true;
    for (number = 0; before && !last; number++) {
        g_autofree char *each = g_strdup_printf("%s#%" G_GINT64_FORMAT, lost->post, number);
        if (!store_find_effect(store, each, &before, &last, error))
            return false;
    }
    *whole = before;
    return true;
}

/* ---- the letter ---- */

/* The author's letter leaves out the addresses that a reply names, and the senders that hold one (VERP): who writes to
 * a list may not know its members. */
static bool send_unreached(const Unreached *lost, bool to_author, GError **error)
{
    static const char address[] = "[^\\s<>()\\[\\],;:\"']*@[^\\s<>()\\[\\],;:\"']*";
    const Case *given = lost->given;
    const ListRunner *shared = given->bounces->shared;
    const json_t *failures = json_object_get(lost->meta, KEY_FAILURES);
    const char *sender = meta_string(lost->meta, KEY_SENDER, "");
    const char *last = meta_string(lost->meta, KEY_LOST_REPLY, NULL);
    last = last ? last : meta_string(json_array_get(failures, 0), "reply", "");
    g_autoptr(GRegex) regex = g_regex_new(address, 0, 0, NULL);
    g_autofree char *bare = to_author ? g_regex_replace_literal(regex, last, -1, 0, "...", 0, NULL) : NULL;
    g_autoptr(GBytes) header = entry_message(given->entry);
    g_autoptr(Message) message = message_new(header);
    g_autofree char *raw = message_value(message, "Subject"), *subject = header_decode(raw ? raw : "(no subject)");
    g_autofree char *brief = template_brief(subject), *reply = template_brief(!to_author ? last : bare ? bare : "");
    g_autofree char *owner = list_address(given->list, "owner");
    const TemplateValue values[] = {{"subject", brief}, {"sender", sender}, {"reasons", reply}, {0}};
    ListLetter letter = {.template = "post_undelivered",
                         .values = values,
                         .to = to_author ? sender : owner,
                         .in_reply_to = to_author ? meta_string(lost->meta, KEY_MESSAGE_ID, "") : NULL,
                         .attach = NOTICE_HEADER,
                         .about = header,
                         .most = HEADER_MAX,
                         .date = given->now,
                         .trace = entry_trace(given->entry)};
    if (!to_author) {
        letter.recipients = letter_owners(shared->store, given->list, shared->site.site_owner, error);
        if (!letter.recipients)
            return false;
    }
    g_autoptr(Work) work = list_runner_work(given->bounces->shared, given->entry);
    if (!work_letter(work, given->list, &letter, error))
        return false;
    list_runner_work_into(work, given->outcome);
    list_runner_log(given->entry, "to=<%s> result=told (the post reached nobody)", letter.to);
    return true;
}

/* Tell once for a post; again in the same words when this entry comes again before its letter was on the disk. Within
 * the limits of a day the author is told, where a person has written the post and may be answered; else, also when he
 * has had all letters of today, the owners. */
static bool tell_unreached(const Unreached *lost, GError **error)
{
    Case *given = lost->given;
    g_autofree char *effect = g_strconcat(lost->post, "!", NULL);
    bool before;
    unsigned acts;
    if (!case_find(given, effect, &before, &acts, error))
        return false;
    if (!before) {
        const char *sender = meta_string(lost->meta, KEY_SENDER, "");
        g_autoptr(GBytes) header = entry_message(given->entry);
        g_autoptr(Message) message = message_new(header);
        bool author = false, owners = false;
        if (!address_same(sender, given->list->posting_address) && answer_allowed_for_post(sender, message)) {
            g_autoptr(Work) work = list_runner_work(given->bounces->shared, given->entry);
            if (!letter_allowed(work, given->list, sender, &author, error))
                return false;
            list_runner_work_into(work, given->outcome);
        }
        if (!author && !case_owner_room(given, &owners, error))
            return false;
        acts = author ? SCORE_WARN : owners ? SCORE_TELL_OWNER : 0;
        if (!case_record(given, effect, &acts, error))
            return false;
    }
    return acts == 0 || send_unreached(lost, acts & SCORE_WARN, error);
}

bool case_unreached(Case *given, GError **error)
{
    const json_t *meta = entry_meta(given->entry);
    const char *of = meta_string(meta, KEY_BLOCK_OF, NULL);
    Unreached lost = {.given = given, .meta = meta, .size = meta_integer(meta, KEY_BLOCK_SIZE, -1)};
    if (!of || lost.size < 0)
        return true;
    lost.post = g_strdup_printf("unreached:%s:%s", given->list->list_id, entry_trace(given->entry));
    lost.block = g_strdup_printf("%s:%s", lost.post, of);
    bool whole;
    bool done = count_block(&lost, &whole, error) &&
                (!whole || (count_post(&lost, &whole, error) && (!whole || tell_unreached(&lost, error))));
    g_free(lost.block);
    g_free(lost.post);
    return done;
}
