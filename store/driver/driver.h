/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Declare the interface between the store and a database: each kind of database has a StoreDriver, a table of
 * functions. A function has the meaning, and the errors, of the store_ function in its comment. For this folder only;
 * README.md says what a driver must keep.
 */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum ValueType { VALUE_INTEGER, VALUE_TEXT, VALUE_BLOB } ValueType;

/* A parameter. It has its type also where it is NULL, since some databases want to know the types before the values.
 * Memory is borrowed until the query ends. */
typedef struct Value {
    ValueType type;
    bool null;
    int64_t integer;
    const void *data;
    size_t length;
} Value;

/* For parameters: NULL text is NULL; INTEGER_OR_NULL takes -1 as NULL. */
#define INTEGER(x) ((Value){.type = VALUE_INTEGER, .integer = (int64_t)(x)})
#define INTEGER_OR_NULL(x) ((Value){.type = VALUE_INTEGER, .null = (x) < 0, .integer = (int64_t)(x)})
#define TEXT(x) store_text(x)
#define BLOB(x, n) ((Value){.type = VALUE_BLOB, .data = (x), .length = (n)})
Value store_text(const char *text);

typedef enum Step { STEP_FAILED = -1, STEP_DONE, STEP_ROW } Step;

int64_t store_opening_deadline(void); /* what store_set_opening_deadline() has set */

