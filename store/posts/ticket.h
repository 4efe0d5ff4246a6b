/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Keep tickets. A notice to a moderator about held posts or requests contains a token, and whoever answers the notice
 * with it decides as that moderator. The ticket is the token's row: it names the moderator, and the held posts and
 * requests of one list that may be decided by it. Each of them can be decided once, since it waits no more then. Tokens
 * have the form of store/people/pending.h; only their SHA-256 is kept. Times are microseconds since 1970.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store_type.h"

typedef struct Ticket {
    char *list_id, *moderator; /* address */
    int64_t first, last;       /* numbers of held posts; 0: none */
    int64_t first_request, last_request; /* of requests; 0: none */
    int64_t expires_at;
} Ticket;

void ticket_free(Ticket *ticket);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Ticket, ticket_free)

/* Keep the ticket under a token of pending_token_new(). FAIL_MISSING: there is no such list. */
bool ticket_put(Store *store, const Ticket *ticket, const char *token, GError **error);

/* Find a ticket by its token; ticket_free(). FAIL_MISSING: there is none with this token, or it has expired by now. */
Ticket *ticket_find(Store *store, const char *token, int64_t now, GError **error);

/* Remove the tickets that have expired, and those none of whose posts and requests waits any more. *removed (may be
 * NULL) is how many. */
bool ticket_expire(Store *store, int64_t now, int64_t *removed, GError **error);
