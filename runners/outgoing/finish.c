/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/outgoing/finish.h"

#include <string.h>

#include "base/child.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "lists/keys.h"
#include "lists/site/canary_shard.h"
#include "runners/outgoing/bounce.h"
#include "runners/outgoing/report.h"

#include "runners/outgoing/transport.h"
#include "switchboard/fault.h"
#include "switchboard/meta.h"

/* Bounces entries stored at a time when a whole entry expires. */
#define EXPIRE_GROUP 16
/* Before an entry that cannot be shunted is tried again. */
#define SHUNT_DELAY (60 * CLOCK_SECOND)

void finish_init(Finish *finish)
{
    for (int i = 0; i < SOURCES; i++) {
        finish->outcomes[i] = g_ptr_array_new();
        finish->deliveries[i] = g_ptr_array_new();
    }
}

void finish_clear(Finish *finish)
{
    for (int i = 0; i < SOURCES; i++) {
        g_ptr_array_unref(finish->outcomes[i]);
        g_ptr_array_unref(finish->deliveries[i]);
    }
    g_free(finish->steps);
}

/* ---- recipients who are left over, by what they wait for ---- */

typedef struct RetryPart {
    const Backoff *law;  /* the back-off of their transport; NULL: they wait for place */
    const Place *place;  /* the destination that they wait for, and until when; NULL: none */
    bool doubt;          /* nobody knows whether they got it */
} RetryPart;

/* Set *destination to where the mail of a recipient goes; NULL: that is not known. Return its transport; NULL: it has
 * none. */
static const Transport *route(const RetryLaws *laws, const Delivery *delivery, Recipient recipient,
                              const Destination **destination)
{
    size_t length;
    delivery_address(delivery, &recipient);
    const char *domain = delivery_domain(&recipient, &length);
    const Transport *transport = routes_look(laws->routes, domain, length);
    if (!transport)
        transport = delivery->chosen;
    *destination = transport ? transport_place(transport, domain, length, delivery->family, delivery->sender_domain)
                             : NULL;
    return transport;
}

static RetryPart part_of(const RetryLaws *laws, const Delivery *delivery, Recipient recipient)
{
    bool doubt = delivery->doubtful && g_hash_table_contains(delivery->doubtful, GSIZE_TO_POINTER(recipient.offset));
    const Destination *destination;
    const Transport *transport = route(laws, delivery, recipient, &destination);
    const Place *place = destination ? delivery_place(delivery, destination) : NULL;
    if (place && !doubt)
        return (RetryPart){.place = place};
    const Backoff *law = transport && laws->varied ? transport_backoff(transport) : laws->standard;
    return (RetryPart){.law = law, .doubt = doubt};
}

static bool same_part(const RetryPart *one, const RetryPart *other)
{
    return one->law == other->law && one->place == other->place && one->doubt == other->doubt;
}

/* The parts (of RetryPart, whose pointers are borrowed; g_array_unref); there is at least one. */
static GArray *parts_of(const RetryLaws *laws, const Delivery *delivery)
{
    GArray *all = g_array_new(FALSE, FALSE, sizeof(RetryPart));
    bool differ = laws->varied || delivery->places || delivery->doubtful;
    Recipient recipient;
    for (size_t offset = 0; differ && entry_next_recipient(delivery->entry, offset, &recipient);
         offset = recipient.next) {
        if (recipient.state != RECIPIENT_TODO)
            continue;
        RetryPart part = part_of(laws, delivery, recipient);
        guint at = 0;
        while (at < all->len && !same_part(&g_array_index(all, RetryPart, at), &part))
            at++;
        if (at == all->len)
            g_array_append_val(all, part);
    }
    RetryPart standard = {.law = laws->standard};
    if (all->len == 0)
        g_array_append_val(all, standard);
    return all;
}

/* When the recipients of a part are tried again. Mails that this host sends to itself are not tried for long. */
static int64_t due_of(const Finish *finish, const RetryPart *part, const Delivery *delivery)
{
    int64_t now = clock_now(), arrival = entry_arrival(delivery->entry);
    int64_t due = part->place ? MAX(part->place->due, now)
                              : now + backoff_delay(part->law, now - arrival, g_random_double());
    due = MIN(due, now + finish->longest_us);
    return canary_is_list(entry_list(delivery->entry)) ? MIN(due, arrival + finish->canary_us) : due;
}

