/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Keep posts that wait for a moderator's decision, or until their sender has confirmed the address by a mailed token.
 * The bytes are kept in the database, whole, so that a held post outlives queues and any host can decide about it.
 * Errors are those of the store; FAIL_MISSING: there is no such post or list.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store_type.h"

/* The state of the moderators' notice about a held post. */
typedef enum HeldTold {
    HELD_TOLD_NOBODY, /* a notice will be sent */
    HELD_TOLD_ALONE,  /* the moderators got a notice about this one post */
    HELD_TOLD_MANY,   /* they got a notice that names several posts, or are to get none about this post */
} HeldTold;

typedef struct Held {
    int64_t number;      /* for people: unique in the store */
    int64_t list_number; /* for REST: counted in its list from 1 on, and not used twice there */
    char *list_id, *message_id, *subject, *sender, *reason;
    char *meta;       /* the entry's metadata, JSON */
    int64_t held_at;
    HeldTold told;
    int64_t asked_until; /* the sender was asked to confirm the address until then; 0: it waits for a moderator */
    int64_t size;     /* bytes of message */
    bool stranger;    /* for held_add(): its sender is not on the list */
    char *spool;      /* for held_add(): where its entry was; NULL: in none */
    GBytes *message;  /* NULL from held_each() and held_select() */
} Held;

void held_free(Held *held);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Held, held_free)

/* Add the post. held stays the caller's; its two numbers are set on return. */
bool held_add(Store *store, Held *held, GError **error);
/* Return the post with its message, by its number in the store or in its list; held_free(). */
Held *held_find(Store *store, int64_t number, GError **error);
Held *held_find_in_list(Store *store, const char *list_id, int64_t list_number, GError **error);
/* Remove the post with this number. */
bool held_remove(Store *store, int64_t number, GError **error);

/* Let the post wait for its sender: note the token (of store/people/pending.h) that was mailed to the sender, who may
 * bring it back until `until`. The token replaces an earlier one of this post, and no moderator is told of the post. */
bool held_ask(Store *store, int64_t number, const char *token, int64_t until, GError **error);
/* Return the post that waits for this token. FAIL_MISSING: no post waits for it, or its time is over at `now`; then
 * pending_token_fate() tells why the token is not good. */
Held *held_find_token(Store *store, const char *token, int64_t now, GError **error);
#define HELD_ROW_BYTES 1024 /* that are counted for each held post besides its message */

/* Set *room to the bytes that the held posts of a list take, or (list_id NULL) of all lists: all of them, and those
 * that were added with `stranger`. */
typedef struct HeldRoom {
    int64_t all, strangers;
} HeldRoom;
bool held_room(Store *store, const char *list_id, HeldRoom *room, GError **error);
/* Remove all held posts of this sender (any case of letters), on all lists. */
bool held_remove_sender(Store *store, const char *sender, GError **error);
/* Count the posts of all lists that wait for a moderator, not for their sender. *oldest is since when the first of them
 * waits; 0: there is none. */
bool held_count(Store *store, int64_t *count, int64_t *oldest, GError **error);
/* Return at most limit held posts of a list with their messages, in order of list_number (of Held, freed with the
 * array): those with a list_number greater than `after`, without the first `skip` of them. */
GPtrArray *held_page(Store *store, const char *list_id, int64_t after, int64_t skip, unsigned limit, GError **error);
/* Count the held posts of a list, whatever they wait for. */
bool held_total(Store *store, const char *list_id, int64_t *total, GError **error);

/* Call each for every held post in order of its number, of one list or (list_id NULL) of all lists. each must not write
 * to the store; it returns false to stop, and held_each() then returns true. */
typedef bool HeldEach(const Held *held, void *data);
bool held_each(Store *store, const char *list_id, HeldEach *each, void *data, GError **error);

/* Which posts are meant; a field that is NULL or 0 asks for nothing. */
typedef struct HeldFilter {
    const char *list_id;
    const char *sender;      /* any case */
    int64_t before, after;   /* held_at is earlier, is not earlier */
    int64_t first, last;     /* the number is not less, is not greater */
    int64_t asked_before;    /* the sender was asked to confirm the address, and asked_until is not later */
    bool untold;             /* only posts with HELD_TOLD_NOBODY */
} HeldFilter;
/* Call each as held_each() does, for the posts that meet all conditions of filter. */
bool held_select(Store *store, const HeldFilter *filter, HeldEach *each, void *data, GError **error);

/* Return the List-Ids of lists that have held posts, or with untold held posts with HELD_TOLD_NOBODY; g_strfreev(). */
char **held_lists(Store *store, bool untold, GError **error);

/* Write `told` of the post with this number. */
bool held_set_told(Store *store, int64_t number, HeldTold told, GError **error);
/* Set *due: may the moderators of the list get a notice now, since the last was sent at least gap (microseconds) ago?
 * If *due, the store notes that one is sent now, so the caller must send it. */
bool held_notice_due(Store *store, const char *list_id, int64_t now, int64_t gap, bool *due, GError **error);
