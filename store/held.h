/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Posts held for moderation. The bytes are kept here, whole, so that a held
 * post outlives queues and can be decided from any host.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/list.h"
#include "store/store_type.h"

/* The state of the moderators' notice about a held post. */
typedef enum HeldTold {
    HELD_TOLD_NOBODY, /* a notice will come */
    HELD_TOLD_ALONE,  /* they got a notice about this one post */
    HELD_TOLD_MANY,   /* they got one that names several, or want none */
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

/* Both numbers are set on return. */
bool held_add(Store *store, Held *held, GError **error);
Held *held_find(Store *store, int64_t number, GError **error);
Held *held_find_in_list(Store *store, const char *list_id, int64_t list_number, GError **error);
bool held_remove(Store *store, int64_t number, GError **error);

/* Note that the sender has until then to bring back this token (of store/pending.h), in place of an earlier one, and
 * that no moderator is to be told. */
bool held_ask(Store *store, int64_t number, const char *token, int64_t until, GError **error);
/* FAIL_MISSING: no post waits for the token, or not any more. What became of it, pending_token_fate() tells. */
Held *held_find_token(Store *store, const char *token, int64_t now, GError **error);
#define HELD_ROW_BYTES 1024 /* of a held post besides its message, about */

/* Bytes that held posts take, of a list or (NULL) of all, and those of strangers among them. */
typedef struct HeldRoom {
    int64_t all, strangers;
} HeldRoom;
bool held_room(Store *store, const char *list_id, HeldRoom *room, GError **error);
/* Remove all that this sender has waiting, on all lists. */
bool held_remove_sender(Store *store, const char *sender, GError **error);
/* How many wait for a moderator on all lists, and since when the oldest (0: none). */
bool held_count(Store *store, int64_t *count, int64_t *oldest, GError **error);
/* Return held posts of a list, whole and in order: up to limit (of Held, freed with the array), behind the list_number
 * `after` and then the first `skip`. */
GPtrArray *held_page(Store *store, const char *list_id, int64_t after, int64_t skip, unsigned limit, GError **error);
bool held_total(Store *store, const char *list_id, int64_t *total, GError **error);

/* Call each for every held post in order of its number, all those of one list or (list_id NULL) of all lists; each
 * returns false to stop, and must not write to the store. */
typedef bool HeldEach(const Held *held, void *data);
bool held_each(Store *store, const char *list_id, HeldEach *each, void *data, GError **error);

/* Which posts are meant; a field that is NULL or 0 asks for nothing. */
typedef struct HeldFilter {
    const char *list_id;
    const char *sender;      /* any case */
    int64_t before, after;   /* held_at is earlier, is not earlier */
    int64_t first, last;     /* the number is not less, is not greater */
    int64_t asked_before;    /* the time to confirm the address was over by then */
    bool untold;             /* only those of HELD_TOLD_NOBODY */
} HeldFilter;
bool held_select(Store *store, const HeldFilter *filter, HeldEach *each, void *data, GError **error);

/* The List-Ids of lists that have held posts, only such of HELD_TOLD_NOBODY if untold; g_strfreev(). */
char **held_lists(Store *store, bool untold, GError **error);

bool held_set_told(Store *store, int64_t number, HeldTold told, GError **error);
/* May the moderators of the list get a notice now, since the last was sent longer than gap (us) ago? If *due, this one
 * counts as sent. */
bool held_notice_due(Store *store, const char *list_id, int64_t now, int64_t gap, bool *due, GError **error);