/* Walks the recipients of one part. */
typedef struct RetryWalk {
    const RetryLaws *laws;
    RetryPart wanted;
    const Delivery *delivery;
    size_t offset;
    GString *line;
} RetryWalk;

static const char *next_line(void *data, GError **error)
{
    (void)error;
    RetryWalk *walk = data;
    Recipient recipient;
    while (entry_next_recipient(walk->delivery->entry, walk->offset, &recipient)) {
        walk->offset = recipient.next;
        if (recipient.state != RECIPIENT_TODO)
            continue;
        RetryPart part = part_of(walk->laws, walk->delivery, recipient);
        if (!same_part(&part, &walk->wanted))
            continue;
        g_string_truncate(walk->line, 0);
        g_string_append_len(walk->line, recipient.address, (gssize)recipient.length);
        return walk->line->str;
    }
    return NULL;
}

static void walk_free(gpointer data)
{
    RetryWalk *walk = data;
    g_string_free(walk->line, TRUE);
    g_free(walk);
}

/* ---- what becomes of an entry ---- */

/* When the system, and no server, is why it waits. */
static int64_t next_due(const Finish *finish, const Delivery *delivery)
{
    return due_of(finish, &(RetryPart){.law = &finish->backoff}, delivery);
}

/* The entry waits again in its own queue. Its directory needs no sync: a power cut that undoes this leaves the entry
 * claimed, with its marks, and it is put back once more (R4). */
static bool wait_again(Finish *finish, Delivery *delivery, int64_t due, GError **error)
{
    if (!marks_sync_job(finish->marks, delivery, error))
        return false;
    Inbox *inbox = finish->inboxes[delivery->source];
    Entry *entry = g_steal_pointer(&delivery->entry);
    delivery_free(delivery);
    return inbox_release(inbox, entry, due, error);
}

bool finish_put_back(Finish *finish, Delivery *delivery, GError **error)
{
    return wait_again(finish, delivery, 0, error);
}

/* The outcome is borrowed: what the entry becomes may be added. */
static Outcome *end(Finish *finish, Delivery *delivery)
{
    marks_forget(finish->marks, delivery);
    Outcome *outcome = outcome_new(delivery->entry);
    g_ptr_array_add(finish->outcomes[delivery->source], outcome);
    g_ptr_array_add(finish->deliveries[delivery->source], delivery);
    return outcome;
}

/* The destination calls the entry back when there is room, unless it was refused there. */
static void note_parked(const Place *place, unsigned source, const EntryName *name, int64_t arrival)
{
    Parked parked = {.source = source, .due = name->due, .arrival = arrival};
    if (place->tried)
        return;
    memcpy(parked.hash, name->hash, sizeof parked.hash);
    parked_add(&place->destination->load.parked, &parked, clock_now());
}

/* The same of the entries that a delivery has become. Those of another process's slice come when they are due. */
static void note_parts(const Finish *finish, const Delivery *delivery, const Outcome *outcome)
{
    for (guint i = 0; delivery->parts && i < delivery->parts->len; i++) {
        const RetryPart *part = &g_array_index(delivery->parts, RetryPart, i);
        const EntryName *name = draft_name(outcome->drafts->pdata[i]);
        if (part->place && slice_owns(finish->slice, name->hash))
            note_parked(part->place, SOURCE_RETRY, name, entry_arrival(delivery->entry));
    }
}

/* Some are left over, and not for too long. Each group of recipients that wait for one thing becomes an entry, or all
 * wait again in this one. letter: goes out with the rest; consumed; or NULL. */
