/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* A part meets its set: the decisions of README.md, "Transitions". */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "lists/keys.h"
#include "posting/setup.h"
#include "runners/defragment/defragment.h"
#include "store/lists/list_setting.h"

#define DAY (86400 * CLOCK_SECOND)

/* Write a line about the part into the log. */
static void log_part(const Part *part, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    log_info("%s list=%s queue=" DEFRAGMENT_QUEUE " set=%.12s part=%" PRId64 "/%" PRId64 " from=<%s> %s",
             entry_trace(part->entry), entry_list(part->entry), part->key ? part->key : "-", part->partial.number,
             part->partial.total, part->sender, text);
}

/* ---- the join (D4): the last part's child is the whole, and it takes the others ---- */

#define DEPTH_MAX 1

/* The parts as they are read. */
typedef struct Gathered {
    GPtrArray *octets; /* of GBytes, in order */
    GArray *others;    /* of EntryName: to be taken */
    bool smtputf8;
    int64_t depth, size;
    unsigned lost;
} Gathered;

static void add_entry(Gathered *gathered, Entry *entry)
{
    GBytes *octets = entry_message(entry);
    gathered->size += (int64_t)g_bytes_get_size(octets);
    g_ptr_array_add(gathered->octets, octets);
    gathered->smtputf8 |= meta_bool(entry_meta(entry), KEY_SMTPUTF8);
    gathered->depth = MAX(gathered->depth, meta_integer(entry_meta(entry), KEY_DEPTH, 0));
}

/* Where the whole goes: to `in`, or here again when it is itself a part. Its metadata is that of the last part, as far
 * as it is true of the whole. */
static void add_whole(Part *part, const Gathered *gathered)
{
    static const char *const of_part[] = {META_ORDINAL, META_SHARD,      META_FAULT,   KEY_DEPTH,
                                          KEY_LEFT,     KEY_LEFT_REASON, KEY_SMTPUTF8, KEY_BODY_8BIT};
    guint parts = gathered->octets->len;
    g_autofree char *date = clock_rfc5322(part->now);
    g_autofree char *trace = g_strdup_printf("by %s (Listrunner, joined from %u parts) id %s;\r\n\t%s", part->own->host,
                                             parts, entry_trace(part->entry), date);
    g_autoptr(GPtrArray) whole = partial_join((GBytes *const *)gathered->octets->pdata, parts, trace);
    g_autoptr(Message) head = message_new(whole->pdata[0]);
    json_t *meta = json_deep_copy(entry_meta(part->entry));
    for (size_t i = 0; i < G_N_ELEMENTS(of_part); i++)
        json_object_del(meta, of_part[i]);
    g_autofree char *id = message_id_brief(head);
    if (!id) {
        id = g_strdup_printf("%.32s@%s", part->key, part->own->host);
        g_autofree char *field = g_strdup_printf("<%s>", id);
        message_prepend(head, "Message-ID", field);
    }
    meta_set_string(meta, KEY_MESSAGE_ID, id);
    if (gathered->smtputf8)
        meta_set_bool(meta, KEY_SMTPUTF8, true);
    g_auto(Partial) nested = {0};
    const char *queue = "in";
    if (partial_read(head, &nested)) {
        if (!nested.fault && gathered->depth < DEPTH_MAX) {
            g_autofree char *key = partial_set_key(part->list->list_id, partial_sender(&nested, part->sender),
                                                   nested.id);
            meta_set_string(meta, META_SHARD, key);
            meta_set_integer(meta, KEY_DEPTH, gathered->depth + 1);
            queue = DEFRAGMENT_QUEUE;
        } else {
            meta_set_string(meta, KEY_LEFT, LEFT_REFUSED);
            meta_set_string(meta, KEY_LEFT_REASON, "The message was joined from parts, and is again only a part.");
        }
    }
    g_autoptr(GBytes) octets = message_head(head);
    if (bytes_8bit_of(octets))
        meta_set_bool(meta, KEY_BODY_8BIT, true);
    Draft *draft = draft_new(queue, meta);
    draft_add_message(draft, octets);
    draft_add_message(draft, whole->pdata[1]);
    outcome_add(part->outcome, draft);
    log_part(part, "result=joined parts=%u size=%zu to=%s message-id=<%s>", parts, draft_message_length(draft), queue,
             meta_string(meta, KEY_MESSAGE_ID, ""));
}

