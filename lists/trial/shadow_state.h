/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Keep the posts that a shadow (shadow.h) has not reported yet, and remember which ones it has reported. They are files
 * of a directory that one process uses. KEY stands for 40 hex digits, made from the List-Id and the Message-ID.
 *
 * A caller hands in posts (shadow_state_post()) and mail of the live server (shadow_state_seen()), in any order. For
 * each key that shadow_state_due() gives it calls shadow_state_read(), shadow_state_attempt(), and, when it has judged
 * the post, shadow_state_report(); or shadow_state_withdraw() if it cannot judge the post now.
 *
 *   KEY.post   the post as it came to the live server: a line of JSON (list_id, message_id, sender, recipient,
 *              arrival), then its bytes
 *   KEY.copy   the first copy that the live server sent of it: a line with its recipient, then its bytes
 *   KEY.seen   lines about all that came from the live server, each ended by " .": "t 1795183200000000 ." the time of
 *              the first, "l LIST-ID ." and "m MESSAGE-ID ." the post, "r anne@example.org ." a recipient, "u ." a copy
 *              whose recipient is not known, "h ." a letter that says the post is held, "x ." one that says it is
 *              rejected, "f ." one by which it goes to the owners. A line without that end was cut off by a crash, and
 *              does not count
 *   KEY.try1   this post is being judged
 *   KEY.try2   it is being judged again, since the process died while it was judged first
 *   KEY.line   the line for the report, while it is written there
 *   KEY.done   the post is reported
 *
 * A post is reported once, also when the process is killed meanwhile. The line is on the disk before it goes into the
 * report, and the report is synced before KEY.done is made. A KEY.line that is found at the start is written into the
 * report unless it stands at its end already. Posts and first copies are synced before they count; further recipients
 * are not, so a power cut may lose the last of them.
 *
 * ShadowLimits bounds the posts that wait and their bytes; mail that finds no room is not taken. Times are microseconds
 * since 1970.
 */
#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define SHADOW_KEY_LENGTH 40

typedef struct ShadowLimits {
    uint64_t bytes; /* of all files */
    unsigned posts; /* posts that wait */
    unsigned done;  /* reported posts that are remembered; with more, the oldest is forgotten */
} ShadowLimits;

typedef struct ShadowState ShadowState;

/* Open the directory, which is made where it is missing, and finish a report that a crash cut short. report is the open
 * file of the report, borrowed. FAIL_EXISTS: another process uses the directory. */
ShadowState *shadow_state_open(const char *directory, int report, const ShadowLimits *limits, GError **error);
void shadow_state_free(ShadowState *state);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ShadowState, shadow_state_free)

/* Return the key of a post; g_free(). token is its Message-ID without brackets, or what else a post of the list and its
 * copies have in common (shadow_mail.h). */
char *shadow_state_key(const char *list_id, const char *token);

typedef enum ShadowTaken {
    SHADOW_TAKEN,   /* the mail is kept */
    SHADOW_KNOWN,   /* not kept: this post came before (of shadow_state_post() alone) */
    SHADOW_LATE,    /* not kept: the post is reported already */
    SHADOW_NO_ROOM, /* not kept: a limit is reached */
} ShadowTaken;

/* Keep a post that came to the live server. head (borrowed) has the members of the line of KEY.post. */
bool shadow_state_post(ShadowState *state, const char *key, const json_t *head, GBytes *octets, ShadowTaken *taken,
                       GError **error);

/* A mail that the live server sent about a post. */
typedef struct ShadowSeen {
    const char *list_id, *message_id;
    char **recipients; /* of a copy: the recipients that are known; NULL: none */
    bool unknown;      /* of a copy: it has recipients besides, whose addresses are not known */
    char letter;       /* as the lines of KEY.seen: 'h' held, 'x' rejected, 'f' to the owners; 0: it is a copy */
    GBytes *octets;    /* of a copy; kept for the first one alone */
    int64_t now;
} ShadowSeen;
/* Keep what such a mail tells about the post of this key. */
bool shadow_state_seen(ShadowState *state, const char *key, const ShadowSeen *seen, ShadowTaken *taken, GError **error);

/* Return the key that waits longest, if its first mail came earlier than `before`; NULL: none. It is borrowed until the
 * next call. */
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
/* Read all that is kept under a key into *found; clear it also after false. */
bool shadow_state_read(ShadowState *state, const char *key, ShadowCase *found, GError **error);

/* Note that the post is about to be judged. *poison: two attempts before ended with the process, so report the post
 * without judging it. */
bool shadow_state_attempt(ShadowState *state, const char *key, bool *poison, GError **error);
/* Take back the last attempt, which ended without a report by a fault that may pass. It does not count then. */
void shadow_state_withdraw(ShadowState *state, const char *key);

/* Write the line (without line end) into the report, remove the post's files, and remember that it is reported. After
 * false, call it again for the same post; the line is not written twice. */
bool shadow_state_report(ShadowState *state, const char *key, const char *line, GError **error);