/* One file a driver. Statements belong to the connection that made them. */
typedef struct StoreDriver {
    const char *name;
    const char *setting; /* of [store], that says where the database is */
    /* Return `where` as people may see it, without a password; g_free(). FAIL_CONFIG: it names no such place. */
    char *(*shown)(const char *where, GError **error);
    /* Connect to the database. With create, make what is missing, but not the tables. */
    void *(*open)(const char *where, bool create, GError **error);
    void (*close)(void *connection);
    bool (*find)(const char *where, GError **error);         /* store_find() */
    bool (*present)(void *connection, GError **error);       /* store_present() */
    bool (*reachable)(void *connection);                     /* store_reachable(); NULL: there is no server */
    /* Append a sentence (owned) to faults for each fault that reading all of the database finds. */
    bool (*verify)(void *connection, GPtrArray *faults, GError **error);
    bool (*backup)(void *connection, const char *to, GError **error); /* store_backup() */
    bool (*pin)(void *connection, GError **error);                    /* store_pin(); NULL: cannot */
    bool (*size)(void *connection, int64_t *bytes, GError **error);   /* store_size() */
    bool (*compact)(void *connection, GError **error);                /* store_compact() */
    bool (*give_back)(void *connection, bool *more, GError **error);  /* one portion of store_give_back() */
    bool (*script)(void *connection, const char *sql, GError **error); /* statements without parameters or results */
    /* The values tell the types of the parameters, the same at each use of this sql. A statement that is no stream may
     * read its whole result into memory at the first step; a stream may not, and others are used beside it. */
    void *(*prepare)(void *connection, const char *sql, const Value *values, size_t count, bool stream, GError **error);
    void (*finalize)(void *statement);
    bool (*bind)(void *statement, int parameter, const Value *value, GError **error); /* from 1 */
    Step (*step)(void *statement, GError **error);
    /* Send a statement that was not stepped yet and go on without its outcome: a failure dooms the transaction and is
     * told by a later call. NULL: cannot. */
    bool (*later)(void *statement, GError **error);
    /* Run statements that only read, none of which was stepped yet, outside of a transaction and in one round trip;
     * step() then gives their rows. One that failed, or lost its connection, is run by its own step() as if it had not
     * been asked here. NULL: there is no round trip to be saved. */
    void (*together)(void *const *statements, size_t count);
    void (*reset)(void *statement);
    bool (*is_null)(void *statement, int column); /* from 0 */
    int64_t (*integer)(void *statement, int column);
    const void *(*octets)(void *statement, int column, size_t *length); /* text is ended by a zero byte */
    /* query_columns() and query_column() of store/store_internal.h */
    int (*columns)(void *statement);
    const char *(*column)(void *statement, int column, ValueType *type);
    int64_t (*changed)(void *connection);                               /* rows changed by the last statement */
    int64_t (*changed_ever)(void *connection);                          /* only ever compared */
    bool (*leave_sync)(void *connection, int *fd, GError **error);      /* store_leave_sync(); NULL: cannot */
    /* With true, commits wait for the disk in spite of leave_sync() from the next transaction on. */
    bool (*wait)(void *connection, bool wait, GError **error); /* NULL where leave_sync is */
    bool (*begin)(void *connection, GError **error); /* a transaction that will not fail later for want of a lock */
    /* One of store_begin_lists(), for these keys in ascending order, each once; with people, one of
     * store_begin_people(), which takes the lock of lock_site() at once. It may travel with the first statement
     * of the transaction, which then tells that a lock could not be had; the locks come before that statement reads.
     * NULL: begin() does it. */
    bool (*begin_lists)(void *connection, const int64_t *lists, size_t count, bool people, GError **error);
    /* In a transaction of begin_lists(), wait for all others that called this, until this one ends or what was done
     * since a savepoint is undone; a failure may be told later. NULL where begin_lists is. */
    bool (*lock_site)(void *connection, GError **error);
    bool (*commit)(void *connection, GError **error);
    /* After a commit that failed: may it have been made? NULL: never. */
    bool (*commit_unknown)(void *connection);
    void (*rollback)(void *connection);
    bool (*in_transaction)(void *connection); /* false after the database gave one up */
    bool (*is_sound)(void *connection);       /* in a transaction that can still be committed */
    /* A key that was never handed out, by whatever connection: clock_unique() << 11 with random bits below where that
     * is greater than all before. Inside a transaction, whose rollback may give it back. */
    bool (*key)(void *connection, int64_t *key, GError **error);
    /* The database's own clock, the same for all hosts; microseconds since 1970. NULL: that of this host. */
    bool (*clock)(void *connection, int64_t *now, GError **error);
    /* Tell which server it is (store/hosts/generation.h). *system (g_free()) is NULL and *timeline 0 where the server
     * does not say. NULL: there is no server. */
    bool (*system)(void *connection, char **system, int64_t *timeline, GError **error);
    /* host_waits_for_standby(); NULL: there is no server. */
    bool (*standby)(void *connection, int64_t *since, GError **error);
    /* store_connections(); NULL: there is no server. */
    bool (*connections)(void *connection, int64_t *allowed, GError **error);
    bool (*keys_above)(void *connection, int64_t key, GError **error); /* hand out only greater ones from now on */
    /* store_set_deadline(); NULL: there is no server. */
    void (*deadline)(void *connection, int64_t us);
    void (*expect_bulk)(void *connection); /* store_expect_bulk(); NULL: nothing is to be done */
    /* Check that a database is empty or ours, and set *has_schema: is its table of migrations there? FAIL_CONFIG: it is
     * another program's. */
    bool (*inspect)(void *connection, bool *has_schema, GError **error);
    /* Was the database found damaged, so that no later try can succeed? NULL: it cannot tell. */
    bool (*damaged)(void *connection);
    /* For schema/, and for the few statements that are not the same for all (migrate_words()): pairs "@word@", text;
     * NULL ends. "@clock@" is what clock() asks for, or NULL. */
    const char *const *words;
} StoreDriver;

extern const StoreDriver store_sqlite, store_pgsql;
/* The drivers below are for other databases than the site's. store_scratch: SQLite in a file without a name
 * (scratch.h). */
extern const StoreDriver store_scratch;
/* The index of an archive, by SQLite (archive_index.h). */
extern const StoreDriver store_archive;
/* A file of SQLite that another program keeps; only for reading (foreign.h). */
extern const StoreDriver store_foreign;
/* A database of MariaDB or MySQL; only for reading, so it has no other functions (foreign.h). */
extern const StoreDriver store_mysql;

/* Return the driver of the site's database with that name. NULL with FAIL_CONFIG: there is none. */
const StoreDriver *store_driver_find(const char *name, GError **error);

/* Set FAIL_MISSING, with a message that says where, what is wrong ("is empty") and what a person can do. Return
 * false. */
bool store_fail_missing(const char *where, const char *what, GError **error);