/* Join a set that is complete (D4). *done is false when one of its parts turned out to be lost: then the set
 * stays open. False: it failed. */
static bool join_set(Part *part, const FragmentSet *set, bool *done, GError **error)
{
    Defragment *own = part->own;
    g_autoptr(GPtrArray) octets = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
    g_autoptr(GArray) others = g_array_new(FALSE, FALSE, sizeof(EntryName));
    Gathered gathered = {.octets = octets, .others = others};
    *done = false;
    g_autoptr(GPtrArray) rows = fragment_parts(own->store, part->key, error);
    if (!rows)
        return false;
    for (guint i = 0; i < rows->len; i++) {
        const FragmentPart *row = rows->pdata[i];
        bool ours = strcmp(row->entry, part->name) == 0;
        EntryName name = {0};
        Entry *entry = ours ? part->entry : NULL;
        if (!ours && (!name_hash_parse(row->entry, name.hash) ||
                      !runner_find(own->runner, name.hash, set->expires_at, &entry, error)))
            return false;
        if (entry)
            add_entry(&gathered, entry);
        if (entry && !ours)
            g_array_append_val(others, name);
        if (!entry) {
            gathered.lost++;
            log_part(part, "result=lost (part %" PRId64 ", entry %s, is not in the queue any more)", row->number,
                     row->entry);
            if (!fragment_remove(own->store, part->key, row, error))
                return false;
        }
        runner_progress(own->runner);
    }
    if (gathered.lost > 0) /* a set that was thought joined, and lost a part before, is open again */
        return set->state == FRAGMENT_OPEN ||
               fragment_end(own->store, part->key, &(FragmentEnd){.state = FRAGMENT_OPEN}, error);
    const FragmentEnd joined = {.state = FRAGMENT_JOINED, .time = part->now, .joined_by = part->name};
    if (!fragment_end(own->store, part->key, &joined, error))
        return false;
    add_whole(part, &gathered);
    for (guint i = 0; i < others->len; i++)
        runner_take(own->runner, part->outcome, g_array_index(others, EntryName, i).hash);
    Join *made = g_new0(Join, 1);
    *made = (Join){.key = g_strdup(set->key), .outcome = part->outcome};
    g_ptr_array_add(own->joins, made);
    own->counted = false;
    return *done = true;
}

/* ---- a part meets its set ---- */

/* It goes on to `in` by itself: left is one of LEFT_*, or NULL for unchanged; reason is a sentence or NULL. */
static void pass_on(Part *part, const char *left, const char *reason)
{
    Draft *draft = draft_from_entry("in", part->entry);
    json_t *meta = draft_meta(draft);
    json_object_del(meta, META_SHARD);
    json_object_del(meta, KEY_DEPTH);
    meta_set_string(meta, KEY_LEFT, left);
    meta_set_string(meta, KEY_LEFT_REASON, reason);
    outcome_add(part->outcome, draft);
    log_part(part, "result=%s%s%s%s", left ? left : "passed-on", reason ? " (" : "", reason ? reason : "",
             reason ? ")" : "");
}

static void wait_for_set(Part *part, const FragmentSet *set)
{
    runner_wait(part->own->runner, part->outcome, set->expires_at);
}

/* P3. */
static void wait_a_minute(Part *part, const char *why)
{
    int64_t due = part->now + DEFRAGMENT_RETRY;
    log_part(part, "result=waits (%s)", why);
    runner_wait(part->own->runner, part->outcome, part->deadline > part->now ? MIN(due, part->deadline) : due);
}

