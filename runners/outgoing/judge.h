/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Judge what the answers to one transaction are about: the recipients, the session, the size of the transaction, the
 * number of connections, the pace or the life of the destination (README.md has the table). The words of a temporary
 * refusal are looked up in a table: each rule is a regular expression over the server's reply ("421 4.7.28 Our system
 * has detected ..."); the first that matches decides. The site's rules ([reply.NAME], in the order of the file) come
 * before the built-in ones, which know the usual texts of servers. Only words and codes that speak of rate or volume
 * are of the scope group. A reply that none matches is about the message.
 *
 * What the site's own relay refuses because of us is told from what it refuses because of a recipient, and remembered
 * for each sender domain: the reply, since when, and which messages wait. Such a refusal is a matter for the operator.
 * The mail waits, and no member is charged with it. The phase of a reply is judged before its words:
 *
 *   MAIL            the sender's domain is refused; or the message, when it is too large
 *   RCPT            the recipient is refused, unless the words speak of relaying, of authentication or of the sender. A
 *                   reply whose words say neither is about us when many recipients of several domains get the same one,
 *                   and no recipient was taken in between
 *   DATA, the end   the message is refused
 *
 * These functions read no clock, and neither send nor wait.
 */
#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/config.h"
#include "runners/outgoing/delivery.h"
#include "runners/outgoing/destination.h"

typedef enum ReplyScope {
    REPLY_MESSAGE,     /* this message; the server is well */
    REPLY_RECIPIENT,   /* this recipient; the server is well */
    REPLY_SITE,        /* the server is in trouble: it counts like a lost connection */
    REPLY_GROUP,       /* mail comes too fast for the server and all domains that it serves: send more slowly */
    REPLY_SESSION,     /* this connection has had its share: the next one may have more */
    REPLY_TRANSACTION, /* the transaction has as many recipients as it may: the next one may have more */
    REPLY_CONNECTIONS, /* there are as many connections as there may be */
} ReplyScope;

typedef struct ReplyTable ReplyTable;

/* Make the table; config NULL: of the built-in rules alone. */
ReplyTable *reply_table_new(const Config *config);
void reply_table_free(ReplyTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ReplyTable, reply_table_free)

/* Return what a 4xx reply is about. */
ReplyScope reply_table_look(const ReplyTable *table, const char *reply);

/* The functions that judge change nothing but `again` and `waits` of the fates; the caller applies the verdict to the
 * destination and the session. */
typedef struct ReplyVerdict {
    SiteReport report;
    const Fate *worst;     /* the fate with the worst news, borrowed from the batch; NULL: there was no fate */
    bool elsewhere;        /* some recipients that go again are to go to another mail host */
    size_t again;          /* how many recipients go again at once */
    bool spent;            /* this connection takes no further mail */
    bool full;             /* the server takes no more connections than stand */
    unsigned recipients;   /* 0, or how many the server takes in a transaction */
    unsigned transactions; /* 0, or how many it takes over a connection */
} ReplyVerdict;

/* Judge the fates of a batch that was sent. relay: the server is the site's own, and its words about its load during a
 * session concern the mail in hand alone. */
ReplyVerdict judge_batch(const ReplyTable *replies, const Destination *destination, bool relay, Batch *batch);

/* Judge a connection that did not come about, for a batch of this many recipients; why is the answer. Only the report
 * and `full` are set. others: other connections stand, or are on their way. */
ReplyVerdict judge_connection(const ReplyTable *replies, bool others, size_t recipients, const SmtpResult *why);

#define REFUSAL_TOLD_AFTER (3600 * CLOCK_SECOND)

/* When a message was refused or put off, by the wall clock. */
typedef struct WaitingMessage {
    int64_t first, last;
} WaitingMessage;

typedef struct RelayRefusal {
    char *sender;        /* the domain of the envelope sender; "" for the null sender */
    char *reply;         /* the latest: the server's words */
    SmtpPhase phase;     /* of that reply */
    int64_t since;       /* wall clock */
    GHashTable *waiting; /* trace of a message -> WaitingMessage */
    bool apart;          /* the sender's mail has a destination of its own, until the relay takes it again */

    /* Refused without a success in between. */
    unsigned recipients;
    GHashTable *domains; /* set: of those recipients, some */
    char *same;          /* the reply that they got, without what differs; NULL: they got different ones */
    GHashTable *refused; /* set: traces of messages that were refused as such, some */
} RelayRefusal;

typedef struct RelayRefusals {
    GHashTable *all;   /* sender -> RelayRefusal, owned; NULL: there was none */
    GHashTable *later; /* the same of temporary refusals; these have no row, and are not apart */
    size_t waiting;    /* messages in all of them */
} RelayRefusals;

void refusals_clear(RelayRefusals *refusals);
/* Return the refusal of a sender domain, borrowed; NULL: there is none. It costs nothing while there is none at all. */
RelayRefusal *refusals_find(const RelayRefusals *refusals, const char *sender);

/* Return the phase of a fate in a word: "connect", "hello", "auth", "mail", "rcpt", "data", "end". */
const char *fate_phase(const Fate *fate);
/* Return what a fate is about, by its phase and words: FATE_OF_RECIPIENT also for one that is no refusal for good. */
FateAbout refusal_about(const Fate *fate);
/* Return true when a deferral by the site's own relay is no member's matter, even when it stays that way: "454 Relay
 * access denied". */
bool refusal_is_ours(const Fate *fate);

/* Judge the fates of a batch of the site's own relay. Those that are about us become deferrals (fate->about says what
 * they are about), and are remembered for the sender. Return the refusal when its mail should have a destination of its
 * own from now on, borrowed; else NULL. */
RelayRefusal *refusals_judge(RelayRefusals *refusals, const char *sender, const char *trace, Batch *batch, int64_t now);
/* Remember the temporary refusals of a judged batch (judge.h) that are about us. Return true when there is one. */
bool refusals_note_later(RelayRefusals *refusals, const char *sender, const char *trace, const Batch *batch,
                         int64_t now);
/* Remember the relay's latest reply, which people are told. */
void refusal_set_reply(RelayRefusal *refusal, const char *reply);
/* Note that a message of a refused sender waits. The messages that are counted are bounded, over all senders. */
void refusals_wait(RelayRefusals *refusals, RelayRefusal *refusal, const char *trace, int64_t now);
/* Note that a message waits no longer: it was delivered, or given up. Return true when nothing of the sender is refused
 * any more; then the refusal is gone. */
bool refusals_settle(RelayRefusals *refusals, const char *sender, const char *trace);
/* Forget messages that nobody has tried for longer than this time, because somebody has removed them, and refusals of
 * which none is left. */
void refusals_tidy(RelayRefusals *refusals, int64_t now, int64_t longest);

/* Return those that people are told of now, [{sender, reply, since, messages}]. */
json_t *refusals_show(const RelayRefusals *refusals, int64_t now);
/* Return all that a restart should keep; NULL: nothing. Take it in. */
json_t *refusals_save(const RelayRefusals *refusals);
void refusals_load(RelayRefusals *refusals, const json_t *saved);
