/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Import a site from another list system into the store. A reader is the code that reads one such system, like
 * mailman3.h. It calls the functions below for one thing after another (a list, a member, a held post). They write each
 * into the store, in transactions of about two seconds, and keep no pointer to it. The order is: domains; people
 * (moving_address()); all lists with their settings and other small data; then for each list its members, and the
 * posts and requests that wait.
 *
 * The reader divides the things into parts and names them: moving_begin(), the things, moving_end(). When the import is
 * run again, a part that was imported whole is passed over. A part that was cut short is gone through anew, and things
 * of it that the store has already stay as they are. So an interrupted import goes on, and a complete one changes
 * nothing.
 *
 * A thing that cannot be imported is reported by MovingTell, with the other system's name for it; the call returns
 * true, and the import goes on. A call returns false only when the import must end, since the store or the system
 * failed.
 *
 * Nobody gets a letter, and programs outside are told nothing.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "lists/work.h"
#include "store/lists/header_match.h"
#include "store/lists/template_text.h"
#include "store/moving/carry.h"
#include "store/people/pending.h"
#include "store/posts/held.h"

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
    MOVING_ROWS, /* rows of the store that are of none of these kinds */
} MovingKind;
#define MOVING_KINDS 15
const char *moving_kind_text(MovingKind kind); /* "held posts" */

typedef struct MovingCount {
    uint64_t in, there; /* imported by this run; in the store before it */
} MovingCount;

/* The meaning of a line of the report. */
typedef enum MovingNote {
    MOVING_LEFT_OUT, /* the thing was not imported, since something is wrong with it */
    MOVING_LOST,     /* the thing was not imported, since Listrunner has nothing like it */
    MOVING_CHANGED,  /* the thing was imported, and means something else in Listrunner */
    MOVING_OF_SITE,  /* the thing was imported, and is the site's */
    MOVING_WITHHELD, /* things were not imported, since they are the site's and MovingSite.of_site is not set */
} MovingNote;
#define MOVING_NOTES 5
const char *moving_note_text(MovingNote note);

/* Called for each line of the report. place is a list, an address or a file, key the other system's name of the thing;
 * both may be "". */
typedef void MovingTell(MovingNote note, const char *place, const char *key, const char *text, void *data);

/* Called now and then, with the number of rows gone through. */
typedef void MovingProgress(uint64_t rows, void *data);

typedef struct MovingSite {
    Store *store; /* is written to */
    Store *there; /* is asked what was imported earlier: the same store, or the site's where store is only for a trial;
                     NULL: nothing was */
    const WorkSite *site;
    bool of_site; /* import also what is the site's, which no token of a list may write; else it is withheld */
    bool at_once; /* all is one transaction, which moving_finish() commits */
    Spool *spool; /* NULL: queue entries of the import are dropped */
    MovingTell *tell;
    MovingProgress *progress;
    void *data;
} MovingSite;

/* Begin an import. source names the other site, and must be the same whenever it is imported: "mailman3 9f3c...". */
Moving *moving_new(const MovingSite *site, const char *source);
/* Free it, and undo all that was not committed. */
void moving_free(Moving *moving);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Moving, moving_free)

/* Return the site that is imported into. */
const WorkSite *moving_site(const Moving *moving);
/* Return an array of MOVING_KINDS counts, by MovingKind. */
const MovingCount *moving_counts(const Moving *moving);
/* Return the number of lines of the report with this meaning. */
uint64_t moving_notes(const Moving *moving, MovingNote note);
/* Write a line of the report, by MovingTell. */
void moving_tell(Moving *moving, MovingNote note, const char *place, const char *key, const char *format, ...)
    G_GNUC_PRINTF(5, 6);

/* Report how many things of the site came or were withheld, of kinds that are only counted. */
void moving_tell_site(Moving *moving);

/* ---- parts ---- */

/* The way in which a part is committed. */
typedef enum MovingWay {
    MOVING_AT_ONCE,    /* whole or not at all */
    MOVING_IN_PORTIONS /* in several transactions, so a part that was cut short may be there in pieces */
} MovingWay;
/* Begin a part; list_id NULL: it belongs to no list. *whole: it was imported earlier, so no part is begun, and the
 * reader passes on to the next without moving_end(). */
bool moving_begin(Moving *moving, const char *part, const char *list_id, MovingWay way, bool *whole, GError **error);
/* Set *whole: was this part imported earlier? */
bool moving_is_whole(Moving *moving, const char *part, const char *list_id, bool *whole, GError **error);
/* Count one thing of a part that was imported earlier, as MovingCount.there. */
void moving_there(Moving *moving, MovingKind kind);
/* End a part, and note that it is whole. The note is committed together with the part's things, at once or together
 * with the parts that follow. */
bool moving_end(Moving *moving, GError **error);

/* ---- things: each call takes one thing of the part that is begun, and borrows its arguments ---- */