/* reason: that of the set, or NULL. */
static void leave_expired(Part *part, const char *reason)
{
    pass_on(part, LEFT_EXPIRED, reason ? reason : "It is a part of a message whose other parts did not come in time.");
}

static const char *author_of(const Part *part)
{
    return partial_sender(&part->partial, part->sender);
}

/* ---- opening ---- */

static bool count_waiting(Defragment *own, GError **error)
{
    own->counted = own->counted || fragment_count(own->store, own->host, &own->waiting, error);
    return own->counted;
}

/* D16: a set is over before its time, and its parts leave like those of one whose time is over. Frees it. */
static bool give_up(Part *part, FragmentSet *chosen, const char *limit, GError **error)
{
    Defragment *own = part->own;
    g_autoptr(FragmentSet) set = chosen;
    g_autofree char *reason = g_strdup_printf("It is a part of a message whose other parts had not come when the room "
                                              "was wanted for newer ones (%s).", limit);
    own->counted = false;
    if (!fragment_end(own->store, set->key,
                      &(FragmentEnd){.state = FRAGMENT_EXPIRED, .time = part->now, .reason = reason}, error))
        return false;
    log_warn("list=%s queue=" DEFRAGMENT_QUEUE " set=%.12s from=<%s> result=gave-room limit=%s parts=%" PRId64
             " size=%" PRId64 " age=%" PRId64 "s", set->list_id, set->key, set->sender, limit, set->parts, set->octets,
             (part->now - set->opened_at) / CLOCK_SECOND);
    if (strcmp(set->host, own->host) == 0) /* another host looks once an hour */
        g_ptr_array_add(own->given_up, g_steal_pointer(&set));
    return true;
}

/* Make room for one more set where a limit of sets is reached. The sender's limit takes the sender's oldest set; the
 * others take it from the sender that has the most, so that nobody is pushed out by who sends more. Each limit takes
 * one set at most: where a limit was lowered, the number falls as sets end. */
static bool make_room(Part *part, GError **error)
{
    Defragment *own = part->own;
    FragmentSet *set;
    int64_t sets;
    if (!fragment_count_sender(own->store, author_of(part), own->sets_per_sender, &sets, error))
        return false;
    if (sets >= own->sets_per_sender &&
        (!(set = fragment_find_oldest(own->store, author_of(part), error)) ||
         !give_up(part, set, "sets_per_sender", error)))
        return false;
    if (!fragment_count_list(own->store, part->list->list_id, own->sets_per_list, &sets, error))
        return false;
    if (sets >= own->sets_per_list &&
        (!(set = fragment_find_heaviest(own->store, part->list->list_id, NULL, author_of(part), error)) ||
         !give_up(part, set, "sets_per_list", error)))
        return false;
    if (!count_waiting(own, error))
        return false;
    return own->waiting.sets < own->sets_per_host ||
           ((set = fragment_find_heaviest(own->store, NULL, own->host, author_of(part), error)) &&
            give_up(part, set, "sets_per_host", error));
}

/* D1. NULL without error: it waits or leaves (D2, D9). */
static FragmentSet *open_set(Part *part, GError **error)
{
    Defragment *own = part->own;
    if (part->deadline <= part->now) {
        leave_expired(part, NULL);
        return NULL;
    }
    if (!count_waiting(own, error))
        return NULL;
    if (own->waiting.octets >= own->max_waiting) {
        wait_a_minute(part, "[defragment] max_waiting leaves no room");
        return NULL;
    }
    if (!make_room(part, error) || !count_waiting(own, error))
        return NULL;
    FragmentSet fresh = {.key = part->key, .list_id = part->list->list_id,
                         .sender = (char *)author_of(part), .id = part->partial.id, .host = (char *)own->host,
                         .opened_at = entry_arrival(part->entry), .expires_at = part->deadline};
    if (!fragment_open(own->store, &fresh, error))
        return NULL;
    own->waiting.sets++;
    log_part(part, "result=opened expires-in=%" PRId64 "s", (part->deadline - part->now) / CLOCK_SECOND);
    return fragment_find(own->store, part->key, error);
}

