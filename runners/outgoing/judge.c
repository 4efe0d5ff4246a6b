/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/outgoing/judge.h"

#include <string.h>

#include "base/clock.h"
#include "mail/bounce/bounce.h"
#include "switchboard/meta.h"

/* --- the words ------------------------------------------------------------- */

struct ReplyTable {
    GArray *rules; /* of Rule */
};

typedef struct ReplyRule {
    GRegex *regex;
    ReplyScope scope;
} ReplyRule;

static const char *const scopes[] = {
    [REPLY_MESSAGE] = "message", [REPLY_RECIPIENT] = "recipient", [REPLY_SITE] = "site",
    [REPLY_GROUP] = "group",     [REPLY_SESSION] = "session", [REPLY_TRANSACTION] = "transaction",
    [REPLY_CONNECTIONS] = "connections",
};

static const struct {
    const char *regex;
    ReplyScope scope;
} built_in[] = {
    /* The connection's share, to be had again. */
    {"too many (messages|mails|recipients|transactions|errors|invalid|bad|unknown|failed|failures)[^.]* "
     "(this|one|per|a|the|in|on) (session|connection)",
     REPLY_SESSION},
    {"too many (smtp |protocol |command |invalid |unknown |bad |syntax |consecutive )*(errors|commands|failures)",
     REPLY_SESSION},
    {"max(imum)?[a-z ]* (messages|mails|transactions) (per|in|for) (this |one |a |the )?(session|connection)",
     REPLY_SESSION},
    /* One mailbox gets too much, or has no room. */
    {"^4\\d\\d[ -]4\\.2\\.1\\b", REPLY_RECIPIENT},
    {"^4\\d\\d[ -]4\\.2\\.2\\b", REPLY_RECIPIENT},
    {"gr[ae]y-?list", REPLY_RECIPIENT},
    /* As many as it takes. */
    {"too many (simultaneous |concurrent )?(smtp |tcp )?(connections|sessions)", REPLY_CONNECTIONS},
    {"(connection|session)s? (limit|count|rate) (exceeded|reached)|concurrent connections?", REPLY_CONNECTIONS},
    {"^[45]52[ -][45]\\.5\\.3\\b", REPLY_TRANSACTION},
    {"too many recipients|(maximum|limit)[a-z ]* recipients|recipients? (limit|count) (exceeded|reached)",
     REPLY_TRANSACTION},
    /* Throttling. */
    {"^4\\d\\d[ -]4\\.7\\.(28|650|651|652|500)\\b", REPLY_GROUP},
    {"(unusual|unexpected|excessive) (rate|volume|amount)", REPLY_GROUP},
    {"rate[ -]?limit|throttl|too (fast|quickly)|slow(er)? down|more slowly|send(er|ing) rate", REPLY_GROUP},
    {"too many (messages|mails|e-?mails|requests)", REPLY_GROUP},
    {"temporarily (deferred|rate)|server busy", REPLY_GROUP},
    /* The server's own trouble. */
    {"^421\\b", REPLY_SITE},
    {"resources temporarily unavailable", REPLY_SITE},
    {"^4\\d\\d[ -]4\\.3\\.[025]\\b", REPLY_SITE},
    {"^4\\d\\d[ -]4\\.4\\.\\d+\\b", REPLY_SITE},
};

static void add_rule(ReplyTable *table, const char *pattern, ReplyScope scope)
{
    ReplyRule rule = {g_regex_new(pattern, G_REGEX_CASELESS | G_REGEX_OPTIMIZE, 0, NULL), scope};
    g_array_append_val(table->rules, rule);
}

ReplyTable *reply_table_new(const Config *config)
{
    g_autoptr(ReplyTable) table = g_new0(ReplyTable, 1);
    table->rules = g_array_new(FALSE, FALSE, sizeof(ReplyRule));
    /* The site's rules come first. The check of the configuration has seen that they compile. */
    for (const char *const *name = config ? config_family(config, "reply") : NULL; name && *name; name++) {
        g_autofree char *section = g_strconcat("reply.", *name, NULL);
        const char *wanted = config_string(config, section, "scope");
        ReplyScope scope = REPLY_MESSAGE;
        for (size_t i = 0; i < G_N_ELEMENTS(scopes); i++)
            if (strcmp(scopes[i], wanted) == 0)
                scope = (ReplyScope)i;
        add_rule(table, config_string(config, section, "match"), scope);
    }
    for (size_t i = 0; i < G_N_ELEMENTS(built_in); i++)
        add_rule(table, built_in[i].regex, built_in[i].scope);
    return g_steal_pointer(&table);
}

