/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * One entry in hand, and what is done to a member because of it. Each act is
 * recorded in the transaction that does it, under the entry and the address,
 * with what was done: an entry that comes again, after a crash between the
 * transaction and the commit of the entry, changes nothing and writes the same letters.
 * Another entry about the same, which out may write after a crash of its own, changes nothing and writes none.
 *
 * Functions return false only when the store (or the system) failed.
 */
#include "mail/bounce.h"
#include "mail/verp.h"
#include "runners/bounces/hashed.h"
#include "runners/bounces/score.h"
#include "runners/list_runner.h"

/* The runner's own, ListRunner.more. */
typedef struct Bounces {
    ListRunner *shared;
    const char *queue; /* that we work */
    VerpKeys *keys;
    int64_t keys_version; /* of the store they were read from */
    Hashed *hashed;
    char delimiter;
    bool probes;
    int64_t check_us;   /* how often due members are looked for */
    int64_t heartbeat_us;
    int64_t check_at;   /* monotonic */
    int64_t keep_us;    /* how long days are kept */
    int64_t expire_at;  /* monotonic */
    int64_t notices_a_day, unsigned_a_day; /* by list; 0: no limit */
    int64_t unsigned_recipients;           /* by mail; 0: no limit */
} Bounces;

typedef struct Case {
    Bounces *bounces;
    Entry *entry;
    Outcome *outcome;
    const List *list;
    int64_t now;
    char *key;     /* of its effects */
    bool has_mail; /* the entry is a mail that may be shown to the owners */
} Case;

/* One failed delivery: the address, and how it failed; all borrowed. */
typedef struct Failed {
    const char *address;
    const char *known_as; /* looked for when address is no member; or NULL */
    const char *reported; /* NULL, or what the report calls the address, which was found by known_as */
    BounceClass class;
    const char *status, *reason, *text;
    const char *source; /* "smtp", "verp", "report" */
    bool probe;         /* it was a probe that came back */
} Failed;

/* Return a unit of work by which the runner changes a member, for the list's log. */
Work *case_work(const Case *given, ActorDoor door);

/* Scores a member; an address that is no member of the list is only logged. */
bool case_failed(Case *given, const Failed *failed, GError **error);

/* Add to acts whether the owners are told (there is a bound by day), and keep all of it under effect. */
bool case_record(Case *given, const char *effect, unsigned *acts, GError **error);

/* Was something recorded under effect, and what of it did this entry itself do? For what another entry did there are no
 * letters to write: out may report one recipient in two entries. */
bool case_find(Case *given, const char *effect, bool *before, unsigned *acts, GError **error);

/* A member reported a post as spam. */
bool case_complained(Case *given, const Failed *failed, GError **error);

/* The mail names nobody: to whom the list says. why is for the log. */
bool case_forward(Case *given, const char *why, GError **error);

/* The mail of an entry; which: how it came back (mail.c). */
bool case_mail(Case *given, GError **error);
/* Count the refusals that out met (refusals.c). */
bool case_refusals(Case *given, GError **error);

/* Members for whom something is due (due.c). */
bool case_due(Case *given, GError **error);

/* Look for such members and write entries about them into our own queue. */
bool due_gather(Bounces *bounces, Spool *spool, GError **error);

/* "test-bounces" of list and the rest of what makes its addresses; local is allocated (g_free()). */
VerpList case_verp_list(const Case *given, char **local);

/* The signature in an address: VERP_VALID with the recipient, or why it is not valid; and whether it is of a probe or
 * of a copy. */
typedef struct Signature {
    VerpResult result;
    VerpPurpose purpose;
    char *recipient;
} Signature;
bool case_read_signature(Case *given, const char *detail, Signature *signature, GError **error);
