/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Make a connection to PostgreSQL, notice that it was lost, make it anew, run statements over it, and turn the server's
 * faults into errors; begin and end transactions, with their locks and keys. For store_pgsql.c alone.
 *
 * Errors: FAIL_LATER: the server cannot be reached, or a statement failed. FAIL_EXISTS: a statement would have made a
 * second row with the same key. FAIL_CONFIG: the server or the database is of no use for Listrunner.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/driver/libpq.h"
#include "store/driver/pgsql_reach.h"
#include "store/hosts/generation.h"

#define PGSQL_LOCK_LOOK "3s"  /* for a lock, before it is told who has it, */
#define PGSQL_LOCK_WAIT "10s" /* and once more as long as this */
#define PGSQL_IDLE "5s"       /* in a transaction, before the server ends it, */
#define PGSQL_BULK_IDLE "60s" /* and in one of pgsql_expect_bulk() */
#define PGSQL_OPENING_WAIT 1  /* the place in PgsqlConnection.opening of the text with PGSQL_LOCK_LOOK */
/* The text that begins a transaction, whatever level the database or role has for a default. At another level a
 * transaction would go on seeing what was there before it waited for its lock. */
#define PGSQL_LEVEL "BEGIN ISOLATION LEVEL READ COMMITTED"
#define PGSQL_KEYS 1024 /* the most keys of new rows that a round trip brings */

typedef struct PgsqlConnection {
    PGconn *server; /* NULL before the first connection, and after one that is of no more use */
    PgsqlReach *reach;
    char *where;    /* the connection string */
    char *shown;         /* pgsql_shown() */
    int64_t lock;        /* of the schema, for pg_advisory_xact_lock(); the next 2^31 - 1 are those of its lists */
    unsigned generation; /* counts connections to the server: what the one before prepared is gone */
    unsigned names;      /* handed out, for statements and cursors */
    bool pooled;         /* a server process is ours only during a transaction */
    unsigned streams;    /* open ones that read in a transaction of their own */
    unsigned waiting;    /* statements sent in pipeline mode, whose outcome is not known yet */
    GPtrArray *opening;  /* texts that begin a transaction and were not sent yet; waiting is 0 while there are any */
    unsigned parted;     /* of `waiting`, those up to the last that begins or ends a savepoint; 0: none does */
    bool spoiled;        /* a statement failed before the last savepoint, so going back to that does not undo it */
    bool conflict;       /* another transaction won over what was collected last */
    bool ended;          /* the server said last that it ends the connection, */
    bool undone;         /* or has ended it because its transaction stood still */
    bool locked_out;     /* a lock could not be had in time, and it was not told who has it */
    bool told_holder;    /* the master was told who has it */
    bool tells;          /* the master was told something that is not over */
    int64_t waits_since; /* clock_now() of the first wait for a lock that was in vain; 0: there was none */
    bool bulk;           /* transactions may stand still */
    bool writes;         /* from the begin of a transaction that has locks to its end */
    int64_t deadline;    /* for an answer, in microseconds; 0: none */
    GHashTable *prepared; /* the name of each text that this connection to the server has prepared */
    int64_t changed, changed_ever;
    int64_t keys[PGSQL_KEYS]; /* of this transaction, that were not used yet */
    unsigned keys_used, keys_had;
    bool was_there;     /* the server, once */
    int64_t began;      /* the attempt to reach it, clock_monotonic() */
    int64_t retry_at;   /* clock_monotonic() */
    bool passed_over;   /* an older server stands before this one in the URL, and a notice says so */
    int64_t stalled_at, stall_pause;
    int64_t away_since; /* when the server was first missed; 0: it answers */
    char *refusal;      /* of the last attempt to connect */
} PgsqlConnection;

/* Do StoreDriver.shown (store/driver/driver.h). FAIL_CONFIG: where is no connection string. */
char *pgsql_shown(const char *where, GError **error);

/* Connect to the server at `where`, a connection string; pgsql_disconnect(). NULL with error: that failed. */
PgsqlConnection *pgsql_connect(const char *where, GError **error);
void pgsql_disconnect(PgsqlConnection *self);

/* See that there is a server, and connect anew where the connection was lost. Call it outside of transactions. A server
 * that did not answer is not tried again for 1 to 30 s: until then the function fails at once. */
bool pgsql_connected(PgsqlConnection *self, GError **error);
/* Read what has to be known of the server. pgsql_connect() does so; do it again after the schema was made. */
bool pgsql_look_around(PgsqlConnection *self, GError **error);

/* Read how far the database behind this connection has come, as far as the server says. row: of the table counter;
 * NULL: the count is not asked for. False: the server cannot be asked now. */