/* ---- an open set ---- */

static bool quarantine(Part *part, const FragmentSet *set, GError **error, const char *format, ...)
    G_GNUC_PRINTF(4, 5);

/* D7. */
static bool quarantine(Part *part, const FragmentSet *set, GError **error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *reason = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    part->own->counted = false;
    if (!fragment_end(part->own->store, part->key,
                      &(FragmentEnd){.state = FRAGMENT_QUARANTINED, .time = part->now, .reason = reason}, error))
        return false;
    log_part(part, "result=quarantined parts=%" PRId64 " size=%" PRId64, set->parts, set->octets);
    pass_on(part, LEFT_REFUSED, reason);
    return settle_wake(part->own, set, error);
}

/* Check for numbers that no sound sender writes. *fits is false when the set was ended for it. */
static bool check_totals(Part *part, const FragmentSet *set, bool *fits, GError **error)
{
    const Partial *partial = &part->partial;
    *fits = false;
    if (set->total > 0 && partial->total > 0 && set->total != partial->total)
        return quarantine(part, set, error, "Parts of one message say different totals, %" PRId64 " and %" PRId64 ".",
                          set->total, partial->total);
    if (set->total > 0 && partial->number > set->total)
        return quarantine(part, set, error, "There is a part %" PRId64 " of a message of %" PRId64 " parts.",
                          partial->number, set->total);
    if (set->total == 0 && partial->total > 0) {
        g_autoptr(GPtrArray) parts = fragment_parts(part->own->store, part->key, error);
        const FragmentPart *last = parts && parts->len > 0 ? parts->pdata[parts->len - 1] : NULL;
        if (!parts)
            return false;
        if (last && last->number > partial->total)
            return quarantine(part, set, error, "There is a part %" PRId64 " of a message of %" PRId64 " parts.",
                              last->number, partial->total);
    }
    *fits = true;
    return true;
}

/* The set has all its parts, or not. */
static bool check_complete(Part *part, const FragmentSet *set, GError **error)
{
    bool done = false;
    if (set->total > 0 && set->parts == set->total && !join_set(part, set, &done, error))
        return false;
    if (!done)
        wait_for_set(part, set);
    return true;
}

static bool add_part(Part *part, const FragmentSet *set, GError **error)
{
    Defragment *own = part->own;
    g_autoptr(GBytes) body = message_body(part->message);
    int64_t size = (int64_t)g_bytes_get_size(body);
    if (set->octets + size > own->max_size)
        return quarantine(part, set, error, "The message has more than the %" PRId64 " octets that may be joined.",
                          own->max_size);
    FragmentPart row = {.number = part->partial.number, .octets = size, .entry = part->name, .digest = part->digest};
    if (!fragment_add(own->store, part->key, &row, part->partial.total, error))
        return false;
    own->waiting.octets += size;
    g_autoptr(FragmentSet) grown = fragment_find(own->store, part->key, error);
    if (!grown)
        return false;
    log_part(part, "result=stored parts=%" PRId64 " of=%" PRId64 " size=%" PRId64, grown->parts, grown->total, size);
    return check_complete(part, grown, error);
}

/* The part that has this number in the index; *row NULL: none. */
static bool find_row(const Part *part, FragmentPart **row, GError **error)
{
    g_autoptr(GError) fault = NULL;
    *row = fragment_find_part(part->own->store, part->key, part->partial.number, &fault);
    return *row || fail_unless(error, FAIL_MISSING, &fault);
}

static bool meet_open(Part *part, const FragmentSet *set, GError **error);

