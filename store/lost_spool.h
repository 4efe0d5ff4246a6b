/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Tell what was in the spool of a host that is lost for good, as far as the database knows, and mend what refers to it.
 * The database holds no mail that is under way, so nothing of that comes back; but whoever sends it again is heard, and
 * what other hosts can do now is theirs. What came into the spool and was not judged yet stands nowhere.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store_type.h"

/* One row of what refers to the spool. */
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
    int64_t since;     /* what came before had left the spool; 0: nobody knows */
    GPtrArray *things; /* of LostThing, by kind and time */
} LostSpool;
void lost_spool_clear(LostSpool *lost);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LostSpool, lost_spool_clear)

/* Look for what was lost with a host of that name, and unless dry, mend it and forget the host, in one transaction. It
 * fails as host_remove() does, and then nothing is changed. */
bool lost_spool_remove(Store *store, const char *name, bool dry, LostSpool *lost, GError **error);

/* An entry that another host handed over and that is to be worked from this spool. */
typedef struct HandedEntry {
    const char *entry; /* of store_record_effect() */
    const char *spool; /* its id */
    const char *queue; /* that it is for */
    const char *list;  /* List-Id; "": none */
    const char *message_id;
    int64_t time; /* us */
} HandedEntry;

/* Note one, so that it can be told when the spool is lost. In the transaction that records its effect. */
bool lost_spool_note(Store *store, const HandedEntry *handed, GError **error);
