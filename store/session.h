/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Sessions of people on the pages, and the mailed links that begin them. Both are known by the SHA-256 of a token (of
 * store/pending.h) alone. A link begins one session and is used up by that, with all others that were mailed to the
 * address. Times are microseconds since 1970. Errors are those of the store.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "store/store_type.h"

#define SESSION_LINK_LIFE (30 * 60 * CLOCK_SECOND)
#define SESSION_LIFE (30 * 86400 * CLOCK_SECOND) /* since it was used last */
#define SESSION_SEEN (3600 * CLOCK_SECOND)       /* by which seen_at may be late */

typedef struct Session {
    int64_t key;   /* in the database, for lists of them */
    char *address; /* of the person, as it was first known */
    char *agent;   /* what the browser says it is; "" for a link */
    int64_t made_at, seen_at, expires_at;
} Session;

void session_free(Session *session);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Session, session_free)

/* Remember the token of a link that is mailed to the address. FAIL_NEVER: it is no valid address. */
bool session_add_link(Store *store, const char *address, const char *token, int64_t now, GError **error);

/* Find an open link by its token; FAIL_MISSING: there is none, or it has expired. */
Session *session_find_link(Store *store, const char *token, int64_t now, GError **error);

/* Begin a session by a link, which is good no more then. FAIL_MISSING as above. */
bool session_begin(Store *store, const char *link, const char *token, const char *agent, int64_t now, GError **error);

/* Find an open session by its token; FAIL_MISSING: there is none, or it has expired. */
Session *session_find(Store *store, const char *token, int64_t now, GError **error);

/* The session is used now: it lasts SESSION_LIFE from here. */
bool session_touch(Store *store, int64_t key, int64_t now, GError **error);

/* The open sessions of an address, the one used last first; of Session. */
GPtrArray *session_all(Store *store, const char *address, int64_t now, GError **error);

/* End a session of the address, or (key 0) all but `kept` (0: none). One that is not there has ended before. */
bool session_end(Store *store, const char *address, int64_t key, int64_t kept, GError **error);

/* Remove what has expired. */
bool session_expire(Store *store, int64_t now, GError **error);
