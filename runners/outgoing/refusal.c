/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/outgoing/refusal.h"

#include <string.h>

#include "base/clock.h"
#include "mail/bounce/bounce.h"
#include "switchboard/meta.h"

/* So many recipients, of so many domains, with one reply and none taken in between: it is not about them. */
#define SAME_RECIPIENTS 10
#define SAME_DOMAINS 3
/* So many refusals of one kind in a row: one message at a time finds out when that is over. */
#define ROW_RECIPIENTS 10
#define ROW_MESSAGES 3
/* Messages that are counted: of all senders together, and of each sender in any case. */
#define WAITING_MAX 200000
#define WAITING_EACH 10
/* The most that a restart keeps: senders, messages of all of them together, and bytes of a reply. */
#define SAVED_SENDERS 1000
#define SAVED_MESSAGES 10000
#define REPLY_MAX 500
/* Messages that are told apart when a sender's are shown: for all senders together. */
#define SHOWN_MARKS 5000

static void refusal_free(gpointer data)
{
    RelayRefusal *refusal = data;
    g_free(refusal->sender);
    g_free(refusal->reply);
    g_free(refusal->same);
    g_hash_table_unref(refusal->waiting);
    g_hash_table_unref(refusal->domains);
    g_hash_table_unref(refusal->refused);
    g_free(refusal);
}

void refusals_clear(RelayRefusals *refusals)
{
    g_clear_pointer(&refusals->all, g_hash_table_unref);
    g_clear_pointer(&refusals->later, g_hash_table_unref);
    refusals->waiting = 0;
}

bool refusals_none(const RelayRefusals *refusals)
{
    return !refusals->all && !refusals->later;
}

RelayRefusal *refusals_find(const RelayRefusals *refusals, const char *sender)
{
    return refusals->all ? g_hash_table_lookup(refusals->all, sender) : NULL;
}

static RelayRefusal *find_or_make(GHashTable **all, const char *sender)
{
    if (!*all)
        *all = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, refusal_free);
    RelayRefusal *refusal = g_hash_table_lookup(*all, sender);
    if (refusal)
        return refusal;
    refusal = g_new0(RelayRefusal, 1);
    refusal->sender = g_strdup(sender);
    refusal->waiting = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
    refusal->domains = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    refusal->refused = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_hash_table_insert(*all, refusal->sender, refusal);
    return refusal;
}

void refusal_set_reply(RelayRefusal *refusal, const char *reply)
{
    g_free(refusal->reply);
    refusal->reply = g_utf8_make_valid(reply, (gssize)strnlen(reply, REPLY_MAX));
}

/* ---- what a reply is about ---- */

static FateAbout about_at_rcpt(const Fate *fate, const BounceVerdict *verdict)
{
    static const char *const sure[] = {"user-unknown", "mailbox-full", "mailbox-disabled", "host-unknown", NULL};
    bool wants_auth = fate->code == 530 || fate->code == 534 || fate->code == 535 || fate->code == 538;
    if (wants_auth || verdict->about == BOUNCE_ABOUT_SENDER)
        return FATE_OF_SENDER;
    return g_strv_contains(sure, verdict->reason) ? FATE_OF_RECIPIENT : FATE_OF_ANYBODY;
}

const char *fate_phase(const Fate *fate)
{
    static const BouncePhase phases[SMTP_PHASES] = {
        [SMTP_CONNECT] = BOUNCE_PHASE_CONNECT, [SMTP_GREETING] = BOUNCE_PHASE_CONNECT,
        [SMTP_HELO] = BOUNCE_PHASE_HELLO,      [SMTP_TLS] = BOUNCE_PHASE_HELLO,
        [SMTP_AUTH] = BOUNCE_PHASE_AUTH,       [SMTP_IDLE] = BOUNCE_PHASE_CONNECT,
        [SMTP_MAIL] = BOUNCE_PHASE_MAIL,       [SMTP_RCPT] = BOUNCE_PHASE_RCPT,
        [SMTP_DATA] = BOUNCE_PHASE_DATA,       [SMTP_BODY] = BOUNCE_PHASE_END,
        [SMTP_DOT] = BOUNCE_PHASE_END,         [SMTP_RSET] = BOUNCE_PHASE_MAIL,
        [SMTP_QUIT] = BOUNCE_PHASE_END};
    return bounce_phase_name(phases[fate->phase]);
}

