/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/people/session.h"

#include "base/fail.h"
#include "store/people/pending.h"
#include "store/row.h"

typedef enum SessionKind { LINK, SESSION } SessionKind;

#define COLUMNS "key, address, agent, made_at, seen_at, expires_at"
static const RowField session_row[] = {ROW(Session, key),     ROW(Session, address), ROW(Session, agent),
                                       ROW(Session, made_at), ROW(Session, seen_at), ROW(Session, expires_at)};

void session_free(Session *session)
{
    row_free(session_row, session);
}

/* A row that begins now. */
static bool add(Store *store, SessionKind kind, const Session *session, const char *token, GError **error)
{
    const Mailbox *address = session->address;
    g_autofree char *hash = pending_token_hash(token);
    int64_t key = mailbox_check(address, error) ? store_key_new(store, error) : 0;
    return key &&
           query_run(store, error, NULL,
                     "INSERT INTO session (key, token, kind, folded, address, agent, made_at, seen_at, expires_at) "
                     "VALUES ($1, $2, $3, $4, $5, $6, $7, $7, $8)",
                     INTEGER(key), TEXT(hash), INTEGER(kind), TEXT(address->folded), TEXT(address->text),
                     TEXT(session->agent), INTEGER(session->made_at), INTEGER(session->expires_at));
}

bool session_add_link(Store *store, const Mailbox *address, const char *token, int64_t now, GError **error)
{
    const Session link = {
        .address = address, .agent = (char[]){""}, .made_at = now, .expires_at = now + SESSION_LINK_LIFE};
    return STORE_WRITE_PEOPLE(store, error, add(store, LINK, &link, token, error));
}

static Session *find(Store *store, SessionKind kind, const char *token, int64_t now, GError **error)
{
    g_autofree char *hash = pending_token_hash(token);
    g_autoptr(Query) query = query_open(store, error,
                                        "SELECT " COLUMNS " FROM session "
                                        "WHERE token = $1 AND kind = $2 AND expires_at > $3",
                                        TEXT(hash), INTEGER(kind), INTEGER(now));
    return row_find(query, Session, session_row,
                    fail(error, FAIL_MISSING, "there is no such %s", kind == LINK ? "link" : "session"), error);
}

Session *session_find_link(Store *store, const char *token, int64_t now, GError **error)
{
    return find(store, LINK, token, now, error);
}

Session *session_find(Store *store, const char *token, int64_t now, GError **error)
{
    return find(store, SESSION, token, now, error);
}

bool session_link_lives(Store *store, const Mailbox *address, int64_t now, bool *lives, GError **error)
{
    return query_exists(store, error, lives,
                        "SELECT key FROM session WHERE folded = $1 AND kind = $2 AND expires_at > $3",
                        TEXT(address->folded), INTEGER(LINK), INTEGER(now));
}

/* The link goes first: of two who use it at once, one removes a row. */
bool session_begin(Store *store, const char *link, const char *token, const char *agent, int64_t now, GError **error)
{
    g_auto(Write) write = write_begin(store, WRITE_PEOPLE, error);
    if (!write.begun)
        return false;
    g_autoptr(Session) found = find(store, LINK, link, now, error);
    if (!found || !query_change_one(store, error, fail(error, FAIL_MISSING, "the link was used by another one"),
                                    "DELETE FROM session WHERE key = $1", INTEGER(found->key)))
        return false;
    const Session session = {
        .address = found->address, .agent = (char *)(uintptr_t)agent, .made_at = now, .expires_at = now + SESSION_LIFE};
    return query_run(store, error, NULL, "DELETE FROM session WHERE folded = $1 AND kind = 0",
                     TEXT(found->address->folded)) &&
           add(store, SESSION, &session, token, error) && write_end(&write, error);
}

bool session_touch(Store *store, int64_t key, int64_t now, GError **error)
{
    return STORE_WRITE_PEOPLE(store, error,
                              query_run(store, error, NULL,
                                        "UPDATE session SET seen_at = $2, expires_at = $3 WHERE key = $1", INTEGER(key),
                                        INTEGER(now), INTEGER(now + SESSION_LIFE)));
}

GPtrArray *session_all(Store *store, const Mailbox *address, int64_t now, GError **error)
{
    g_autoptr(Query) query = query_open(store, error,
                                        "SELECT " COLUMNS " FROM session WHERE folded = $1 AND kind = 1 "
                                        "AND expires_at > $2 ORDER BY seen_at DESC, key",
                                        TEXT(address->folded), INTEGER(now));
    return row_all(query, Session, session_row, session_free, error);
}

bool session_end(Store *store, const Mailbox *address, int64_t key, int64_t kept, GError **error)
{
    return STORE_WRITE_PEOPLE(store, error,
                              query_run(store, error, NULL,
                                        "DELETE FROM session WHERE folded = $1 AND kind = 1 AND key <> $3 "
                                        "AND (key = $2 OR $2 = 0)",
                                        TEXT(address->folded), INTEGER(key), INTEGER(kept)));
}

bool session_expire(Store *store, int64_t now, GError **error)
{
    return STORE_WRITE_PEOPLE(
        store, error, query_run(store, error, NULL, "DELETE FROM session WHERE expires_at <= $1", INTEGER(now)));
}