typedef struct MovingDomain {
    const char *mail_host, *description, *alias; /* alias NULL: none */
} MovingDomain;
bool moving_domain(Moving *moving, const MovingDomain *domain, GError **error);
/* The user of this address owns the domain. */
bool moving_domain_owner(Moving *moving, const char *mail_host, const char *address, GError **error);
bool moving_address(Moving *moving, const CarryAddress *address, GError **error);

/* One setting of a list, in Listrunner's name and words. */
typedef struct MovingSetting {
    const char *name, *key; /* key: what the other system calls it */
    char *value;            /* owned */
} MovingSetting;
/* Return an empty array of settings, which frees its members (of MovingSetting); g_ptr_array_unref(). */
GPtrArray *moving_settings_new(void);
/* Append a setting. name and key must outlive the array; value is freed by it. */
void moving_settings_add(GPtrArray *settings, const char *name, const char *key, char *value);
/* Append a word to a value that is a list of words. The word "@talk@example.com" means the members of that list; it is
 * appended as "@talk.example.com", since Listrunner names the list by its List-Id. */
void moving_settings_add_word(GString *value, const char *word);

typedef struct MovingList {
    CarryList list;
    GPtrArray *settings;                         /* of MovingSetting */
    int64_t volume, next_digest, digest_sent_at; /* of the next digest; when the last one was sent, 0: never */
    int64_t watermark;                           /* of linked_newsgroup; -1: none */
} MovingList;
/* Make the list with its settings. *made (list_free()) is NULL where the list was left out: it cannot be made, or there
 * is such a list that did not come by this import. */
bool moving_list(Moving *moving, const MovingList *list, List **made, GError **error);

/* Begin the part "list" of a list, call make(), and end the part, which is committed whole or not at all. make() calls
 * moving_list(), and writes the other things of that part; it is not called if the part was imported earlier. *in: the
 * list came by this import, now or earlier, so its other parts may follow. */
typedef bool MovingMake(void *data, List **made, GError **error);
bool moving_make(Moving *moving, const char *list_id, MovingMake *make, void *data, bool *in, GError **error);

/* Find a list that moving_make() made. *list (list_free()) is NULL if this import has not made it, or if it was there
 * before a trial run. */
bool moving_find_list(Moving *moving, const char *list_id, List **list, GError **error);
bool moving_member(Moving *moving, const CarryMember *from, GError **error);
/* Note that the address left the list at that time (0: unknown), so that sources of members do not add it again. */
bool moving_kept_out(Moving *moving, const char *list_id, const char *address, int64_t left_at, GError **error);
/* Set one more setting of a list that was just made. */
bool moving_setting(Moving *moving, const List *list, const MovingSetting *setting, GError **error);
/* Has the place (store/lists/template_text.h) a text of this name, in any language? */
bool moving_template_is_set(Moving *moving, const char *place, const char *name, bool *set, GError **error);
/* Ban an address or a pattern from the list; list_id NULL: from the whole site. */
bool moving_ban(Moving *moving, const char *list_id, const char *email, GError **error);
bool moving_header_match(Moving *moving, const HeaderMatch *match, GError **error);
bool moving_template(Moving *moving, const TemplateText *text, GError **error);
/* Import a held post. held->number is set to its number here; 0: it was left out. */
bool moving_held(Moving *moving, Held *held, GError **error);
/* Import a held post as moving_held() does, where the reader has only held->message, sender, reason and held_at. Its
 * Message-ID and Subject are read from the message. sender: of the envelope; NULL: unknown. */
bool moving_post(Moving *moving, const List *list, Held *held, const char *sender, GError **error);
/* Import a request that waits for an answer. token: as it was mailed to the person; NULL: none. */
bool moving_request(Moving *moving, const Pending *request, const char *token, GError **error);
/* Note that an answer to a letter with this token decides about the held post of that number. */
bool moving_ticket(Moving *moving, const char *list_id, int64_t held, const char *token, int64_t expires_at,
                   GError **error);
bool moving_digest_post(Moving *moving, const char *list_id, GBytes *post, int64_t time, GError **error);
bool moving_last_digest(Moving *moving, const char *list_id, const char *address, DeliveryMode mode, GError **error);
/* Note that the address got the automatic answer of this kind (store/posts/autoresponse.h) at that time. */
bool moving_answered(Moving *moving, const char *list_id, const char *kind, const char *address, int64_t time,
                     GError **error);

/* Commit what is still open; true also where nothing is. */
bool moving_commit(Moving *moving, GError **error);
/* Undo what was written since the last commit, and count it no more. So the import may go on with another list after a
 * call has returned false, if moving_commit() was called before that list. */
void moving_undo(Moving *moving);

/* Commit what is still open, and ask for new files of addresses for the MTA if lists came in. Call it last. */
bool moving_finish(Moving *moving, GError **error);