static BounceVerdict relay_verdict(const Fate *fate)
{
    return bounce_judge(&(BounceReply){.phase = bounce_phase_named(fate_phase(fate)), .status = fate->status,
                                       .text = fate->reply, .own_relay = true});
}

bool refusal_is_ours(const Fate *fate)
{
    if (fate->about != FATE_OF_RECIPIENT || fate->phase != SMTP_RCPT)
        return true;
    if (fate->code == 0) /* these are words of our own: the connection was lost */
        return false;
    BounceVerdict verdict = relay_verdict(fate);
    return about_at_rcpt(fate, &verdict) == FATE_OF_SENDER;
}

FateAbout refusal_about(const Fate *fate)
{
    if (fate->verdict != SMTP_NEVER)
        return FATE_OF_RECIPIENT;
    /* Of our own words only that the relay has announced a lesser size is its refusal. */
    if (fate->code == 0)
        return strcmp(fate->status, "5.3.4") == 0 ? FATE_OF_MESSAGE : FATE_OF_RECIPIENT;
    BounceVerdict verdict = relay_verdict(fate);
    if (fate->phase == SMTP_RCPT)
        return about_at_rcpt(fate, &verdict);
    bool sender = fate->phase == SMTP_MAIL && strcmp(verdict.reason, "too-large") != 0;
    return sender ? FATE_OF_SENDER : FATE_OF_MESSAGE;
}

/* ---- in a row ---- */

/* A success: what was refused before it was not refused to everybody. */
static void end_row(RelayRefusal *refusal)
{
    refusal->recipients = 0;
    g_clear_pointer(&refusal->same, g_free);
    g_hash_table_remove_all(refusal->domains);
    g_hash_table_remove_all(refusal->refused);
}

/* Leave out of a reply what differs from one recipient or session to another: what stands in angle brackets, the
 * address, and numbers. */
static char *alike(const char *reply, const Recipient *recipient)
{
    g_autofree char *address = g_strndup(recipient->address, recipient->length);
    g_autoptr(GString) text = g_string_new(reply);
    g_string_replace(text, address, "", 0);
    GString *rest = g_string_new(NULL);
    bool inside = false;
    for (const char *at = text->str; *at; at++) {
        inside = *at == '<' || (inside && *at != '>');
        if (!inside && !g_ascii_isdigit(*at))
            g_string_append_c(rest, g_ascii_tolower(*at));
    }
    return g_string_free(rest, FALSE);
}

static void add_to_row(RelayRefusal *refusal, const Recipient *recipient, const char *reply)
{
    const char *at = memrchr(recipient->address, '@', recipient->length);
    const char *domain = at ? at + 1 : recipient->address + recipient->length;
    g_autofree char *same = alike(reply, recipient);
    if (refusal->same && strcmp(refusal->same, same) != 0)
        end_row(refusal);
    if (!refusal->same)
        refusal->same = g_steal_pointer(&same);
    refusal->recipients++;
    if (g_hash_table_size(refusal->domains) < SAME_DOMAINS)
        g_hash_table_add(refusal->domains,
                         g_ascii_strdown(domain, recipient->address + recipient->length - domain));
}

/* ---- the fates of a batch ---- */

/* Return the reply to MAIL, or to the message, which is one for all; NULL: that was not refused. */
static Fate *refused_for_all(const Batch *batch)
{
    for (guint i = 0; i < batch->fates->len; i++) {
        Fate *fate = &g_array_index(batch->fates, Fate, i);
        FateAbout about = fate->phase != SMTP_RCPT && fate->count > 0 ? refusal_about(fate) : FATE_OF_RECIPIENT;
        if (about != FATE_OF_RECIPIENT)
            return fate;
    }
    return NULL;
}

