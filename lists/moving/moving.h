/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Move a site in from another list system. A reader of such a system (mailman3.h) describes what it finds, one thing
 * after another and none of it kept, by the calls below; they write it into the store in transactions of two seconds.
 * The order is: domains; people (moving_address()); all lists with what is small about them; then for each list its
 * members, and what waits.
 *
 * What belongs together is a part, with a name of the reader's: one that is in whole is passed over when the import
 * is run again, and one that was cut short is gone through anew, where whatever is in already stays as it is. So an
 * import that was interrupted goes on, and one that is complete changes nothing.
 *
 * Something that cannot be taken is told with the place and the key of the other system, and the rest goes in. A call
 * returns false only when the import must end, since the store or the system failed.
 *
 * Nobody gets a letter, and programs outside are told nothing.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "lists/work.h"
#include "store/bring.h"
#include "store/header_match.h"
#include "store/held.h"
#include "store/pending.h"
#include "store/template_text.h"

typedef struct Moving Moving;

/* The kinds of things that are counted. */
typedef enum MovingKind {
    MOVING_DOMAINS,
    MOVING_ADDRESSES,
    MOVING_LISTS,
    MOVING_SETTINGS,
    MOVING_MEMBERS,
    MOVING_KEPT_OUT,
    MOVING_BANS,
    MOVING_HEADER_MATCHES,
    MOVING_TEMPLATES,
    MOVING_HELD,
    MOVING_REQUESTS,
    MOVING_TICKETS,
    MOVING_DIGEST_POSTS,
    MOVING_ANSWERS,
    MOVING_ROWS, /* what stands beside these */
} MovingKind;
#define MOVING_KINDS 15
const char *moving_kind_text(MovingKind kind); /* "held posts" */

typedef struct MovingCount {
    uint64_t in, there; /* brought in by this run; in the store before */
} MovingCount;

/* The meaning of a line of the report. */
typedef enum MovingNote {
    MOVING_LEFT_OUT, /* something is wrong with it */
    MOVING_LOST,     /* it has no equal here */
    MOVING_CHANGED,  /* it is in, and means something else here */
} MovingNote;
const char *moving_note_text(MovingNote note);

/* Told of each such line: place is a list, an address or a file, key what it is there called; both may be "". */
typedef void MovingTell(MovingNote note, const char *place, const char *key, const char *text, void *data);

/* Called now and then, with the number of rows gone through. */
typedef void MovingProgress(uint64_t rows, void *data);

typedef struct MovingSite {
    Store *store; /* is written to */
    Store *there; /* is asked what is in already: the same, or the site's own where store is one to try in; NULL */
    const WorkSite *site;
    bool at_once; /* all is one transaction, which moving_finish() commits */
    Spool *spool; /* NULL: none is needed, for no unit leaves entries */
    MovingTell *tell;
    MovingProgress *progress;
    void *data;
} MovingSite;

/* source names the other site, for good: "mailman3 9f3c...". */
Moving *moving_new(const MovingSite *site, const char *source);
/* Undo all that was not committed. */
void moving_free(Moving *moving);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Moving, moving_free)

const MovingCount *moving_counts(const Moving *moving); /* MOVING_KINDS */
uint64_t moving_notes(const Moving *moving, MovingNote note);
void moving_tell(Moving *moving, MovingNote note, const char *place, const char *key, const char *format, ...)
    G_GNUC_PRINTF(5, 6);

/* ---- parts ---- */

/* The way in which a part is committed. */
typedef enum MovingWay {
    MOVING_AT_ONCE,    /* whole or not at all */
    MOVING_IN_PORTIONS /* in several transactions: of these, what is there already is known from a second time */
} MovingWay;
/* Begin a part; *whole: it is in, and the reader passes on to the next. list_id NULL: it belongs to no list. */
bool moving_begin(Moving *moving, const char *part, const char *list_id, MovingWay way, bool *whole, GError **error);
/* Count one thing of a part that is in. */
void moving_there(Moving *moving, MovingKind kind);
/* Leave a part in which nothing was written. */
void moving_cancel(Moving *moving);
/* Note that the part is whole; it is committed with that, at once or with the parts that follow. */
bool moving_end(Moving *moving, GError **error);

