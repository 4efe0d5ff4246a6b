/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/outgoing/judge.h"

/* A connection that is lost after fewer recipients than these tells nothing of how many the server takes. */
#define SILENT_LEAST 10
/* How often in a row a batch goes again at once although nothing of it was settled. */
#define UNSETTLED_MAX 5

typedef struct Judged {
    const ReplyTable *replies;
    const Destination *destination;
    const Batch *batch;
    bool relay;
    bool progress; /* the connection has served for something */
    size_t accepted; /* recipients of the transaction that were accepted */
} Judged;

static void note(ReplyVerdict *verdict, SiteNews news, const Fate *fate)
{
    if (news >= verdict->report.news || !verdict->worst)
        verdict->worst = fate;
    verdict->report.news = MAX(verdict->report.news, news);
    verdict->report.replied |= news == SITE_FAILED && fate->code > 0;
}

static void goes_again(const Judged *about, ReplyVerdict *verdict, Fate *fate)
{
    /* A server that says the same each time would otherwise get the batch without a pause, for ever. */
    if (about->batch->unsettled >= UNSETTLED_MAX) {
        note(verdict, SITE_FAILED, fate);
        fate->waits = true;
        return;
    }
    fate->again = true;
    verdict->again += fate->count;
}

static void fails(ReplyVerdict *verdict, Fate *fate)
{
    note(verdict, SITE_FAILED, fate);
    fate->waits = true;
}

static void throttles(ReplyVerdict *verdict, Fate *fate)
{
    note(verdict, SITE_THROTTLED, fate);
    verdict->report.refused += (unsigned)fate->count;
    fate->waits = true;
}

/* It is about the recipient, or the message; of several mail hosts another one may think otherwise. */
static void defers(const Judged *about, ReplyVerdict *verdict, Fate *fate)
{
    bool envelope = fate->phase == SMTP_MAIL || fate->phase == SMTP_RCPT;
    if (fate->verdict == SMTP_LATER && envelope && fate->code > 0 && about->batch->other_host) {
        verdict->elsewhere = true;
        goes_again(about, verdict, fate);
    }
    /* To judge recipients the server had to work: it is not slowed down by our rate, whatever it thinks of them. */
    note(verdict, SITE_GOOD, fate);
    verdict->report.taken += (unsigned)fate->count;
}

/* The server has as many connections of ours as it wants, or of everybody's. */
static void judge_full(const Judged *about, ReplyVerdict *verdict, Fate *fate)
{
    if (about->destination->load.established > 1) { /* it asks for one connection less; mail goes on over the others */
        verdict->full = verdict->spent = true;
        goes_again(about, verdict, fate);
    } else if (about->relay || about->destination->connections > 0) {
        fails(verdict, fate); /* it still counts some that we have closed, or others' */
    } else {
        throttles(verdict, fate);
    }
}

/* Nothing was said: the connection was lost, or the time was up. */
static void judge_silence(const Judged *about, ReplyVerdict *verdict, Fate *fate)
{
    size_t known = about->destination->sizes.recipients;
    /* Servers that take so many recipients and then hang up exist; the number is learnt. Where it is learnt already and
     * was kept, the silence has another reason. */
    bool more = known == 0 || fate->accepted < known || about->batch->count > known;
    if (fate->fallback && !fate->in_doubt) {
        goes_again(about, verdict, fate);
    } else if (fate->phase == SMTP_RCPT && fate->accepted >= SILENT_LEAST && more) {
        verdict->recipients = (unsigned)fate->accepted;
        if (!fate->in_doubt)
            goes_again(about, verdict, fate);
    } else {
        fails(verdict, fate);
    }
}

static void judge_farewell(const Judged *about, ReplyVerdict *verdict, Fate *fate, ReplyScope scope)
{
    verdict->spent = true;
    if (scope == REPLY_GROUP && !about->relay)
        throttles(verdict, fate);
    else if (scope == REPLY_CONNECTIONS)
        judge_full(about, verdict, fate);
    else if (about->progress)
        goes_again(about, verdict, fate);
    else
        fails(verdict, fate);
    if (fate->again && scope == REPLY_SESSION && fate->phase == SMTP_MAIL && about->batch->conn_use > 1)
        verdict->transactions = about->batch->conn_use - 1;
}

/* A bare 452 means too many recipients (RFC 5321, 4.5.3.1.10), and may as well mean that a mailbox is full. The former
 * is said of all recipients from a number on. */
static bool too_many(const Judged *about, const Fate *fate)
{
    bool bare = (fate->code == 452 || fate->code == 552) &&
                !g_regex_match_simple("^[45]52[ -][245]\\.", fate->reply, 0, 0);
    return bare && fate->count > 1 && fate->accepted > 0 && fate->accepted == about->accepted;
}