static bool any_at_rcpt(const Batch *batch)
{
    for (guint i = 0; i < batch->fates->len; i++) {
        const Fate *fate = &g_array_index(batch->fates, Fate, i);
        if (fate->count > 0 && fate->verdict == SMTP_NEVER && fate->phase == SMTP_RCPT &&
            refusal_about(fate) != FATE_OF_RECIPIENT)
            return true;
    }
    return false;
}

static void defer(RelayRefusal *refusal, Fate *fate, FateAbout about, int64_t now)
{
    fate->about = about;
    fate->verdict = SMTP_LATER;
    fate->status[0] = '4';
    if (g_hash_table_size(refusal->waiting) == 0)
        refusal->since = now;
    refusal_set_reply(refusal, fate->reply);
    refusal->phase = fate->phase;
}

/* Recipients that were refused one by one. Return true when one was because of us. */
static bool judge_recipients(RelayRefusal *refusal, Batch *batch, int64_t now)
{
    bool ours = false, took = false;
    for (size_t i = 0; i < batch->count; i++) {
        const Fate *fate = &g_array_index(batch->fates, Fate, batch->fate_of[i]);
        if (fate->phase == SMTP_RCPT && fate->verdict == SMTP_NEVER && refusal_about(fate) != FATE_OF_RECIPIENT)
            add_to_row(refusal, &batch->recipients[i], fate->reply);
    }
    /* A row ends when the relay has taken a recipient at RCPT, whatever became of the message afterwards. */
    for (guint i = 0; i < batch->fates->len; i++)
        took |= g_array_index(batch->fates, Fate, i).phase > SMTP_RCPT;
    if (took)
        end_row(refusal);
    bool same_for_all = refusal->recipients >= SAME_RECIPIENTS && g_hash_table_size(refusal->domains) >= SAME_DOMAINS;
    for (guint i = 0; i < batch->fates->len; i++) {
        Fate *fate = &g_array_index(batch->fates, Fate, i);
        FateAbout about = fate->phase == SMTP_RCPT && fate->count > 0 ? refusal_about(fate) : FATE_OF_RECIPIENT;
        if (about == FATE_OF_RECIPIENT || (about == FATE_OF_ANYBODY && !same_for_all))
            continue;
        defer(refusal, fate, FATE_OF_SENDER, now);
        ours = true;
    }
    return ours;
}

RelayRefusal *refusals_judge(RelayRefusals *refusals, const char *sender, const char *trace, Batch *batch, int64_t now)
{
    Fate *whole = refused_for_all(batch);
    bool singly = any_at_rcpt(batch);
    RelayRefusal *refusal = refusals_find(refusals, sender);
    if (!whole && !singly) {
        bool sent = false;
        for (guint i = 0; refusal && i < batch->fates->len; i++)
            sent |= g_array_index(batch->fates, Fate, i).verdict == SMTP_SENT;
        if (sent)
            end_row(refusal);
        return NULL;
    }
    refusal = find_or_make(&refusals->all, sender);
    bool ours = singly && judge_recipients(refusal, batch, now), at_once = false;
    if (whole) {
        FateAbout about = refusal_about(whole);
        defer(refusal, whole, about, now);
        if (about == FATE_OF_MESSAGE && g_hash_table_size(refusal->refused) < ROW_MESSAGES)
            g_hash_table_add(refusal->refused, g_strdup(trace));
        at_once = about == FATE_OF_SENDER;
    }
    if (ours || whole)
        refusals_wait(refusals, refusal, trace, now);
    bool row = (ours && refusal->recipients >= ROW_RECIPIENTS) ||
               (whole && g_hash_table_size(refusal->refused) >= ROW_MESSAGES);
    return at_once || row ? refusal : NULL;
}

/* ---- refusals for a time ---- */

/* One that is not about the site (judge.h): then the relay's destination waits, and is told by itself. */
static bool is_later_for_us(const Fate *fate)
{
    return fate->verdict == SMTP_LATER && fate->about == FATE_OF_RECIPIENT && fate->count > 0 && fate->code > 0 &&
           fate->phase >= SMTP_MAIL && !fate->again && !fate->waits && refusal_is_ours(fate);
}

