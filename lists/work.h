/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * A unit of work: everything that one request (a command by mail, a REST call, a verb of the shell) changes, in one
 * transaction. The functions of lists/ that take a Work write rows to the store at once, and gather in the Work the
 * entries that are to go into queues, such as letters. Committing makes rows and entries durable together, and each
 * entry once. README.md shows the order of the calls.
 *
 * A Work belongs to one thread and borrows its store and all strings of site and actor. Errors are those of the store.
 */
#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/config.h"
#include "lists/kept.h"
#include "mail/bounce/verp.h"
#include "mail/loop_mark.h"
#include "store/store.h"
#include "switchboard/draft.h"
#include "switchboard/spool.h"

/* The settings of the site that letters and requests need. */
typedef struct WorkSite {
    const char *site_owner, *hostname;
    const char *web_url;            /* where the pages are; NULL: there are none */
    const char *templates;          /* the site's folder of templates */
    const char *const *template_hosts; /* lists/letters/template_host.h; NULL: none */
    char delimiter;                 /* in addresses, before a token */
    int64_t answers_a_day;          /* letters to an address that did not prove itself; 0: no limit */
    int64_t letters_per_host;       /* letters that mail of one network causes in a day; 0: no limit */
    int64_t form_letters;           /* letters in a day that a form asked for, to all; 0: no limit */
    int64_t pending_request_life;   /* us; until the person answers */
    int64_t moderator_request_life; /* us; until a moderator does */
    int64_t held_notice_interval;   /* us; a list's moderators get no more than one notice of held posts in it */
    bool gathers;                   /* the timer runs, and tells of what was held meanwhile */
    bool keeps_maps;                /* the timer runs, and writes addresses for the MTA (lists/making/mta_maps.h) */
    bool tells;                     /* the runner hooks is started, and tells programs outside (lists/event.h) */
    const Config *config;
    const KeptKey *kept_key;        /* for work_keep() and work_recall(); NULL where no runner calls them */
    VerpKeys *keys;                 /* for signed addresses and links; NULL where none is read */
} WorkSite;

/* The address of a page, "/confirm/TOKEN", below the site's web_url; NULL: the site has no pages. g_free() */
char *work_site_page(const WorkSite *site, const char *path);

/* Fill all but kept_key and keys, which become NULL, from the configuration. Its strings are borrowed. */
void work_site_init(WorkSite *site, const Config *config);

typedef enum ActorRole { ACTOR_OPERATOR, ACTOR_OWNER, ACTOR_MODERATOR, ACTOR_MEMBER, ACTOR_ADDRESS } ActorRole;
typedef enum ActorDoor { DOOR_MAIL, DOOR_REST, DOOR_PAGE, DOOR_SHELL, DOOR_TIMER } ActorDoor;

/* The person or program that asks. */
typedef struct Actor {
    ActorRole role;
    const char *address; /* NULL: none is known */
    ActorDoor door;
    const char *host;    /* an address of the network that a mail came from; NULL: not known */
    const char *from;    /* for the log: the trace of a mail, an address of the network, a user of the system */
    const char *name;    /* for the list's log, where no address is known: "root", "token 1a2b3c4d"; NULL: as work_by();
                            copied */
} Actor;

typedef struct Work Work;

/* Copy the two structs. The strings in them stay the caller's, save Actor.name, which is copied. */
Work *work_new(Store *store, const WorkSite *site, const Actor *actor);
/* Roll back the transaction of work_begin(), if it was neither committed nor cancelled, and drop the entries. */
void work_free(Work *work);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Work, work_free)

Store *work_store(const Work *work);
const WorkSite *work_site(const Work *work);
const Actor *work_actor(const Work *work);
const char *work_by(const Work *work); /* who asks, for the log: an address, "operator", or "-": nobody knows */
int64_t work_now(const Work *work); /* us since 1970, when work_new() was called */
/* Set role and address (copied) of the actor, once the one who asks has proved to be the person at this address. */
void work_become(Work *work, ActorRole role, const char *address);

void work_set_host(Work *work, const char *host); /* Actor.host; copied */

/* The mail that the unit is about, whose mark its letters go on with (mail/loop_mark.h); a new reference is taken. */
void work_set_cause(Work *work, GBytes *message);
GBytes *work_cause(const Work *work); /* NULL: there is none */
/* Return the keys of these marks, read from the store when first asked for; borrowed. NULL: the store failed. */
const LoopKeys *work_loop_keys(Work *work, GError **error);

/* Gather an entry for the queue. The Work takes meta, pieces (of GBytes: the message) and recipients (g_strfreev();
 * NULL: none). */
void work_entry(Work *work, const char *queue, json_t *meta, GPtrArray *pieces, char **recipients);

/* Let the entry that was gathered last wait in its queue until `due` (us since 1970). work_keep() does not keep this
 * time. */
void work_entry_due(Work *work, int64_t due);
unsigned work_entries(const Work *work); /* the number of entries gathered */
/* Write a line to the log of the process: Actor.from, the list ("-": none) and the text. At DOOR_SHELL nothing is
 * written, since the operator sees the outcome on the terminal. Never put a token into the text. */
void work_log(const Work *work, const char *list_id, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* ---- outside of runners ---- */

/* Begin the transaction in which the use cases write. */
bool work_begin(Work *work, GError **error);
/* Do the same where they write only what store_begin_people() allows, so that posts go on meanwhile. */
bool work_begin_people(Work *work, const char *list_id, GError **error);

/* Roll back the transaction and drop all entries gathered. */
void work_cancel(Work *work);

/* Begin a part that may fail while the rest of the unit goes on. Savepoints do not nest. */
bool work_savepoint(Work *work, GError **error);

/* End the part: keep the rows and entries that were made since work_savepoint(), or undo them. */
void work_savepoint_end(Work *work, bool keep);

/* Commit rows and entries durably. False: nothing was done, unless the message says that nobody knows. True: all is
 * durable, and an entry that its queue cannot take now is put there later (lists/unit.h). spool may be NULL if no entry
 * was gathered. The entries are gone from the Work in either case. */
bool work_commit(Work *work, Spool *spool, GError **error);
/* After false: does nobody know whether it was done? */
bool work_is_unknown(const Work *work);

/* ---- in a runner, which works an entry ("command:4cd1...", the name by which its effect is recorded) ---- */

/* Write the gathered entries, encrypted with kept_key, into the outbox (a table of the store) under the name of the
 * entry that is worked. Call it inside the transaction that records the effect. The entries stay in the Work. */
bool work_keep(Work *work, const char *entry, GError **error);

/* Gather again the entries that an earlier try at the same entry kept. Having kept none is no failure. */
bool work_recall(Work *work, const char *entry, GError **error);

/* Take a draft, which is the callee's from then on. */
typedef void WorkTake(void *data, Draft *draft);

/* Call take() with a draft of each entry gathered, in order, and leave the Work without entries. */
void work_into(Work *work, WorkTake *take, void *data);
