/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Tickets: a notice about held posts or requests has a token, and whoever answers the notice with it decides as the
 * moderator whom it was sent to. A ticket is good for the held posts of one list with numbers from first to last, and
 * for its requests from first_request to last_request, for each of them once, since what was decided about waits no
 * more. Tokens have the form of store/pending.h; only their SHA-256 is kept.
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

/* Keep the ticket under a token of pending_token_new(). */
bool ticket_put(Store *store, const Ticket *ticket, const char *token, GError **error);

/* FAIL_MISSING: there is none with this token, or it has expired by now. */
Ticket *ticket_find(Store *store, const char *token, int64_t now, GError **error);

/* Remove those that have expired, or of which all is decided about. removed may be NULL. */
bool ticket_expire(Store *store, int64_t now, int64_t *removed, GError **error);
