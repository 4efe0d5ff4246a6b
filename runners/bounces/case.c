/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/bounces/case.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "lists/keys.h"
#include "lists/people/leave.h"
#include "lists/people/people.h"
#include "mail/address.h"
#include "runners/bounces/letters.h"
#include "runners/posts/list_runner.h"
#include "store/lists/list_setting.h"

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
    if (!bounce_note(store, &event, &noted, error) ||
        !case_brake(given, failed, &event, noted.first, &held, error))
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
        if (!case_brake_again(given, failed, &event, error))
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