static void judge_recipient(const Judged *about, ReplyVerdict *verdict, Fate *fate, ReplyScope scope)
{
    if (scope == REPLY_MESSAGE && too_many(about, fate))
        scope = REPLY_TRANSACTION;
    if (scope == REPLY_TRANSACTION && fate->accepted > 0) {
        verdict->recipients = (unsigned)fate->accepted;
        goes_again(about, verdict, fate);
    } else if (scope == REPLY_SESSION && (about->progress || fate->accepted > 0)) {
        verdict->spent = true;
        goes_again(about, verdict, fate);
    } else if (scope == REPLY_CONNECTIONS) {
        judge_full(about, verdict, fate);
    } else if (scope == REPLY_GROUP && !about->relay) {
        throttles(verdict, fate);
    } else {
        defers(about, verdict, fate);
    }
}

/* The answer to MAIL, DATA or the message, for all whose own answer was yes. */
static void judge_transaction(const Judged *about, ReplyVerdict *verdict, Fate *fate, ReplyScope scope)
{
    bool used = about->batch->conn_use > 1;
    if (fate->fallback) {
        goes_again(about, verdict, fate);
    } else if (scope == REPLY_TRANSACTION && fate->count > 1) {
        verdict->recipients = (unsigned)fate->count / 2;
        goes_again(about, verdict, fate);
    } else if (scope == REPLY_SESSION && used) {
        verdict->spent = true;
        verdict->transactions = fate->phase == SMTP_MAIL ? about->batch->conn_use - 1 : 0;
        goes_again(about, verdict, fate);
    } else if (scope == REPLY_CONNECTIONS) {
        judge_full(about, verdict, fate);
    } else if (scope == REPLY_GROUP && !about->relay) {
        throttles(verdict, fate);
    } else if (scope == REPLY_SITE) {
        fails(verdict, fate);
    } else {
        defers(about, verdict, fate);
    }
}

/* Mail of a refused sender has a destination of its own, and a trial shows whether that is over: not when it gets no
 * further than the one before. */
static bool refused_again(const Judged *about, const Fate *fate)
{
    return fate->phase <= about->destination->refused_at && fate->code > 0 && !fate->fallback &&
           (fate->verdict == SMTP_LATER || fate->about != FATE_OF_RECIPIENT);
}

static void judge_fate(const Judged *about, ReplyVerdict *verdict, Fate *fate)
{
    if (about->destination->refused_at > 0 && refused_again(about, fate)) {
        fails(verdict, fate);
    } else if (fate->about != FATE_OF_RECIPIENT) {
        defers(about, verdict, fate);
        fate->waits = fate->about == FATE_OF_SENDER;
    } else if (fate->verdict != SMTP_LATER) {
        defers(about, verdict, fate);
    } else if (fate->code == 0 && fate->connection) {
        judge_silence(about, verdict, fate);
    } else if (fate->code == 0) { /* our own words, which the table of replies does not know */
        defers(about, verdict, fate);
    } else {
        ReplyScope scope = reply_table_look(about->replies, fate->reply);
        if (fate->code == 421)
            judge_farewell(about, verdict, fate, scope);
        else if (fate->phase == SMTP_RCPT)
            judge_recipient(about, verdict, fate, scope);
        else
            judge_transaction(about, verdict, fate, scope);
    }
}

ReplyVerdict judge_batch(const ReplyTable *replies, const Destination *destination, bool relay, Batch *batch)
{
    ReplyVerdict verdict = {.report = {.news = SITE_UNKNOWN}};
    Judged about = {replies, destination, batch, relay, batch->conn_use > 1, 0};
    for (guint i = 0; i < batch->fates->len; i++) {
        const Fate *fate = &g_array_index(batch->fates, Fate, i);
        about.accepted = MAX(about.accepted, fate->accepted);
        about.progress |= fate->verdict != SMTP_LATER || fate->accepted > 0 ||
                          (fate->phase == SMTP_RCPT && !fate->connection);
    }
    for (guint i = 0; i < batch->fates->len; i++)
        judge_fate(&about, &verdict, &g_array_index(batch->fates, Fate, i));
    return verdict;
}

ReplyVerdict judge_connection(const ReplyTable *replies, bool others, size_t recipients, const SmtpResult *why)
{
    ReplyVerdict verdict = {.report = {.news = SITE_FAILED, .replied = why->code > 0}};
    if (why->code == 0)
        return verdict;
    ReplyScope scope = reply_table_look(replies, why->reply);
    verdict.full = scope == REPLY_CONNECTIONS && others;
    if (verdict.full)
        verdict.report.news = SITE_UNKNOWN;
    else if (scope == REPLY_GROUP || (scope == REPLY_CONNECTIONS && !others))
        verdict.report = (SiteReport){.news = SITE_THROTTLED, .refused = (unsigned)recipients};
    return verdict;
}