bool refusals_note_later(RelayRefusals *refusals, const char *sender, const char *trace, const Batch *batch,
                         int64_t now)
{
    const Fate *ours = NULL;
    for (guint i = 0; !ours && i < batch->fates->len; i++)
        if (is_later_for_us(&g_array_index(batch->fates, Fate, i)))
            ours = &g_array_index(batch->fates, Fate, i);
    if (!ours)
        return false;
    RelayRefusal *refusal = find_or_make(&refusals->later, sender);
    refusal_set_reply(refusal, ours->reply);
    refusals_wait(refusals, refusal, trace, now);
    return true;
}

/* ---- what waits ---- */

void refusals_wait(RelayRefusals *refusals, RelayRefusal *refusal, const char *trace, int64_t now)
{
    WaitingMessage *seen = g_hash_table_lookup(refusal->waiting, trace);
    if (seen) {
        seen->last = now;
    } else if (refusals->waiting < WAITING_MAX || g_hash_table_size(refusal->waiting) < WAITING_EACH) {
        g_hash_table_insert(refusal->waiting, g_strdup(trace), g_memdup2(&(WaitingMessage){now, now}, sizeof *seen));
        refusals->waiting++;
    }
}

static bool is_over(const RelayRefusal *refusal)
{
    return !refusal->apart && g_hash_table_size(refusal->waiting) == 0;
}

/* Return true when nothing is left of the sender's. */
static bool settle_in(RelayRefusals *refusals, GHashTable *all, const char *sender, const char *trace)
{
    RelayRefusal *refusal = all ? g_hash_table_lookup(all, sender) : NULL;
    if (!refusal || !g_hash_table_remove(refusal->waiting, trace))
        return false;
    refusals->waiting--;
    if (!is_over(refusal))
        return false;
    g_hash_table_remove(all, sender);
    return true;
}

bool refusals_settle(RelayRefusals *refusals, const char *sender, const char *trace)
{
    settle_in(refusals, refusals->later, sender, trace);
    return settle_in(refusals, refusals->all, sender, trace);
}

static gboolean is_old(gpointer key, gpointer value, gpointer data)
{
    (void)key;
    return ((const WaitingMessage *)value)->last < *(const int64_t *)data;
}

static void tidy(RelayRefusals *refusals, GHashTable *all, int64_t before)
{
    GHashTableIter iterator;
    gpointer value;
    if (!all)
        return;
    g_hash_table_iter_init(&iterator, all);
    while (g_hash_table_iter_next(&iterator, NULL, &value)) {
        RelayRefusal *refusal = value;
        guint waited = g_hash_table_size(refusal->waiting);
        refusals->waiting -= g_hash_table_foreach_remove(refusal->waiting, is_old, &before);
        /* A row that nothing waits for yet stays until a message is delivered. */
        if (waited > 0 && is_over(refusal))
            g_hash_table_iter_remove(&iterator);
    }
}

void refusals_tidy(RelayRefusals *refusals, int64_t now, int64_t longest)
{
    tidy(refusals, refusals->all, now - longest);
    tidy(refusals, refusals->later, now - longest);
}

/* ---- for people, and across restarts ---- */

static int64_t earliest(const RelayRefusal *refusal, int64_t now)
{
    GHashTableIter iterator;
    gpointer value;
    g_hash_table_iter_init(&iterator, refusal->waiting);
    while (g_hash_table_iter_next(&iterator, NULL, &value))
        now = MIN(now, ((const WaitingMessage *)value)->first);
    return now;
}

/* Marks are numbers that tell messages apart: the parts of a post that other processes have bear the same. */
static void show_one(json_t *all, const RelayRefusal *refusal, int64_t since, size_t *room)
{
    g_autofree char *text = clock_text(since);
    json_t *marks = json_array();
    GHashTableIter iterator;
    gpointer trace;
    g_hash_table_iter_init(&iterator, refusal->waiting);
    while (json_array_size(marks) < *room && g_hash_table_iter_next(&iterator, &trace, NULL))
        json_array_append_new(marks, json_integer((json_int_t)g_str_hash(trace)));
    *room -= json_array_size(marks);
    json_array_append_new(all, json_pack("{ss ss ss sI so}", "sender", refusal->sender, "reply", refusal->reply,
                                         "since", text, "messages",
                                         (json_int_t)g_hash_table_size(refusal->waiting), "marks", marks));
}

