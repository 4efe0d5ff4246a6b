/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Act on one entry of the queue bounces: score, disable, warn or remove the members that it is about, and write the
 * letters. A Case is the entry in hand. Each act is recorded as an effect (store_record_effect()), in the transaction
 * that does it, under the entry's key and the member's address. So an entry that comes again after a crash, before its
 * commit, changes nothing and writes the same letters. A second entry about the same refusals, which out may write
 * after a crash of its own, changes nothing and writes no letters.
 *
 * The runner begins the transaction before it works an entry, and ends it afterwards; these functions do neither. They
 * return false only when the store or the system failed.
 */
#include "lists/people/hashed.h"
#include "mail/bounce/bounce.h"
#include "runners/bounces/score.h"
#include "runners/posts/list_runner.h"
#include "store/people/bounce.h"

/* The state of the runner bounces, in ListRunner.more. */
typedef struct Bounces {
    ListRunner *shared;
    const char *queue; /* that we work */
    Hashed *hashed;
    char delimiter;
    bool probes;
    int64_t check_us;   /* how often due members are looked for */
    int64_t heartbeat_us;
    int64_t check_at;   /* monotonic */
    int64_t keep_us;    /* how long days are kept */
    int64_t expire_at;  /* monotonic */
    int64_t notices_a_day, unsigned_a_day; /* letters to owners, and mails nobody signed, for each list; 0: no limit */
    int64_t unsigned_recipients;           /* addresses that count of such a mail; 0: no limit */
} Bounces;

typedef struct Case {
    Bounces *bounces;
    Entry *entry;
    Outcome *outcome;
    const List *list;
    int64_t now;
    char *key;     /* of its effects, g_free(); work_refusals() sets that of out's entry (KEY_OF) in its place */
    bool has_mail; /* the entry is a mail that may be shown to the owners */
} Case;

/* One failed delivery: the address, and how it failed; all borrowed. */
typedef struct Failed {
    const char *address;
    const char *known_as; /* address to look for instead when address is no member; NULL: none */
    const char *reported; /* NULL, or what the report calls the address, which was found by known_as */
    BounceClass class;
    BounceAbout about; /* only the recipient costs points */
    bool soft;
    const char *status, *reason, *text;
    const char *source; /* "smtp", "verp", "report" */
    bool probe;         /* it was a probe that came back */
} Failed;

/* Return a unit of work by which the runner changes a member, for the list's log; work_free(). */
Work *case_work(const Case *given, ActorDoor door);

/* Count a failed delivery against a member, and do what the rules then ask for (score.h). If the member's delivery is
 * not enabled, the failure is only logged. A failure of an address that is no member is logged; if the address is an
 * owner's or moderator's, the owner of the site is told, once a day. */
bool case_failed(Case *given, const Failed *failed, GError **error);

/* Record the acts under the name effect. If the list's owners want to know and have not had all letters of today
 * (notices_a_day), this first adds SCORE_TELL_OWNER to *acts. */
bool case_record(Case *given, const char *effect, unsigned *acts, GError **error);

/* Look for a record under the name effect: *before says whether there is one. *acts becomes the acts in it if this
 * entry made it, else 0: the letters of another entry's acts are not written again. */
bool case_find(Case *given, const char *effect, bool *before, unsigned *acts, GError **error);

/* Count a mail to the list's owners. Set *room to whether they may have it today (notices_a_day). */
bool case_owner_room(Case *given, bool *room, GError **error);

/* Act on a member's report of a post as spam, as the list's bounce_complaint_action says. */
bool case_complained(Case *given, const Failed *failed, GError **error);

/* Forward the mail of the entry, which names no recipient, as the list's forward_unrecognized_bounces_to says. Discard
 * it if that says so, if it is mail of this site that came back, or after notices_a_day. why is for the letter and the
 * log. */
bool case_forward(Case *given, const char *why, GError **error);

/* Take back the next portion of the points that the entry names, which a brake holds back. */
bool case_take_back(Case *given, GError **error);

/* Tell the author or the owners when the entry, with others before it, shows that a post has reached nobody. */
bool case_unreached(Case *given, GError **error);

/* Return the parts that make up the VERP addresses of the case's list. The result borrows *local, such as
 * "test-bounces"; free that with g_free(). */
VerpList case_verp_list(const Case *given, char **local);
