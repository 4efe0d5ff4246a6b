/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Give up the spool of a host that is lost for good. Find out from the database what was in that spool, tell it, and
 * mend the rows that refer to it. The database holds no mail that is under way, so such mail does not come back; but a
 * sender who sends it again is not taken for a duplicate, and work that another host can do is left to the others.
 * Mail that came into the spool and was not decided about yet is in no row, so nothing can be told of it.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store_type.h"

/* One thing that was, or may have been, in the spool. */
typedef struct LostThing {
    const char *kind; /* static:
                         "post"    may not have come to everybody; the same mail is taken again
                         "block"   of a large post that another host handed over; its recipients may lack it, and the
                                   same mail is taken again
                         "archive" that may lack a post, which another host handed over
                         "notice"  of a held post, which is kept; its moderators are told once more
                         "digest"  was being made; its posts go with the next one
                         "parts"   of a message that waited for others; they are forgotten
                         "letters" that were to go out with a change; the change was made and stays
                         "request" by mail, which was made and stays; its answers may be lost */
    char *list_id;    /* "": of no list */
    char *name;       /* Message-ID, number of the digest, sender and id of the message, queues, entry */
    int64_t time;
} LostThing;

typedef struct LostSpool {
    char *state;       /* of the host, as in Host */
    int64_t seen_at;   /* when the host was last heard of */
    int64_t since;     /* mail that came before this time had left the spool; 0: nobody knows */
    GPtrArray *things; /* of LostThing, by kind and time */
} LostSpool;
void lost_spool_clear(LostSpool *lost);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LostSpool, lost_spool_clear)

/* Fill *lost with what was lost with the host of that name. Unless dry, mend it and forget the host, in the same
 * transaction. It fails as host_remove() does, and then nothing is changed; the caller clears *lost in any case. */
bool lost_spool_remove(Store *store, const char *name, bool dry, LostSpool *lost, GError **error);

/* An entry that another host handed over and that is in this spool. */
typedef struct HandedEntry {
    const char *entry; /* of store_record_effect() */
    const char *spool; /* its id */
    const char *queue; /* that it is for */
    const char *list;  /* List-Id; "": none */
    const char *message_id;
    int64_t time; /* us */
} HandedEntry;

/* Note a handed entry that is to be worked from its spool, so that it can be told if the spool is lost. Call it in the
 * transaction that records the entry's effect. An entry that is noted already stays as it is. */
bool lost_spool_note(Store *store, const HandedEntry *handed, GError **error);

/* Note it before the host that hands it over is told that it is here. It needs no transaction. Nothing is noted when
 * the effect is recorded already: this is a second copy then. */
bool lost_spool_note_taken(Store *store, const HandedEntry *handed, GError **error);

/* Forget what was noted of an entry, for the host that handed it over works it. Call it in the transaction that records
 * the effect. */
bool lost_spool_note_back(Store *store, const char *entry, GError **error);