void reply_table_free(ReplyTable *table)
{
    for (guint i = 0; i < table->rules->len; i++)
        g_regex_unref(g_array_index(table->rules, ReplyRule, i).regex);
    g_array_unref(table->rules);
    g_free(table);
}

ReplyScope reply_table_look(const ReplyTable *table, const char *reply)
{
    for (guint i = 0; i < table->rules->len; i++) {
        const ReplyRule *rule = &g_array_index(table->rules, ReplyRule, i);
        if (g_regex_match(rule->regex, reply, 0, NULL))
            return rule->scope;
    }
    return REPLY_MESSAGE;
}

/* --- one transaction ------------------------------------------------------- */

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
    verdict->report.replied |= news == SITE_FAILED && fate->result.code > 0;
}

/* The fate waits for the destination, which has failed or wants less. */
static void waits_for(ReplyVerdict *verdict, Fate *fate, SiteNews news)
{
    note(verdict, news, fate);
    if (news == SITE_THROTTLED)
        verdict->report.refused += (unsigned)fate->count;
    fate->waits = true;
}

static void goes_again(const Judged *about, ReplyVerdict *verdict, Fate *fate)
{
    /* A server that says the same each time would otherwise get the batch without a pause, for ever. */
    if (about->batch->unsettled >= UNSETTLED_MAX) {
        waits_for(verdict, fate, SITE_FAILED);
        return;
    }
    fate->again = true;
    verdict->again += fate->count;
}

/* It is about the recipient, or the message; of several mail hosts another one may think otherwise. */
static void defers(const Judged *about, ReplyVerdict *verdict, Fate *fate)
{
    bool envelope = fate->result.phase == SMTP_MAIL || fate->result.phase == SMTP_RCPT;
    if (fate->result.verdict == SMTP_LATER && envelope && fate->result.code > 0 && about->batch->other_host) {
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
        waits_for(verdict, fate, SITE_FAILED); /* it still counts some that we have closed, or others' */
    } else {
        waits_for(verdict, fate, SITE_THROTTLED);
    }
}

static void judge_recipient(const Judged *about, ReplyVerdict *verdict, Fate *fate, ReplyScope scope)
{
    /* A bare 452 means too many recipients (RFC 5321, 4.5.3.1.10), and may as well mean that a mailbox is full. The
     * former is said of all recipients from a number on. */
    if (scope == REPLY_MESSAGE && (fate->result.code == 452 || fate->result.code == 552) && fate->count > 1 &&
        fate->result.accepted > 0 && fate->result.accepted == about->accepted &&
        !g_regex_match_simple("^[45]52[ -][245]\\.", fate->result.reply, 0, 0))
        scope = REPLY_TRANSACTION;
    if (scope == REPLY_TRANSACTION && fate->result.accepted > 0) {
        verdict->recipients = (unsigned)fate->result.accepted;
        goes_again(about, verdict, fate);
    } else if (scope == REPLY_SESSION && (about->progress || fate->result.accepted > 0)) {
        verdict->spent = true;
        goes_again(about, verdict, fate);
    } else if (scope == REPLY_CONNECTIONS) {
        judge_full(about, verdict, fate);
    } else if (scope == REPLY_GROUP && !about->relay) {
        waits_for(verdict, fate, SITE_THROTTLED);
    } else {
        defers(about, verdict, fate);
    }
}

/* The answer to MAIL, DATA or the message, for all whose own answer was yes. */
static void judge_transaction(const Judged *about, ReplyVerdict *verdict, Fate *fate, ReplyScope scope)
{
    bool used = about->batch->conn_use > 1;
    if (fate->result.fallback) {
        goes_again(about, verdict, fate);
    } else if (scope == REPLY_TRANSACTION && fate->count > 1) {
        verdict->recipients = (unsigned)fate->count / 2;
        goes_again(about, verdict, fate);
    } else if (scope == REPLY_SESSION && used) {
        verdict->spent = true;
        verdict->transactions = fate->result.phase == SMTP_MAIL ? about->batch->conn_use - 1 : 0;
        goes_again(about, verdict, fate);
    } else if (scope == REPLY_CONNECTIONS) {
        judge_full(about, verdict, fate);
    } else if (scope == REPLY_GROUP && !about->relay) {
        waits_for(verdict, fate, SITE_THROTTLED);
    } else if (scope == REPLY_SITE) {
        waits_for(verdict, fate, SITE_FAILED);
    } else {
        defers(about, verdict, fate);
    }
}