static bool defer(Finish *finish, Delivery *delivery, Draft *letter, GError **error)
{
    g_autoptr(GArray) parts = parts_of(&finish->laws, delivery);
    const RetryPart *first = &g_array_index(parts, RetryPart, 0);
    bool warned = warning_due(&finish->warning, delivery, clock_now());
    bool untried = first->place && delivery->deferred == 0;
    if (!warned && !letter && parts->len == 1 && !first->doubt && (delivery->source == SOURCE_RETRY || untried)) {
        int64_t due = due_of(finish, first, delivery);
        EntryName name = *entry_name(delivery->entry);
        name.due = due;
        if (first->place)
            note_parked(first->place, delivery->source, &name, entry_arrival(delivery->entry));
        if (!untried)
            report_end(delivery, RETRY_QUEUE, "deferred");
        return wait_again(finish, delivery, due, error);
    }
    Outcome *outcome = end(finish, delivery);
    delivery->parts = g_array_ref(parts);
    for (guint i = 0; i < parts->len; i++) {
        const RetryPart *part = &g_array_index(parts, RetryPart, i);
        Draft *retry = draft_from_entry(RETRY_QUEUE, delivery->entry);
        json_t *meta = draft_meta(retry);
        meta_set_integer(meta, KEY_ATTEMPTS, meta_integer(meta, KEY_ATTEMPTS, 0) + 1);
        if (delivery->last_reply)
            meta_set_string(meta, KEY_LAST_REPLY, delivery->last_reply);
        if (delivery->last_phase)
            meta_set_string(meta, KEY_LAST_PHASE, delivery->last_phase);
        if (delivery->doubts > 0 || part->doubt)
            meta_set_integer(meta, KEY_DOUBTS, delivery->doubts + part->doubt);
        bounce_keep_block(delivery, meta);
        draft_set_due(retry, due_of(finish, part, delivery));
        if (warned)
            meta_set_bool(meta, KEY_WARNED, true);
        if (parts->len > 1) { /* the delivery outlives the draft, as its outcome does */
            RetryWalk *walk = g_new0(RetryWalk, 1);
            *walk = (RetryWalk){.laws = &finish->laws, .wanted = *part, .delivery = delivery,
                                .line = g_string_new(NULL)};
            draft_set_recipients(retry, next_line, walk, walk_free);
        }
        outcome_add(outcome, retry);
    }
    /* A warning and the entries that know of it appear together or not at all. */
    if (warned)
        outcome_add(outcome, warning_draft(&finish->warning, delivery, clock_now()));
    if (letter)
        outcome_add(outcome, letter);
    return true;
}

/* The site's own mail has no member who could be charged: its sender is told. A scattered delivery does not remember
 * for which destinations it waits. */
static bool is_spared(const Delivery *delivery, const Destination *destination, size_t offset)
{
    bool waits = destination && (delivery->scattered ? destination->deaths > 0
                                                     : delivery_place(delivery, destination) != NULL);
    bool ours = destination && (destination->suspended || (destination->own && waits));
    return *entry_list(delivery->entry) &&
           (ours || delivery_spared(delivery, offset) || delivery_blameless(delivery, offset));
}

/* Return those who wait for a destination that the operator has suspended, when a letter may be about them: a set of
 * their offsets. */
static GHashTable *held_back(const Finish *finish, const Delivery *delivery)
{
    GHashTable *held = g_hash_table_new(NULL, NULL);
    bool told = delivery->lost || delivery->doubts > 0;
    Recipient recipient;
    for (size_t offset = 0; told && entry_next_recipient(delivery->entry, offset, &recipient);
         offset = recipient.next) {
        const Destination *destination;
        route(&finish->laws, delivery, recipient, &destination);
        if (destination && destination->suspended)
            g_hash_table_add(held, GSIZE_TO_POINTER(recipient.offset));
    }
    return held;
}

/* Bounces from the recipient at *offset on, at most a group of them; *offset is moved. Of recipients who are not
 * charged it says only that nobody got the post, when that may be so; else their places go to quiet. */
