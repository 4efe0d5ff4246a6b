/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Keep the posts that a shadow (shadow.h) has not reported yet, and which it has reported: files of a directory that
 * one process uses. KEY stands for 40 hex digits, made from the List-Id and the Message-ID.
 *
 *   KEY.post   the post as it came to the live server: a line of JSON (list_id, message_id, sender, recipient,
 *              arrival), then its bytes
 *   KEY.copy   the first copy that the live server sent of it: a line with its recipient, then its bytes
 *   KEY.seen   lines about all that came from the live server, each ended by " .": "t 1795183200000000 ." the time of
 *              the first, "l LIST-ID ." and "m MESSAGE-ID ." the post, "r anne@example.org ." a recipient, "u ." a copy
 *              whose recipient is not known, "h ." a letter that says the post is held, "x ." one that says it is
 *              rejected, "f ." one by which it goes to the owners. A line without that end was cut off by a crash, and
 *              does not count
 *   KEY.try1   this post is being judged; KEY.try2: and the process had died of it before
 *   KEY.line   the line of the report, while it is written there
 *   KEY.done   it is reported
 *
 * A post is reported once: the line is on the disk before it goes into the report, the report is synced before KEY.done
 * is made, and a KEY.line that is found at the start is looked for at the end of the report. Posts and first copies are
 * synced before they count; further recipients are not, so a power cut may lose the last of them.
 *
 * Bounded are the posts that wait and their bytes; what finds no room is not taken. Times are microseconds since 1970.
 */
#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define SHADOW_KEY_LENGTH 40

typedef struct ShadowLimits {
    uint64_t bytes; /* of all files */
    unsigned posts; /* that wait */
    unsigned done;  /* that are known to be reported; the oldest are forgotten */
} ShadowLimits;

typedef struct ShadowState ShadowState;

/* Open the directory, which is made where it is missing, and end what a crash left half done. report is the open file
 * of the report, borrowed. FAIL_EXISTS: another process uses the directory. */
ShadowState *shadow_state_open(const char *directory, int report, const ShadowLimits *limits, GError **error);
void shadow_state_free(ShadowState *state);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ShadowState, shadow_state_free)

/* The key of a post; g_free(). */
char *shadow_state_key(const char *list_id, const char *message_id);

typedef enum ShadowTaken {
    SHADOW_TAKEN,
    SHADOW_KNOWN, /* this post is there already */
    SHADOW_LATE,  /* it is reported already */
    SHADOW_NO_ROOM,
} ShadowTaken;

/* The post that came to the live server. head (borrowed) has the members that are named above. */
bool shadow_state_post(ShadowState *state, const char *key, const json_t *head, GBytes *octets, ShadowTaken *taken,
                       GError **error);

/* A mail that the live server sent about a post. */
typedef struct ShadowSeen {
    const char *list_id, *message_id;
    char **recipients; /* of a copy, those that are known; NULL: none */
    bool unknown;      /* of a copy: there are others */
    char letter;       /* 'h', 'x', 'f'; 0: it is a copy */
    GBytes *octets;    /* of a copy */
    int64_t now;
} ShadowSeen;
bool shadow_state_seen(ShadowState *state, const char *key, const ShadowSeen *seen, ShadowTaken *taken, GError **error);

/* The key that waits longest, if its first mail came before that time; NULL: none. Borrowed until the next call. */
const char *shadow_state_due(const ShadowState *state, int64_t before);

/* All that is known about a post. */
typedef struct ShadowCase {
    json_t *head; /* of KEY.post; NULL: the post was not seen */
    GBytes *post;
    char *list_id, *message_id; /* NULL where nobody said */
    GBytes *copy;               /* NULL: none came */
    char *copy_recipient;       /* "": not known */
    GHashTable *recipients;     /* address_key() -> address */
    bool unknown, held, rejected, forwarded;
} ShadowCase;
void shadow_case_clear(ShadowCase *found);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ShadowCase, shadow_case_clear)
bool shadow_state_read(ShadowState *state, const char *key, ShadowCase *found, GError **error);

/* Note that the post is about to be judged. *poison: the process died twice meanwhile. */
bool shadow_state_attempt(ShadowState *state, const char *key, bool *poison, GError **error);
/* The attempt ended without a report, by a fault that may pass: it does not count. */
void shadow_state_withdraw(ShadowState *state, const char *key);

/* Write the line (without line end) into the report, and forget all but that it is reported. */
bool shadow_state_report(ShadowState *state, const char *key, const char *line, GError **error);