json_t *refusals_show(const RelayRefusals *refusals, int64_t now)
{
    json_t *all = json_array();
    GHashTableIter iterator;
    gpointer value;
    size_t room = SHOWN_MARKS;
    if (refusals->all)
        g_hash_table_iter_init(&iterator, refusals->all);
    while (refusals->all && g_hash_table_iter_next(&iterator, NULL, &value)) {
        const RelayRefusal *refusal = value;
        if (refusal->reply && (refusal->apart || g_hash_table_size(refusal->waiting) > 0))
            show_one(all, refusal, refusal->since, &room);
    }
    if (refusals->later)
        g_hash_table_iter_init(&iterator, refusals->later);
    while (refusals->later && g_hash_table_iter_next(&iterator, NULL, &value)) {
        int64_t since = earliest(value, now);
        if (now - since >= REFUSAL_TOLD_AFTER)
            show_one(all, value, since, &room);
    }
    return all;
}

static void save_table(json_t *all, GHashTable *table, bool later)
{
    GHashTableIter senders, messages;
    gpointer value, trace;
    if (!table)
        return;
    size_t each = MAX(SAVED_MESSAGES / MAX(g_hash_table_size(table), 1), 1);
    g_hash_table_iter_init(&senders, table);
    while (json_array_size(all) < SAVED_SENDERS && g_hash_table_iter_next(&senders, NULL, &value)) {
        const RelayRefusal *refusal = value;
        if (is_over(refusal) || !refusal->reply)
            continue;
        json_t *waiting = json_object();
        g_hash_table_iter_init(&messages, refusal->waiting);
        while (json_object_size(waiting) < each && g_hash_table_iter_next(&messages, &trace, &value))
            json_object_set_new(waiting, trace, json_integer(((const WaitingMessage *)value)->last));
        int64_t since = later ? earliest(refusal, INT64_MAX) : refusal->since;
        json_array_append_new(all, json_pack("{ss ss sI si sb sb so}", "sender", refusal->sender, "reply",
                                             refusal->reply, "since", (json_int_t)since, "phase", (int)refusal->phase,
                                             "apart", refusal->apart, "later", later, "waiting", waiting));
    }
}

json_t *refusals_save(const RelayRefusals *refusals)
{
    json_t *all = json_array();
    save_table(all, refusals->all, false);
    save_table(all, refusals->later, true);
    if (json_array_size(all) == 0)
        g_clear_pointer(&all, json_decref);
    return all;
}

void refusals_load(RelayRefusals *refusals, const json_t *saved)
{
    size_t at;
    const json_t *one;
    json_array_foreach(saved, at, one) {
        const char *sender = meta_string(one, "sender", NULL), *reply = meta_string(one, "reply", NULL);
        json_int_t phase = json_integer_value(json_object_get(one, "phase"));
        bool later = json_is_true(json_object_get(one, "later"));
        if (!sender || !reply || (phase < SMTP_MAIL && !later) || phase >= SMTP_PHASES)
            continue;
        RelayRefusal *refusal = find_or_make(later ? &refusals->later : &refusals->all, sender);
        g_free(refusal->reply);
        refusal->reply = g_strdup(reply);
        refusal->phase = (SmtpPhase)phase;
        refusal->since = json_integer_value(json_object_get(one, "since"));
        refusal->apart = !later && json_is_true(json_object_get(one, "apart"));
        const char *trace;
        json_t *seen;
        json_object_foreach(json_object_get(one, "waiting"), trace, seen) {
            refusals_wait(refusals, refusal, trace, json_integer_value(seen));
            WaitingMessage *message = g_hash_table_lookup(refusal->waiting, trace);
            if (message)
                message->first = MIN(refusal->since, message->last);
        }
    }
}