/* Is the entry of a row still there? One that another has in hand is an error that passes. */
static bool is_kept(Part *part, const FragmentSet *set, const FragmentPart *row, bool *kept, GError **error)
{
    EntryName name = {0};
    Entry *entry = NULL;
    *kept = strcmp(set->host, part->own->host) != 0; /* that host looks */
    if (*kept || !name_hash_parse(row->entry, name.hash))
        return true;
    if (!runner_find(part->own->runner, name.hash, set->expires_at, &entry, error))
        return false;
    *kept = entry != NULL;
    return !entry || runner_leave(part->own->runner, name.hash, 0, error);
}

/* D6: with the same bytes as one that is there. When that one is lost, this part takes its place. */
static bool meet_same(Part *part, const FragmentSet *set, const FragmentPart *row, GError **error)
{
    bool kept;
    if (!is_kept(part, set, row, &kept, error))
        return false;
    if (kept) {
        log_part(part, "result=repeated");
        return true;
    }
    log_part(part, "result=replaces entry=%s (which is not in the queue any more)", row->entry);
    g_autoptr(FragmentSet) rest = NULL;
    if (!fragment_remove(part->own->store, part->key, row, error) ||
        !(rest = fragment_find(part->own->store, part->key, error)))
        return false;
    return meet_open(part, rest, error);
}

static bool meet_open(Part *part, const FragmentSet *set, GError **error)
{
    Defragment *own = part->own;
    g_autoptr(FragmentPart) row = NULL;
    bool fits;
    if (!find_row(part, &row, error))
        return false;
    bool own_row = row && strcmp(row->entry, part->name) == 0;
    if (row && !own_row && strcmp(row->digest, part->digest) == 0)
        return meet_same(part, set, row, error);
    if (strcmp(set->host, own->host) != 0) {
        if (part->deadline <= part->now) {
            leave_expired(part, NULL);
        } else if (config_bool(runner_config(own->runner), "runner.handover", "start")) {
            /* D12. The runner handover takes it to that host. It has another ordinal each time, because the other host
             * takes a name once. */
            Draft *draft = draft_from_entry(HANDOVER_QUEUE, part->entry);
            json_t *meta = draft_meta(draft);
            json_object_del(meta, META_ORDINAL);
            meta_set_string(meta, KEY_HAND_TO, set->host);
            meta_set_string(meta, KEY_HAND_QUEUE, DEFRAGMENT_QUEUE);
            meta_set_integer(meta, KEY_HANDED_AT, part->now);
            outcome_add(part->outcome, draft);
            log_part(part, "result=handed-over host=%s", set->host);
        } else {
            wait_a_minute(part, "its set is on another host, and this one has no certificate for that ([host])");
        }
        return true;
    }
    if (set->expires_at <= part->now) {
        own->counted = false;
        const FragmentEnd expired = {.state = FRAGMENT_EXPIRED, .time = part->now};
        if (!fragment_end(own->store, part->key, &expired, error))
            return false;
        log_part(part, "result=set-expired parts=%" PRId64 " of=%" PRId64 " size=%" PRId64, set->parts, set->total,
                 set->octets);
        leave_expired(part, NULL);
        return true;
    }
    if (own_row)
        return check_complete(part, set, error);
    if (row)
        return quarantine(part, set, error, "Part %" PRId64 " of the message came twice, with different content.",
                          part->partial.number);
    return check_totals(part, set, &fits, error) && (!fits || add_part(part, set, error));
}

/* ---- a set that has ended ---- */