/* ---- things ---- */

typedef struct MovingDomain {
    const char *mail_host, *description, *alias; /* alias NULL: none */
} MovingDomain;
bool moving_domain(Moving *moving, const MovingDomain *domain, GError **error);
/* The user of this address owns the domain. */
bool moving_domain_owner(Moving *moving, const char *mail_host, const char *address, GError **error);
bool moving_address(Moving *moving, const BroughtAddress *address, GError **error);

/* One setting of a list, in Listrunner's name and words. */
typedef struct MovingSetting {
    const char *name, *key; /* key: what the other system calls it */
    char *value;            /* owned */
} MovingSetting;
typedef struct MovingList {
    BroughtList list;
    GPtrArray *settings;                         /* of MovingSetting */
    const char *password_hash;                   /* of the moderators; NULL: none */
    int64_t volume, next_digest, digest_sent_at; /* of the next digest; when the last one was sent, 0: never */
    int64_t watermark;                           /* of linked_newsgroup; -1: none */
} MovingList;
/* Make the list. *made (list_free()) is NULL where it was left out: it is not from this import, or cannot be made. */
bool moving_list(Moving *moving, const MovingList *list, List **made, GError **error);

/* Make the list in its part "list", which is whole or not there at all: make() calls moving_list() and writes what
 * stands in that part, too. *in: the list came by this import, now or earlier, so that its other parts may follow. */
typedef bool MovingMake(void *data, List **made, GError **error);
bool moving_make(Moving *moving, const char *list_id, MovingMake *make, void *data, bool *in, GError **error);

/* Find a list that moving_make() made. *list (list_free()) is NULL where it is not, and where it was there before
 * a run that only tries. */
bool moving_find_list(Moving *moving, const char *list_id, List **list, GError **error);

bool moving_member(Moving *moving, const BroughtMember *member, GError **error);
/* The address left the list, then (0: nobody knows when), and is not brought back by its sources. */
bool moving_kept_out(Moving *moving, const char *list_id, const char *address, int64_t left_at, GError **error);
/* Set one setting more of a list that was just made. */
bool moving_setting(Moving *moving, const List *list, const MovingSetting *setting, GError **error);
/* Has the place (store/template_text.h) a text of this name, in any language? */
bool moving_template_is_set(Moving *moving, const char *place, const char *name, bool *set, GError **error);
/* list_id NULL: for the site. */
bool moving_ban(Moving *moving, const char *list_id, const char *email, GError **error);
bool moving_header_match(Moving *moving, const HeaderMatch *match, GError **error);
bool moving_template(Moving *moving, const TemplateText *text, GError **error);
/* Both numbers are set; 0 where it was left out. */
bool moving_held(Moving *moving, Held *held, GError **error);
/* The same for the message alone, besides sender, reason and held_at: its Message-ID and Subject are found in it.
 * sender: of the envelope; NULL: none is known. */
bool moving_post(Moving *moving, const List *list, Held *held, const char *sender, GError **error);
/* token: as it was mailed; NULL: none. */
bool moving_request(Moving *moving, const Pending *request, const char *token, GError **error);
/* The answer to a letter with the token decides about the held post. */
bool moving_ticket(Moving *moving, const char *list_id, int64_t held, const char *token, int64_t expires_at,
                   GError **error);
bool moving_digest_post(Moving *moving, const char *list_id, GBytes *post, int64_t time, GError **error);
bool moving_last_digest(Moving *moving, const char *list_id, const char *address, DeliveryMode mode, GError **error);
/* The address got the automatic answer of this kind (store/autoresponse.h) at that time. */
bool moving_answered(Moving *moving, const char *list_id, const char *kind, const char *address, int64_t time,
                     GError **error);

/* The site writes files of addresses for the MTA anew, where it keeps such. Call it last. */
bool moving_finish(Moving *moving, GError **error);
