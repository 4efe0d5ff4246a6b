/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/posts/ticket.h"

#include "base/fail.h"
#include "store/row.h"
#include "store/store_internal.h"

static const RowField ticket_row[] = {ROW(Ticket, list_id),     ROW(Ticket, moderator),  ROW(Ticket, first),
                                      ROW(Ticket, last),        ROW(Ticket, expires_at), ROW(Ticket, first_request),
                                      ROW(Ticket, last_request)};

void ticket_free(Ticket *ticket)
{
    row_free(ticket_row, ticket);
}

bool ticket_put(Store *store, const Ticket *ticket, const char *token, GError **error)
{
    int64_t list;
    g_autofree char *hash = pending_token_hash(token);
    return STORE_WRITE(
        store, error,
        list_key(store, ticket->list_id, &list, error) &&
            query_run(store, error, NULL,
                      "INSERT INTO ticket (token, list, moderator, first, last, expires_at, first_request, "
                      "last_request) VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
                      TEXT(hash), INTEGER(list), TEXT(ticket->moderator), INTEGER(ticket->first), INTEGER(ticket->last),
                      INTEGER(ticket->expires_at), INTEGER(ticket->first_request), INTEGER(ticket->last_request)));
}

Ticket *ticket_find(Store *store, const char *token, int64_t now, GError **error)
{
    g_autofree char *hash = pending_token_hash(token);
    g_autoptr(Query) query =
        query_open(store, error,
                   "SELECT list.list_id, ticket.moderator, ticket.first, ticket.last, ticket.expires_at, "
                   "ticket.first_request, ticket.last_request FROM ticket JOIN list ON list.key = ticket.list "
                   "WHERE ticket.token = $1 AND ticket.expires_at > $2",
                   TEXT(hash), INTEGER(now));
    return row_find(query, Ticket, ticket_row, fail(error, FAIL_MISSING, "there is no notice with this token"), error);
}

bool ticket_expire(Store *store, int64_t now, int64_t *removed, GError **error)
{
    return STORE_WRITE_PEOPLE(
        store, error,
        query_run(store, error, removed,
                  "DELETE FROM ticket WHERE expires_at <= $1 OR (NOT EXISTS (SELECT 1 FROM held WHERE "
                  "held.list = ticket.list AND held.number BETWEEN ticket.first AND ticket.last) "
                  "AND NOT EXISTS (SELECT 1 FROM pending WHERE pending.list = ticket.list AND "
                  "pending.number BETWEEN ticket.first_request AND ticket.last_request))",
                  INTEGER(now)));
}