/* F2, F3. */
static bool meet_joined(Part *part, const FragmentSet *set, GError **error)
{
    bool done = false;
    g_autoptr(FragmentPart) row = NULL;
    if (g_strcmp0(set->joined_by, part->name) == 0 && !set->settled) {
        if (!join_set(part, set, &done, error))
            return false;
        if (!done)
            wait_for_set(part, set);
        return true;
    }
    if (!find_row(part, &row, error))
        return false;
    if (row && strcmp(row->digest, part->digest) == 0) {
        bool spent = set->settled || strcmp(row->entry, part->name) != 0;
        if (spent) {
            log_part(part, "result=repeated (its message was joined)");
            return true;
        }
        if (set->expires_at > part->now)
            wait_for_set(part, set);
        else
            wait_a_minute(part, "its message is being joined");
        return true;
    }
    pass_on(part, LEFT_REFUSED, "It says that it is a part of a message that was complete without it.");
    return true;
}

static bool meet_set(Part *part, const FragmentSet *set, GError **error)
{
    switch (set->state) {
    case FRAGMENT_OPEN:
        return meet_open(part, set, error);
    case FRAGMENT_JOINED:
        return meet_joined(part, set, error);
    case FRAGMENT_QUARANTINED:
        pass_on(part, LEFT_REFUSED, set->reason ? set->reason : "It is a part of a message that cannot be joined.");
        return true;
    case FRAGMENT_EXPIRED:
        leave_expired(part, set->reason);
        return true;
    case FRAGMENT_RELEASED:
        pass_on(part, LEFT_RELEASED, NULL);
        return true;
    default:
        log_part(part, "result=dropped (by an operator)");
        return true;
    }
}

/* ---- the part ---- */

static void part_clear(Part *part)
{
    g_clear_pointer(&part->message, message_free);
    partial_clear(&part->partial);
    g_clear_pointer(&part->key, g_free);
    g_clear_pointer(&part->digest, g_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Part, part_clear)

bool part_handle(Defragment *own, Entry *entry, Outcome *outcome, GError **error)
{
    g_auto(Part) part = {.own = own, .entry = entry, .outcome = outcome};
    g_autoptr(GError) gone = NULL, fault = NULL;
    part.list = list_cache_get(own->lists, entry_list(entry), &gone);
    if (!part.list) {
        if (g_error_matches(gone, FAIL, FAIL_MISSING))
            return fail(error, FAIL_NEVER, "there is no list %s any more; this is a part of a message that waited for "
                        "the others", entry_list(entry));
        return fail_with(error, &gone);
    }
    int64_t days = part.list->settings->notices > 0 ? part.list->settings->notices : own->notices;
    part.now = clock_now();
    part.deadline = entry_arrival(entry) + days * DAY / 2;
    part.sender = meta_string(entry_meta(entry), KEY_SENDER, "");
    name_hash_format(entry_name(entry)->hash, part.name);
    g_autoptr(GBytes) octets = entry_message(entry);
    part.message = message_new(octets);
    if (!partial_read(part.message, &part.partial) || !transport_defragments(runner_config(own->runner), part.list)) {
        pass_on(&part, NULL, NULL); /* D13 */
        return true;
    }
    int64_t highest = MAX(part.partial.number, part.partial.total);
    if (!part.partial.fault && highest > own->max_parts)
        part.partial.fault = g_strdup_printf("it has more than %" PRId64 " parts", own->max_parts);
    if (part.partial.fault) {
        g_autofree char *reason = g_strdup_printf("A part of a message cannot be joined: %s.", part.partial.fault);
        pass_on(&part, LEFT_REFUSED, reason);
        return true;
    }
    part.key = partial_set_key(part.list->list_id, author_of(&part), part.partial.id);
    part.digest = partial_digest(part.message);
    g_autoptr(FragmentSet) set = fragment_find(own->store, part.key, &fault);
    if (!set && !g_error_matches(fault, FAIL, FAIL_MISSING))
        return fail_with(error, &fault);
    if (set)
        return meet_set(&part, set, error);
    GError *problem = NULL;
    g_autoptr(FragmentSet) fresh = open_set(&part, &problem);
    if (problem)
        g_propagate_error(error, problem);
    return fresh ? meet_open(&part, fresh, error) : problem == NULL;
}