static void judge_fate(const Judged *about, ReplyVerdict *verdict, Fate *fate)
{
    /* Mail of a refused sender has a destination of its own, and a trial shows whether that is over: not when it gets
     * no further than the one before. */
    unsigned refused_at = about->destination->refused_at;
    if (refused_at > 0 && fate->result.phase <= refused_at && fate->result.code > 0 && !fate->result.fallback &&
        (fate->result.verdict == SMTP_LATER || fate->about != FATE_OF_RECIPIENT)) {
        waits_for(verdict, fate, SITE_FAILED);
    } else if (fate->about != FATE_OF_RECIPIENT) {
        defers(about, verdict, fate);
        fate->waits = fate->about == FATE_OF_SENDER;
    } else if (fate->result.verdict != SMTP_LATER) {
        defers(about, verdict, fate);
    } else if (fate->result.code == 0 && fate->result.connection) {
        /* Nothing was said: the connection was lost, or the time was up. Servers that take so many recipients and then
         * hang up exist; the number is learnt. Where it is learnt already and was kept, the silence has
         * another reason. */
        size_t known = about->destination->sizes.recipients;
        bool more = known == 0 || fate->result.accepted < known || about->batch->count > known;
        if (fate->result.fallback && !fate->result.in_doubt) {
            goes_again(about, verdict, fate);
        } else if (fate->result.phase == SMTP_RCPT && fate->result.accepted >= SILENT_LEAST && more) {
            verdict->recipients = (unsigned)fate->result.accepted;
            if (!fate->result.in_doubt)
                goes_again(about, verdict, fate);
        } else {
            waits_for(verdict, fate, SITE_FAILED);
        }
    } else if (fate->result.code == 0) { /* our own words, which the table of replies does not know */
        defers(about, verdict, fate);
    } else {
        ReplyScope scope = reply_table_look(about->replies, fate->result.reply);
        if (fate->result.code != 421) {
            if (fate->result.phase == SMTP_RCPT)
                judge_recipient(about, verdict, fate, scope);
            else
                judge_transaction(about, verdict, fate, scope);
            return;
        }
        /* The server says goodbye: over this connection nothing goes any more. */
        verdict->spent = true;
        if (scope == REPLY_GROUP && !about->relay)
            waits_for(verdict, fate, SITE_THROTTLED);
        else if (scope == REPLY_CONNECTIONS)
            judge_full(about, verdict, fate);
        else if (about->progress)
            goes_again(about, verdict, fate);
        else
            waits_for(verdict, fate, SITE_FAILED);
        if (fate->again && scope == REPLY_SESSION && fate->result.phase == SMTP_MAIL && about->batch->conn_use > 1)
            verdict->transactions = about->batch->conn_use - 1;
    }
}