bool pgsql_read_generation(PgsqlConnection *self, const char *row, Generation *found, GError **error);

/* Did the statement of this result succeed? */
bool pgsql_succeeded(const PGresult *result);
/* Did it fail because another transaction won (serialization failure, deadlock)? It may succeed when done again. */
bool pgsql_is_conflict(const PGresult *result);
#define PGSQL_CONFLICT_TRIES 5
/* Set *error to what a failed result (NULL: the connection) tells, clear the result, and return false. */
bool pgsql_failed(PgsqlConnection *self, PGresult *result, GError **error);

/* Wait for the answer to what was sent outside of a pipeline (sent is 1), and return it, which the caller clears; NULL:
 * the connection failed, or the answer did not come before the deadline. Then the connection was dropped, and whether
 * the statement was done is not known. pgsql_exec() sends a text, or several, first. */
PGresult *pgsql_answer(PgsqlConnection *self, int sent);
PGresult *pgsql_exec(PgsqlConnection *self, const char *sql);

/* Run a statement, or several, without parameters. */
bool pgsql_run(PgsqlConnection *self, const char *sql, GError **error);
/* Run a statement without parameters. *text (g_free()) is the first column of its first row, or NULL for NULL or no
 * row. */
bool pgsql_text(PgsqlConnection *self, const char *sql, char **text, GError **error);

/* Run the texts that stand in opening, and after them the statements that send() sends (NULL: none), in one round trip,
 * and empty opening. Return the result of the last, which the caller clears; NULL with error. Nothing was done in the
 * transaction before, so all is done again, at most PGSQL_CONFLICT_TRIES times, where another transaction won. */
typedef bool PgsqlSend(void *data, GError **error);
PGresult *pgsql_open_transaction(PgsqlConnection *self, PgsqlSend *send, void *data, GError **error);
/* Tell the log and the master which client holds the locks of this schema longest. Call it outside of transactions,
 * after one of them could not be had in time. */
void pgsql_tell_holder(PgsqlConnection *self);

/* Note in changed and changed_ever how many rows the command of this result changed. */
void pgsql_count_changes(PgsqlConnection *self, PGresult *result);
/* Enter pipeline mode, in which statements are sent without waiting for their results. Call it before each
 * pgsql_sent(). */
bool pgsql_may_send(PgsqlConnection *self, GError **error);
/* Count a statement as sent: call it as pgsql_sent(self, PQsend...() == 1, error). False: it was not sent. */
bool pgsql_sent(PgsqlConnection *self, bool sent, GError **error);
/* Send a statement without parameters, and count it. Call pgsql_may_send() before. */
bool pgsql_send_text(PgsqlConnection *self, const char *sql, GError **error);
/* Wait for all statements that were sent, at least one, and return the result of the last one, which the caller
 * clears. NULL with error: one of them failed, and those behind it were not run. The code is FAIL_LATER where the one
 * that failed is not the last. */
PGresult *pgsql_collect(PgsqlConnection *self, GError **error);
/* Wait for all that was sent, if anything was, or begin the transaction that stands in opening. False: a statement
 * failed. */
bool pgsql_settle(PgsqlConnection *self, GError **error);

/* Collect the answer to each statement, in place of pgsql_collect(): call pgsql_sync() after the last was sent (false:
 * the connection failed), then pgsql_next_answer() once for each (the caller clears it; NULL: none came). At last call
 * pgsql_end_pipeline(), also after a failure; it drops a connection that is of no more use. */
bool pgsql_sync(PgsqlConnection *self);
PGresult *pgsql_next_answer(PgsqlConnection *self);
void pgsql_end_pipeline(PgsqlConnection *self);

/* ---- transactions ---- */

/* Functions of StoreDriver; driver.h says what each does. */
bool pgsql_is_sound(void *connection);
bool pgsql_in_transaction(void *connection);
bool pgsql_begin(void *connection, GError **error);
bool pgsql_begin_lists(void *connection, const int64_t *lists, size_t count, bool people, GError **error);
bool pgsql_lock_site(void *connection, GError **error);
bool pgsql_commit(void *connection, GError **error);
bool pgsql_commit_unknown(void *connection);
void pgsql_rollback(void *connection);
void pgsql_expect_bulk(void *connection);
bool pgsql_key(void *connection, int64_t *key, GError **error);
bool pgsql_keys_above(void *connection, int64_t key, GError **error);

/* Before a statement with parameters is sent without waiting: begin the transaction if it is not yet, and let no more
 * than a few hundred be on their way. */
bool pgsql_room(PgsqlConnection *self, GError **error);
/* Send a text without waiting, or let it travel with the begin of the transaction. */
bool pgsql_later_text(PgsqlConnection *self, const char *sql, GError **error);