static void gather_expired(Finish *finish, Delivery *delivery, size_t *offset, GArray *quiet)
{
    bool forced = meta_bool(entry_meta(delivery->entry), KEY_EXPIRE), unreached = bounce_is_unreached(delivery);
    const char *last = delivery->last_reply;
    if (!last)
        last = meta_string(entry_meta(delivery->entry), KEY_LAST_REPLY, "delivery was tried for too long");
    const char *phase = delivery->last_phase;
    if (!phase)
        phase = meta_string(entry_meta(delivery->entry), KEY_LAST_PHASE, "rcpt");
    BounceMaker *maker = bounce_maker_new(delivery);
    Recipient recipient;
    while (finish->marks->bounces->len < EXPIRE_GROUP && entry_next_recipient(delivery->entry, *offset, &recipient)) {
        *offset = recipient.next;
        if (recipient.state != RECIPIENT_TODO)
            continue;
        const Destination *destination;
        route(&finish->laws, delivery, recipient, &destination);
        bool held = destination && destination->suspended && !forced;
        bool spared = is_spared(delivery, destination, recipient.offset);
        delivery->parked += held;
        if (spared && !unreached && !held)
            g_array_append_val(quiet, recipient.offset);
        if (held || (spared && !unreached))
            continue;
        delivery_address(delivery, &recipient);
        Failure failure = {"4.4.7", last, NULL, phase, spared};
        BounceDraft *full = bounce_maker_add(maker, &recipient, &failure);
        if (full)
            g_ptr_array_add(finish->marks->bounces, full);
    }
    BounceDraft *last_one = bounce_maker_end(maker);
    if (last_one)
        g_ptr_array_add(finish->marks->bounces, last_one);
}

/* The last attempt was made: everybody who is left is bounced, a group at a time; between groups it may be time to
 * leave, and the rest is bounced by who comes after us. Who waits for a destination that the operator has suspended
 * waits on. Members whose transactions broke off are not charged with it; the list's owners are told of them. */
static bool expire(Finish *finish, Delivery *delivery, GError **error)
{
    report_end(delivery, BOUNCES_QUEUE, "expired");
    g_autoptr(GHashTable) held = meta_bool(entry_meta(delivery->entry), KEY_EXPIRE) ? NULL
                                                                                   : held_back(finish, delivery);
    g_autoptr(Draft) letter = warning_given_up(&finish->warning, delivery, held, clock_now());
    g_autoptr(GArray) quiet = g_array_new(FALSE, FALSE, sizeof(size_t));
    delivery->deferred = delivery->parked = 0; /* counts those again that cannot be stored */
    size_t offset = 0;
    bool left = true;
    while (left && !(child_stopping() && offset > 0)) {
        gather_expired(finish, delivery, &offset, quiet);
        if (!marks_store_bounces(finish->marks, finish->spool, error))
            return false;
        left = offset < entry_recipients_length(delivery->entry);
    }
    if (left || delivery->deferred > 0)
        return wait_again(finish, delivery, left ? 0 : next_due(finish, delivery), error);
    /* Recipients who are given up without a bounce do not wait on with the others. */
    if (delivery->parked > 0)
        return entry_mark(delivery->entry, (const size_t *)quiet->data, quiet->len, RECIPIENT_BOUNCED, error) &&
               defer(finish, delivery, g_steal_pointer(&letter), error);
    for (guint i = 0; i < delivery->jobs->len; i++)
        transport_given_up(((const Job *)delivery->jobs->pdata[i])->transport, delivery);
    Outcome *outcome = end(finish, delivery);
    if (letter)
        outcome_add(outcome, g_steal_pointer(&letter));
    return true;
}

/* All who are left wait for destinations that the operator has suspended. */
static bool is_held_back(const Delivery *delivery)
{
    bool all = delivery->places && delivery->places->len > 0 && delivery->deferred == 0 && !delivery->scattered;
    for (guint i = 0; all && i < delivery->places->len; i++)
        all = g_array_index(delivery->places, Place, i).destination->suspended;
    return all;
}

static bool end_attempt(Finish *finish, Delivery *delivery, GError **error)
{
    if (delivery->deferred == 0 && delivery->parked == 0) {
        BounceDraft *empty = bounce_empty_block(delivery);
        if (empty)
            g_ptr_array_add(finish->marks->bounces, empty);
        if (!marks_store_bounces(finish->marks, finish->spool, error))
            return false;
        end(finish, delivery);
        return true;
    }
    int64_t age = clock_now() - entry_arrival(delivery->entry);
    if (canary_is_list(entry_list(delivery->entry)) && age >= finish->canary_us) {
        report_end(delivery, "-", "dropped");
        end(finish, delivery);
        return true;
    }
    bool old = backoff_expired(&finish->backoff, age);
    if (meta_bool(entry_meta(delivery->entry), KEY_EXPIRE) || (old && !is_held_back(delivery)))
        return expire(finish, delivery, error);
    return defer(finish, delivery, NULL, error);
}

