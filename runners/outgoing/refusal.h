/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Tell what the site's own relay refuses because of us from what it refuses because of a recipient, and remember it for
 * each sender domain: the reply, since when, and which messages wait. Such a refusal is a matter for the operator. The
 * mail waits, and no member is charged with it.
 *
 * The phase of a reply is judged before its words:
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
#include "net/smtp_client.h"
#include "runners/outgoing/batch.h"

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
/* Return true when nothing is remembered, so that there is nothing to settle. */
bool refusals_none(const RelayRefusals *refusals);
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
