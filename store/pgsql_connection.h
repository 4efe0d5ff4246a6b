/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * A connection to PostgreSQL, for store_pgsql.c alone: how it is made, lost and made anew, and how the server's faults
 * become errors.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/libpq.h"

#define PGSQL_LOCK_WAIT "10s"
/* Whatever the database or role has for a default: at another level a transaction would go on seeing what was there
 * before it waited for its lock. */
#define PGSQL_LEVEL "BEGIN ISOLATION LEVEL READ COMMITTED"
#define PGSQL_KEYS 1024 /* the most that a round trip brings */

typedef struct PgsqlConnection {
    PGconn *server; /* NULL before the first connection, and after one that is of no more use */
    char *where;
    char *shown;         /* pgsql_shown() */
    int64_t lock;          /* of the schema, for pg_advisory_xact_lock(); the next 2^31 - 1 are those of its lists */
    unsigned generation; /* counts connections to the server: what the one before prepared is gone */
    unsigned names;      /* handed out, for statements and cursors */
    bool pooled;         /* a server process is ours only during a transaction */
    unsigned streams;    /* open ones that read in a transaction of their own */
    unsigned waiting;    /* statements sent in pipeline mode, whose outcome is not known yet */
    GPtrArray *opening;  /* texts that begin a transaction and were not sent yet; waiting is 0 while there are any */
    unsigned parted;     /* how many of those that wait stand before the last text on a savepoint, with it */
    bool spoiled;        /* a part of the transaction that is over failed, so that no savepoint undoes it */
    bool conflict;       /* another transaction won over what was collected last */
    GHashTable *prepared; /* the name of each text that this connection to the server has prepared */
    int64_t changed, changed_ever;
    int64_t keys[PGSQL_KEYS]; /* of this transaction, that were not used yet */
    unsigned keys_used, keys_had;
    int64_t retry_at;   /* clock_monotonic() */
    int64_t away_since; /* when the server was first missed; 0: it answers */
    char *refusal;      /* of the last attempt to connect */
} PgsqlConnection;

/* StoreDriver's. */
char *pgsql_shown(const char *where, GError **error);

/* NULL with error. */
PgsqlConnection *pgsql_connect(const char *where, GError **error);
void pgsql_disconnect(PgsqlConnection *self);

/* Outside a transaction: see that there is a server, and connect anew where the connection was lost. FAIL_LATER. */
bool pgsql_connected(PgsqlConnection *self, GError **error);
/* Learn anew what the server is like, after its schema was made. */
bool pgsql_look_around(PgsqlConnection *self, GError **error);

bool pgsql_succeeded(const PGresult *result);
/* Did another transaction win (serialization failure, deadlock)? Then the same may succeed when it is done again. */
bool pgsql_is_conflict(const PGresult *result);
#define PGSQL_CONFLICT_TRIES 5
/* Set the error that a result, which is freed, or the connection tells of. Returns false. */
bool pgsql_failed(PgsqlConnection *self, PGresult *result, GError **error);

/* Run a statement, or several, without parameters. */
bool pgsql_run(PgsqlConnection *self, const char *sql, GError **error);
/* The same; *text is the first column of the first row, g_free(), or NULL for NULL or no row. */
bool pgsql_text(PgsqlConnection *self, const char *sql, char **text, GError **error);

/* Run texts that stand in opening, and after them what send adds (NULL: nothing), in one round trip, and return the
 * result of the last. Nothing was done before them, so all is done again where another transaction won. */
typedef bool PgsqlSend(void *data, GError **error);
PGresult *pgsql_open_transaction(PgsqlConnection *self, PgsqlSend *send, void *data, GError **error);

/* Note in changed and changed_ever how many rows the command of this result changed. */
void pgsql_count_changes(PgsqlConnection *self, PGresult *result);
/* Send statements in pipeline mode, without waiting for what becomes of them: pgsql_may_send(), then each with
 * pgsql_sent(self, PQsend...() == 1, error). */
bool pgsql_may_send(PgsqlConnection *self, GError **error);
bool pgsql_sent(PgsqlConnection *self, bool sent, GError **error);
bool pgsql_send_text(PgsqlConnection *self, const char *sql, GError **error);
/* Wait for all statements that were sent, at least one, and return the result of the last one, which the caller
 * clears. NULL with error: one of them failed, and those behind it were not run. It is FAIL_LATER where that was not
 * the last. */
PGresult *pgsql_collect(PgsqlConnection *self, GError **error);
/* Wait for all that was sent, if anything was, and begin a transaction that stands in opening. False: one failed. */
bool pgsql_settle(PgsqlConnection *self, GError **error);

/* Collect the answer to each statement, in place of pgsql_collect(): call pgsql_sync() after the last was sent, then
 * pgsql_next_answer() once for each (the caller clears it; NULL: none came), then pgsql_end_pipeline(). */
bool pgsql_sync(PgsqlConnection *self);
PGresult *pgsql_next_answer(PgsqlConnection *self);
void pgsql_end_pipeline(PgsqlConnection *self);