/* A hop that could not be made: the entry keeps its marks and its place. */
static bool settle_failure(Finish *finish, Delivery *delivery, const GError *why, GError **error)
{
    Inbox *inbox = finish->inboxes[delivery->source];
    bool later = why->code != FAIL_NEVER;
    log_error("%s list=%s queue=%s %s: %s", entry_trace(delivery->entry), entry_list(delivery->entry),
              queue_name(inbox_queue(inbox)), later ? "cannot be moved on and waits" : "is preserved", why->message);
    if (!entry_sync_marks(delivery->entry, error))
        return false;
    int64_t due = next_due(finish, delivery);
    Entry *entry = g_steal_pointer(&delivery->entry);
    return later ? inbox_release(inbox, entry, due, error) : inbox_preserve(inbox, entry, error);
}

static bool commit_source(Finish *finish, int source, GError **error)
{
    GPtrArray *outcomes = finish->outcomes[source];
    GPtrArray *deliveries = finish->deliveries[source];
    if (outcomes->len == 0)
        return true;
    if (!hop_commit(finish->hop, (Outcome **)outcomes->pdata, outcomes->len, error))
        return false;
    bool sound = true;
    for (guint i = 0; i < outcomes->len; i++) {
        Outcome *outcome = outcomes->pdata[i];
        Delivery *delivery = deliveries->pdata[i];
        bool moved = outcome->drafts->len > 0;
        if (outcome->error) {
            outcome->parent = NULL; /* the delivery's again */
            sound = sound && settle_failure(finish, delivery, outcome->error, error);
        } else {
            report_end(delivery, moved ? RETRY_QUEUE : "-", moved ? "deferred" : "done");
            note_parts(finish, delivery, outcome);
            finish->done++;
            if (!moved) /* should it come back, its marks might be missing */
                marks_touch(finish->marks, entry_queue(delivery->entry));
            delivery->entry = NULL; /* the outcome's */
        }
        outcome_free(outcome);
        delivery_free(delivery);
    }
    g_ptr_array_set_size(outcomes, 0);
    g_ptr_array_set_size(deliveries, 0);
    return sound;
}

bool finish_over(Finish *finish, GQueue *over, GError **error)
{
    if (!marks_store_bounces(finish->marks, finish->spool, error))
        return false;
    Delivery *delivery;
    while ((delivery = g_queue_pop_head(over)) != NULL) {
        /* A delivery that was parked is parked again next time. A command finds the entry by its name alone. */
        bool back = delivery->withdrawn && (delivery->asked || delivery->deferred == 0);
        if (back ? !finish_put_back(finish, delivery, error) : !end_attempt(finish, delivery, error))
            return false;
    }
    for (int source = 0; source < SOURCES; source++)
        if (!commit_source(finish, source, error))
            return false;
    return true;
}

bool finish_shunt(Finish *finish, Entry *entry, unsigned source, const GError *why, GError **error)
{
    const char *from = queue_name(entry_queue(entry));
    g_autoptr(GError) gone = NULL;
    if (!spool_target(finish->spool, SHUNT_QUEUE, &gone)) {
        log_error("%s list=%s queue=%s result=later (%s; it cannot be shunted: %s)", entry_trace(entry),
                  entry_list(entry), from, why->message, gone->message);
        return inbox_release(finish->inboxes[source], entry, clock_now() + SHUNT_DELAY, error);
    }
    log_error("%s list=%s queue=%s to=" SHUNT_QUEUE " result=shunt (%s)", entry_trace(entry), entry_list(entry), from,
              why->message);
    Draft *draft = draft_from_entry(SHUNT_QUEUE, entry);
    fault_set(draft, entry, "out", why->message);
    g_autoptr(Outcome) outcome = outcome_new(entry);
    outcome_add(outcome, draft);
    Outcome *batch[] = {outcome};
    if (!hop_commit(finish->hop, batch, 1, error))
        return false;
    finish->done++;
    if (!outcome->error)
        return true;
    log_error("%s queue=%s cannot be shunted (%s); it is preserved there", entry_trace(entry), from,
              outcome->error->message);
    g_ptr_array_set_size(outcome->drafts, 0);
    return inbox_preserve(finish->inboxes[source], g_steal_pointer(&outcome->parent), error);
}