ReplyVerdict judge_batch(const ReplyTable *replies, const Destination *destination, bool relay, Batch *batch)
{
    ReplyVerdict verdict = {.report = {.news = SITE_UNKNOWN}};
    Judged about = {replies, destination, batch, relay, batch->conn_use > 1, 0};
    for (guint i = 0; i < batch->fates->len; i++) {
        const Fate *fate = &g_array_index(batch->fates, Fate, i);
        about.accepted = MAX(about.accepted, fate->result.accepted);
        about.progress |= fate->result.verdict != SMTP_LATER || fate->result.accepted > 0 ||
                          (fate->result.phase == SMTP_RCPT && !fate->result.connection);
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

/* --- what the relay refuses because of us ---------------------------------- */

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

/* --- what a reply is about ------------------------------------------------- */

static FateAbout about_at_rcpt(const Fate *fate, const BounceVerdict *verdict)
{
    static const char *const sure[] = {"user-unknown", "mailbox-full", "mailbox-disabled", "host-unknown", NULL};
    bool wants_auth = fate->result.code == 530 || fate->result.code == 534 || fate->result.code == 535 ||
                      fate->result.code == 538;
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
    return bounce_phase_name(phases[fate->result.phase]);
}

static BounceVerdict relay_verdict(const Fate *fate)
{
    return bounce_judge(&(BounceReply){.phase = bounce_phase_named(fate_phase(fate)), .status = fate->result.status,
                                       .text = fate->result.reply, .own_relay = true});
}

bool refusal_is_ours(const Fate *fate)
{
    if (fate->about != FATE_OF_RECIPIENT || fate->result.phase != SMTP_RCPT)
        return true;
    if (fate->result.code == 0) /* these are words of our own: the connection was lost */
        return false;
    BounceVerdict verdict = relay_verdict(fate);
    return about_at_rcpt(fate, &verdict) == FATE_OF_SENDER;
}

FateAbout refusal_about(const Fate *fate)
{
    if (fate->result.verdict != SMTP_NEVER)
        return FATE_OF_RECIPIENT;
    /* Of our own words only that the relay has announced a lesser size is its refusal. */
    if (fate->result.code == 0)
        return strcmp(fate->result.status, "5.3.4") == 0 ? FATE_OF_MESSAGE : FATE_OF_RECIPIENT;
    BounceVerdict verdict = relay_verdict(fate);
    if (fate->result.phase == SMTP_RCPT)
        return about_at_rcpt(fate, &verdict);
    bool sender = fate->result.phase == SMTP_MAIL && strcmp(verdict.reason, "too-large") != 0;
    return sender ? FATE_OF_SENDER : FATE_OF_MESSAGE;
}

/* --- in a row -------------------------------------------------------------- */

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

/* --- the fates of a batch -------------------------------------------------- */

static void defer(RelayRefusal *refusal, Fate *fate, FateAbout about, int64_t now)
{
    fate->about = about;
    fate->result.verdict = SMTP_LATER;
    ((char *)fate->result.status)[0] = '4';
    if (g_hash_table_size(refusal->waiting) == 0)
        refusal->since = now;
    refusal_set_reply(refusal, fate->result.reply);
    refusal->phase = fate->result.phase;
}

/* Recipients that were refused one by one. Return true when one was because of us. */
static bool judge_recipients(RelayRefusal *refusal, Batch *batch, int64_t now)
{
    bool ours = false, took = false;
    for (size_t i = 0; i < batch->count; i++) {
        const Fate *fate = &g_array_index(batch->fates, Fate, batch->fate_of[i]);
        if (fate->result.phase != SMTP_RCPT || fate->result.verdict != SMTP_NEVER ||
            refusal_about(fate) == FATE_OF_RECIPIENT)
            continue;
        const Recipient *recipient = &batch->recipients[i];
        const char *at = memrchr(recipient->address, '@', recipient->length);
        const char *end = recipient->address + recipient->length, *domain = at ? at + 1 : end;
        g_autofree char *same = alike(fate->result.reply, recipient);
        if (refusal->same && strcmp(refusal->same, same) != 0)
            end_row(refusal);
        if (!refusal->same)
            refusal->same = g_steal_pointer(&same);
        refusal->recipients++;
        if (g_hash_table_size(refusal->domains) < SAME_DOMAINS)
            g_hash_table_add(refusal->domains, g_ascii_strdown(domain, end - domain));
    }
    /* A row ends when the relay has taken a recipient at RCPT, whatever became of the message afterwards. */
    for (guint i = 0; i < batch->fates->len; i++)
        took |= g_array_index(batch->fates, Fate, i).result.phase > SMTP_RCPT;
    if (took)
        end_row(refusal);
    bool same_for_all = refusal->recipients >= SAME_RECIPIENTS && g_hash_table_size(refusal->domains) >= SAME_DOMAINS;
    for (guint i = 0; i < batch->fates->len; i++) {
        Fate *fate = &g_array_index(batch->fates, Fate, i);
        FateAbout about = fate->result.phase == SMTP_RCPT && fate->count > 0 ? refusal_about(fate) : FATE_OF_RECIPIENT;
        if (about == FATE_OF_RECIPIENT || (about == FATE_OF_ANYBODY && !same_for_all))
            continue;
        defer(refusal, fate, FATE_OF_SENDER, now);
        ours = true;
    }
    return ours;
}

RelayRefusal *refusals_judge(RelayRefusals *refusals, const char *sender, const char *trace, Batch *batch, int64_t now)
{
    RelayRefusal *refusal = refusals_find(refusals, sender);
    Fate *whole = NULL; /* the reply to MAIL, or to the message, which is one for all; NULL: that was not refused */
    bool singly = false;
    for (guint i = 0; i < batch->fates->len; i++) {
        Fate *fate = &g_array_index(batch->fates, Fate, i);
        if (fate->count == 0 || refusal_about(fate) == FATE_OF_RECIPIENT)
            continue;
        if (fate->result.phase == SMTP_RCPT)
            singly = true;
        else if (!whole)
            whole = fate;
    }
    if (!whole && !singly) {
        bool sent = false;
        for (guint i = 0; refusal && i < batch->fates->len; i++)
            sent |= g_array_index(batch->fates, Fate, i).result.verdict == SMTP_SENT;
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

/* --- refusals for a time --------------------------------------------------- */

bool refusals_note_later(RelayRefusals *refusals, const char *sender, const char *trace, const Batch *batch,
                         int64_t now)
{
    const Fate *ours = NULL;
    for (guint i = 0; !ours && i < batch->fates->len; i++) {
        /* Only one that is not about the site: else the relay's destination waits, and is told by itself. */
        const Fate *fate = &g_array_index(batch->fates, Fate, i);
        if (fate->result.verdict == SMTP_LATER && fate->about == FATE_OF_RECIPIENT && fate->count > 0 &&
            fate->result.code > 0 && fate->result.phase >= SMTP_MAIL && !fate->again && !fate->waits &&
            refusal_is_ours(fate))
            ours = fate;
    }
    if (!ours)
        return false;
    RelayRefusal *refusal = find_or_make(&refusals->later, sender);
    refusal_set_reply(refusal, ours->result.reply);
    refusals_wait(refusals, refusal, trace, now);
    return true;
}

/* --- what waits ------------------------------------------------------------ */

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

bool refusals_settle(RelayRefusals *refusals, const char *sender, const char *trace)
{
    GHashTable *const tables[] = {refusals->later, refusals->all};
    bool over = false; /* nothing is left of the sender's in the last one */
    for (size_t at = 0; at < G_N_ELEMENTS(tables); at++) {
        RelayRefusal *refusal = tables[at] ? g_hash_table_lookup(tables[at], sender) : NULL;
        over = refusal && g_hash_table_remove(refusal->waiting, trace);
        if (!over)
            continue;
        refusals->waiting--;
        over = is_over(refusal);
        if (over)
            g_hash_table_remove(tables[at], sender);
    }
    return over;
}

static gboolean is_old(gpointer key, gpointer value, gpointer data)
{
    (void)key;
    return ((const WaitingMessage *)value)->last < *(const int64_t *)data;
}

void refusals_tidy(RelayRefusals *refusals, int64_t now, int64_t longest)
{
    GHashTable *const tables[] = {refusals->all, refusals->later};
    int64_t before = now - longest;
    for (size_t at = 0; at < G_N_ELEMENTS(tables); at++) {
        GHashTableIter iterator;
        gpointer value;
        if (!tables[at])
            continue;
        g_hash_table_iter_init(&iterator, tables[at]);
        while (g_hash_table_iter_next(&iterator, NULL, &value)) {
            RelayRefusal *refusal = value;
            guint waited = g_hash_table_size(refusal->waiting);
            refusals->waiting -= g_hash_table_foreach_remove(refusal->waiting, is_old, &before);
            /* A row that nothing waits for yet stays until a message is delivered. */
            if (waited > 0 && is_over(refusal))
                g_hash_table_iter_remove(&iterator);
        }
    }
}

/* --- for people, and across restarts --------------------------------------- */

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

json_t *refusals_save(const RelayRefusals *refusals)
{
    GHashTable *const tables[] = {refusals->all, refusals->later};
    json_t *all = json_array();
    for (size_t at = 0; at < G_N_ELEMENTS(tables); at++) {
        GHashTableIter senders, messages;
        gpointer value, trace;
        bool later = at == 1;
        if (!tables[at])
            continue;
        size_t each = MAX(SAVED_MESSAGES / MAX(g_hash_table_size(tables[at]), 1), 1);
        g_hash_table_iter_init(&senders, tables[at]);
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
                                                 refusal->reply, "since", (json_int_t)since, "phase",
                                                 (int)refusal->phase, "apart", refusal->apart, "later", later,
                                                 "waiting", waiting));
        }
    }
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
