/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Keep the sessions of people who are signed in on the web pages, and the mailed links by which they sign in. A person
 * holds the token (of store/people/pending.h) of a link or session; the database keeps only its SHA-256. A link begins
 * one session. It is used up by that, and so are all other links of its address. Times are microseconds since 1970.
 * Errors are those of the store.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/mailbox.h"
#include "store/store_type.h"

#define SESSION_LINK_LIFE (30 * 60 * CLOCK_SECOND)
#define SESSION_LIFE (30 * 86400 * CLOCK_SECOND) /* since it was used last */
#define SESSION_SEEN (3600 * CLOCK_SECOND)       /* seen_at may be that much older than the last use */

typedef struct Session {
    int64_t key;   /* in the database, for lists of them */
    const Mailbox *address; /* of the person, as it was first known */
    char *agent;            /* what the browser says it is; "" for a link */
    int64_t made_at, seen_at, expires_at;
} Session;

void session_free(Session *session);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Session, session_free)

/* Remember the token of a link that is mailed to the address. FAIL_NEVER: it is no valid address. */
bool session_add_link(Store *store, const Mailbox *address, const char *token, int64_t now, GError **error);

/* Find an unused link by its token; session_free(). FAIL_MISSING: there is none, or it has expired. */
Session *session_find_link(Store *store, const char *token, int64_t now, GError **error);

/* Set *lives to whether the address has a link that is unused and has not expired. */
bool session_link_lives(Store *store, const Mailbox *address, int64_t now, bool *lives, GError **error);

/* Begin a session with a new token for the address of a link, which is named by its own token and is used up then.
 * agent is the session's. FAIL_MISSING: there is no such link, it has expired, or another call has just used it. */
bool session_begin(Store *store, const char *link, const char *token, const char *agent, int64_t now, GError **error);

/* Find an open session by its token; session_free(). FAIL_MISSING: there is none, or it has expired. */
Session *session_find(Store *store, const char *token, int64_t now, GError **error);

/* Note that the session is used now, so that it lasts SESSION_LIFE from now on. */
bool session_touch(Store *store, int64_t key, int64_t now, GError **error);

/* Return the open sessions of an address, the one used last first; of Session, freed with the array. */
GPtrArray *session_all(Store *store, const Mailbox *address, int64_t now, GError **error);

/* End the address's session with this key, or with key 0 all its sessions. A session with the key `kept` (0: none) goes
 * on in either case. True also where there is no such session. */
bool session_end(Store *store, const Mailbox *address, int64_t key, int64_t kept, GError **error);

/* Remove the links and sessions that have expired. */
bool session_expire(Store *store, int64_t now, GError **error);
