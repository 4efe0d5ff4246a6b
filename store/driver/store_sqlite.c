/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/driver/store_access.h"
#include "store/store_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/fs.h"

#define BUSY_TIMEOUT_MS 10000
#define APPLICATION_ID 0x4c697374 /* "List", in the file's head */
#define ARCHIVE_ID 0x4c417263     /* "LArc", in that of an archive's index */
#define CACHE_KIB 8192
/* Of one who writes rows without number. They lie all over the file, so each unit writes many of its pages anew. A
 * larger cache does not make that fewer, a longer log does: only when it is worked off are they written to the file. */
#define BULK_CACHE_KIB 32768
#define BULK_LOG_PAGES 131072
#define SCRATCH_CACHE_KIB 32768
#define FOREIGN_CACHE_KIB 8192
#define WAL_KEPT_OCTETS 67108864
#define FREE_PAGES_KEPT 256      /* of 4 KiB; in a large file a sixteenth of all */
#define FREE_PAGES_PORTION 1024  /* that one transaction gives back */

typedef struct SqliteConnection {
    sqlite3 *database;
    bool keyed;            /* keys were made in this transaction: nobody else writes before it ends, */
    int64_t last_key;      /* so the last of them is written once, with the commit */
    int log;               /* the write-ahead log, where its sync is left to the caller; else -1 */
    dev_t device;          /* of the file that was opened */
    ino_t file;
} SqliteConnection;

/* The last connection of this thread whose file was found damaged. */
static _Thread_local const sqlite3 *damaged;

static bool failed_at(const char *where, sqlite3 *database, int result, GError **error)
{
    const char *advice = "";
    FailCode code = FAIL_LATER;
    int constraint = sqlite3_extended_errcode(database);
    switch (result & 0xff) {
    case SQLITE_BUSY:
        advice = " (another process has been writing for 10 s)";
        break;
    case SQLITE_CORRUPT:
        advice = " (restore it, or mend it with the .recover command of sqlite3)";
        damaged = database;
        break;
    case SQLITE_NOTADB:
        code = FAIL_CONFIG;
        damaged = database;
        break;
    case SQLITE_CONSTRAINT: /* others than those of a key say that the row does not fit what is there now: may pass */
        if (constraint == SQLITE_CONSTRAINT_UNIQUE || constraint == SQLITE_CONSTRAINT_PRIMARYKEY ||
            constraint == SQLITE_CONSTRAINT_ROWID)
            code = FAIL_EXISTS;
        break;
    default:
        break;
    }
    bool refused = (result & 0xff) == SQLITE_READONLY || (result & 0xff) == SQLITE_CANTOPEN;
    g_autofree char *denied = refused ? store_access_denied(where) : NULL;
    return fail(error, code, "%s: %s%s%s", where, sqlite3_errmsg(database), denied ? ": " : advice,
                denied ? denied : "");
}

static bool failed(sqlite3 *database, int result, GError **error)
{
    const char *file = sqlite3_db_filename(database, "main");
    return failed_at(file && *file ? file : "database", database, result, error);
}

static void sqlite_close(void *connection)
{
    SqliteConnection *self = connection;
    if (damaged == self->database)
        damaged = NULL;
    sqlite3_close_v2(self->database);
    if (self->log >= 0)
        close(self->log);
    g_free(self);
}

/* Creates the file ourselves: not readable by others (its companions take
 * after it), and durable before anything relies on it. */
static bool create_file(const char *where, GError **error)
{
    auto_fd file = open(where, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
    if (file < 0 && errno == EEXIST)
        return true;
    if (file < 0)
        return fail_errno(error, errno == ENOENT ? FAIL_MISSING : FAIL_LATER, "create %s", where);
    g_autofree char *above = g_path_get_dirname(where);
    auto_fd directory = fs_open_dir(AT_FDCWD, above, false, error);
    return directory >= 0 && fs_sync_dir(directory, error);
}

static bool script_once(sqlite3 *database, const char *sql, GError **error)
{
    int result = sqlite3_exec(database, sql, NULL, NULL, NULL);
    return result == SQLITE_OK || failed(database, result, error);
}

static bool sqlite_script(void *connection, const char *sql, GError **error)
{
    return script_once(((SqliteConnection *)connection)->database, sql, error);
}

/* Changing to WAL does not honour the busy timeout. */
static bool use_wal(sqlite3 *database, GError **error)
{
    int64_t deadline = clock_monotonic() + BUSY_TIMEOUT_MS * INT64_C(1000);
    for (;;) {
        int result = sqlite3_exec(database, "PRAGMA journal_mode = WAL", NULL, NULL, NULL);
        if (result == SQLITE_OK)
            return true;
        if ((result & 0xff) != SQLITE_BUSY || clock_monotonic() > deadline)
            return failed(database, result, error);
        usleep(5000);
    }
}

static char *sqlite_shown(const char *where, GError **error)
{
    (void)error;
    return g_strdup(where);
}

static bool sqlite_find(const char *where, GError **error)
{
    struct stat status;
    if (stat(where, &status) == 0)
        return status.st_size > 0 || store_fail_missing(where, "is empty", error);
    if (errno == ENOENT)
        return store_fail_missing(where, "is not there", error);
    g_autofree char *denied = errno == EACCES ? store_access_denied(where) : NULL;
    return denied ? fail(error, FAIL_LATER, "%s: %s", where, denied) : fail_errno(error, FAIL_LATER, "%s", where);
}

static bool sqlite_present(void *connection, GError **error)
{
    const SqliteConnection *self = connection;
    struct stat status;
    const char *where = sqlite3_db_filename(self->database, "main");
    if (stat(where, &status) != 0)
        return fail_errno(error, FAIL_LATER, "the database %s is gone", where);
    return (status.st_dev == self->device && status.st_ino == self->file) ||
           fail(error, FAIL_LATER, "the database %s was replaced by another file", where);
}

static bool number_of(sqlite3 *database, const char *sql, int64_t *number, GError **error)
{
    sqlite3_stmt *statement = NULL;
    int result = sqlite3_prepare_v2(database, sql, -1, &statement, NULL);
    if (result == SQLITE_OK)
        result = sqlite3_step(statement);
    if (result == SQLITE_ROW)
        *number = sqlite3_column_int64(statement, 0);
    else
        failed(database, result, error);
    sqlite3_finalize(statement);
    return result == SQLITE_ROW;
}

static void *sqlite_open(const char *where, bool create, GError **error)
{
    if (create ? !create_file(where, error) : !sqlite_find(where, error))
        return NULL;
    /* The file is not opened here: closing it would end the locks that another connection of this process may have. */
    struct stat status;
    if (stat(where, &status) != 0) {
        fail_errno(error, FAIL_LATER, "%s", where);
        return NULL;
    }
    SqliteConnection *self = g_new0(SqliteConnection, 1);
    *self = (SqliteConnection){.log = -1, .device = status.st_dev, .file = status.st_ino};
    int result = sqlite3_open_v2(where, &self->database, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    bool ok = result == SQLITE_OK;
    if (!ok && self->database)
        failed_at(where, self->database, result, error);
    else if (!ok)
        fail(error, FAIL_LATER, "%s: out of memory", where);
    if (ok) {
        /* The log and its index stay the same files for processes that may use no others (base/confine.h). */
        int keep_log = 1;
        sqlite3_file_control(self->database, "main", SQLITE_FCNTL_PERSIST_WAL, &keep_log);
        sqlite3_extended_result_codes(self->database, 1);
        sqlite3_busy_timeout(self->database, BUSY_TIMEOUT_MS);
        g_autofree char *settings =
            g_strdup_printf("PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA cache_size = -%d;"
                            "PRAGMA journal_size_limit = %d; PRAGMA temp_store = FILE;",
                            CACHE_KIB, WAL_KEPT_OCTETS);
        /* A database that is being created is to give pages back. That counts only before anything was written, and in
         * WAL mode the first page is. One that has pages is left alone: setting it again would be a write, for which an
         * open waits while others write, and fails on a full disk. */
        int64_t pages;
        ok = number_of(self->database, "PRAGMA page_count", &pages, error) &&
             (pages > 0 || script_once(self->database, "PRAGMA auto_vacuum = INCREMENTAL", error)) &&
             use_wal(self->database, error) && script_once(self->database, settings, error);
    }
    if (!ok) {
        sqlite_close(self);
        return NULL;
    }
    return self;
}

/* SQLite numbers $1, $2 by where they stand in the text; ?1, ?2 by their
 * number, as other databases do with $. */
static void *sqlite_prepare(void *connection, const char *sql, const Value *values, size_t count, bool stream,
                            GError **error)
{
    (void)values, (void)count, (void)stream; /* SQLite asks for no types, and each of its statements is a stream */
    sqlite3 *database = ((SqliteConnection *)connection)->database;
    sqlite3_stmt *statement = NULL;
    g_autofree char *numbered = g_strdelimit(g_strdup(sql), "$", '?');
    int result = sqlite3_prepare_v3(database, numbered, -1, SQLITE_PREPARE_PERSISTENT, &statement, NULL);
    if (result != SQLITE_OK) {
        failed(database, result, error);
        return NULL;
    }
    return statement;
}

static void sqlite_finalize(void *statement)
{
    sqlite3_finalize(statement);
}

static int bind_value(sqlite3_stmt *statement, int index, const Value *value)
{
    if (value->null)
        return sqlite3_bind_null(statement, index);
    switch (value->type) {
    case VALUE_INTEGER:
        return sqlite3_bind_int64(statement, index, value->integer);
    case VALUE_TEXT:
        return sqlite3_bind_text64(statement, index, value->data, value->length, SQLITE_STATIC, SQLITE_UTF8);
    default:
        return value->length ? sqlite3_bind_blob64(statement, index, value->data, value->length, SQLITE_STATIC)
                             : sqlite3_bind_zeroblob(statement, index, 0);
    }
}

static bool sqlite_bind(void *statement, int parameter, const Value *value, GError **error)
{
    int result = bind_value(statement, parameter, value);
    return result == SQLITE_OK || failed(sqlite3_db_handle(statement), result, error);
}

static Step sqlite_step(void *statement, GError **error)
{
    int result = sqlite3_step(statement);
    if (result == SQLITE_ROW)
        return STEP_ROW;
    if (result == SQLITE_DONE)
        return STEP_DONE;
    failed(sqlite3_db_handle(statement), result, error);
    return STEP_FAILED;
}

/* The result repeats what the last step said. */
static void sqlite_reset(void *statement)
{
    sqlite3_reset(statement);
    sqlite3_clear_bindings(statement);
}

static bool sqlite_is_null(void *statement, int column)
{
    return sqlite3_column_type(statement, column) == SQLITE_NULL;
}

static int64_t sqlite_integer(void *statement, int column)
{
    return sqlite3_column_int64(statement, column);
}

static const void *sqlite_octets(void *statement, int column, size_t *length)
{
    bool blob = sqlite3_column_type(statement, column) == SQLITE_BLOB;
    const void *octets = blob ? sqlite3_column_blob(statement, column) : sqlite3_column_text(statement, column);
    if (length)
        *length = (size_t)sqlite3_column_bytes(statement, column);
    return octets;
}

static int sqlite_columns(void *statement)
{
    return sqlite3_column_count(statement);
}

static const char *sqlite_column(void *statement, int column, ValueType *type)
{
    const char *declared = sqlite3_column_decltype(statement, column);
    *type = g_strcmp0(declared, "TEXT") == 0   ? VALUE_TEXT
            : g_strcmp0(declared, "BLOB") == 0 ? VALUE_BLOB
                                               : VALUE_INTEGER;
    return sqlite3_column_name(statement, column);
}

static int64_t sqlite_changed(void *connection)
{
    return sqlite3_changes64(((SqliteConnection *)connection)->database);
}

static int64_t sqlite_changed_ever(void *connection)
{
    return sqlite3_total_changes64(((SqliteConnection *)connection)->database);
}

static bool sqlite_in_transaction(void *connection)
{
    return !sqlite3_get_autocommit(((SqliteConnection *)connection)->database);
}

static bool sqlite_begin(void *connection, GError **error)
{
    ((SqliteConnection *)connection)->keyed = false;
    return sqlite_script(connection, "BEGIN IMMEDIATE", error);
}

static bool sqlite_commit(void *connection, GError **error)
{
    SqliteConnection *self = connection;
    g_autofree char *keep = g_strdup_printf("UPDATE last_key SET value = %" G_GINT64_FORMAT, self->last_key);
    return (!self->keyed || script_once(self->database, keep, error)) && script_once(self->database, "COMMIT", error);
}

static void sqlite_rollback(void *connection)
{
    sqlite_script(connection, "ROLLBACK", NULL);
}

static bool sqlite_key(void *connection, int64_t *key, GError **error)
{
    SqliteConnection *self = connection;
    if (!self->keyed && !number_of(self->database, "SELECT value FROM last_key", &self->last_key, error))
        return false;
    int64_t now = (int64_t)((uint64_t)clock_unique() << 11 | (g_random_int() & 0x7ff));
    *key = self->last_key = MAX(now, self->last_key + 1);
    self->keyed = true;
    return true;
}

static bool sqlite_keys_above(void *connection, int64_t key, GError **error)
{
    g_autofree char *raise = g_strdup_printf("UPDATE last_key SET value = max(value, %" G_GINT64_FORMAT ")", key);
    return sqlite_script(connection, raise, error);
}

/* A commit is in the log; with NORMAL, SQLite syncs that only before it moves
 * pages from it. The log stays the same file while we have the database open. */
static bool sqlite_leave_sync(void *connection, int *fd, GError **error)
{
    SqliteConnection *self = connection;
    int64_t tables;
    if (!number_of(self->database, "SELECT count(*) FROM sqlite_schema", &tables, error)) /* a read makes the log */
        return false;
    g_autofree char *path = g_strconcat(sqlite3_db_filename(self->database, "main"), "-wal", NULL);
    self->log = open(path, O_RDWR | O_CLOEXEC);
    if (self->log < 0)
        return fail_errno(error, FAIL_LATER, "open %s", path);
    *fd = self->log;
    return script_once(self->database, "PRAGMA synchronous = NORMAL", error);
}

/* SQLite syncs the log before it lets others see the commit. */
static bool sqlite_wait(void *connection, bool wait, GError **error)
{
    SqliteConnection *self = connection;
    return self->log < 0 ||
           script_once(self->database, wait ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL", error);
}

static bool inspect(sqlite3 *database, int64_t expected, bool *has_schema, GError **error)
{
    int64_t tables, ours, application;
    if (!number_of(database, "SELECT count(*) FROM sqlite_schema", &tables, error) ||
        !number_of(database, "SELECT count(*) FROM sqlite_schema WHERE name = 'schema_migration'", &ours, error) ||
        !number_of(database, "PRAGMA application_id", &application, error))
        return false;
    if (tables > 0 && (ours == 0 || application != expected))
        return fail(error, FAIL_CONFIG, "this SQLite database is not one of Listrunner's");
    *has_schema = ours > 0;
    return true;
}

static bool sqlite_inspect(void *connection, bool *has_schema, GError **error)
{
    return inspect(((SqliteConnection *)connection)->database, APPLICATION_ID, has_schema, error);
}

static bool add_rows(sqlite3 *database, const char *sql, GPtrArray *faults, GError **error)
{
    sqlite3_stmt *statement = NULL;
    int result = sqlite3_prepare_v2(database, sql, -1, &statement, NULL);
    while (result == SQLITE_OK || result == SQLITE_ROW) {
        result = sqlite3_step(statement);
        if (result == SQLITE_ROW)
            g_ptr_array_add(faults, g_strdup((const char *)sqlite3_column_text(statement, 0)));
    }
    if ((result & 0xff) == SQLITE_CORRUPT) { /* too bad to be read further, which is what was asked */
        g_ptr_array_add(faults, g_strdup(sqlite3_errmsg(database)));
        result = SQLITE_DONE;
    }
    if (result != SQLITE_DONE)
        failed(database, result, error);
    sqlite3_finalize(statement);
    return result == SQLITE_DONE;
}

static bool sqlite_verify(void *connection, GPtrArray *faults, GError **error)
{
    sqlite3 *database = ((SqliteConnection *)connection)->database;
    return add_rows(database, "SELECT * FROM pragma_integrity_check WHERE integrity_check <> 'ok'", faults, error) &&
           add_rows(database, "SELECT 'a row of ' || \"table\" || ' refers to a row of ' || parent || "
                    "' that is not there' FROM pragma_foreign_key_check", faults, error);
}

/* One step for all pages: a single read transaction, so what is copied is one moment, and writers go on. */
static bool copy_pages(sqlite3 *from, sqlite3 *to, GError **error)
{
    sqlite3_backup *backup = sqlite3_backup_init(to, "main", from, "main");
    if (!backup)
        return failed(to, sqlite3_errcode(to), error);
    int copied = sqlite3_backup_step(backup, -1), result = sqlite3_backup_finish(backup);
    if (!sqlite3_get_autocommit(from)) /* sqlite_pin() */
        sqlite3_exec(from, "ROLLBACK", NULL, NULL, NULL);
    if (result != SQLITE_OK)
        return failed(to, result, error);
    return copied == SQLITE_DONE || failed(from, copied, error); /* it alone tells of a lock */
}

static bool fill_backup(sqlite3 *from, const char *to, GError **error)
{
    sqlite3 *copy = NULL;
    int result = sqlite3_open_v2(to, &copy, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
    bool done = result == SQLITE_OK ? copy_pages(from, copy, error) : failed(copy, result, error);
    sqlite3_close_v2(copy);
    auto_fd file = done ? open(to, O_RDWR | O_CLOEXEC) : -1;
    return done && (file >= 0 || fail_errno(error, FAIL_LATER, "open %s", to)) && fs_sync_file(file, error);
}

/* Keep the state that a transaction has read once until it ends. */
static bool sqlite_pin(void *connection, GError **error)
{
    return script_once(((SqliteConnection *)connection)->database, "BEGIN; SELECT count(*) FROM schema_migration",
                       error);
}

static bool sqlite_backup(void *connection, const char *to, GError **error)
{
    auto_fd file = open(to, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
    if (file < 0)
        return fail_errno(error, errno == EEXIST ? FAIL_EXISTS : FAIL_LATER, "make %s", to);
    g_autofree char *above = g_path_get_dirname(to);
    auto_fd directory = fs_open_dir(AT_FDCWD, above, false, error);
    if (directory >= 0 && fill_backup(((SqliteConnection *)connection)->database, to, error) &&
        fs_sync_dir(directory, error))
        return true;
    unlink(to);
    return false;
}

static bool sqlite_size(void *connection, int64_t *bytes, GError **error)
{
    return number_of(((SqliteConnection *)connection)->database,
                     "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size", bytes, error);
}

static bool sqlite_compact(void *connection, GError **error)
{
    sqlite3 *database = ((SqliteConnection *)connection)->database;
    return script_once(database, "PRAGMA auto_vacuum = INCREMENTAL; VACUUM", error) &&
           script_once(database, "PRAGMA wal_checkpoint(TRUNCATE)", error);
}

/* A file that another program made, as one that repairs databases, cannot give pages back before it was compacted. What
 * is kept free is used again soon. */
static bool sqlite_give_back(void *connection, bool *more, GError **error)
{
    sqlite3 *database = ((SqliteConnection *)connection)->database;
    int64_t vacuum, pages, unused;
    if (!number_of(database, "PRAGMA auto_vacuum", &vacuum, error) ||
        !number_of(database, "PRAGMA page_count", &pages, error) ||
        !number_of(database, "PRAGMA freelist_count", &unused, error))
        return false;
    int64_t kept = MAX(FREE_PAGES_KEPT, pages / 16), portion = MIN(unused - kept, FREE_PAGES_PORTION);
    *more = vacuum == 2 && unused - kept > FREE_PAGES_PORTION;
    if (vacuum != 2 || portion <= 0)
        return true;
    g_autofree char *give = g_strdup_printf("PRAGMA incremental_vacuum(%" G_GINT64_FORMAT ")", portion);
    /* The file becomes shorter when its pages leave the log. */
    return script_once(database, give, error) &&
           (*more || script_once(database, "PRAGMA wal_checkpoint(PASSIVE)", error));
}

static const char *const words[] = {
    "@integer@",   "INTEGER",
    "@text@",      "TEXT",
    "@blob@",      "BLOB",
    "@table@",     "STRICT",
    "@clustered@", "STRICT, WITHOUT ROWID",
    "@clock@",     "NULL",
    "@mark@",      "PRAGMA application_id = 1281979252;",
    NULL,
};
G_STATIC_ASSERT(APPLICATION_ID == 1281979252);

/* ---- the index of an archive ---- */

static bool archive_inspect(void *connection, bool *has_schema, GError **error)
{
    return inspect(((SqliteConnection *)connection)->database, ARCHIVE_ID, has_schema, error);
}

static bool sqlite_damaged(void *connection)
{
    const SqliteConnection *self = connection;
    return damaged && damaged == self->database;
}

/* archive_score(): how well a row fits, in thousandths. The more often a phrase stands in a column, the better,
 * but each further time counts less. No other row is looked at, so the price does not depend on how many there are.
 * The columns are those of the table `word` in archive_index.c. */
static void score(const Fts5ExtensionApi *api, Fts5Context *context, sqlite3_context *result, int count,
                  sqlite3_value **values)
{
    static const int weights[] = {1000, 8000, 4000, 4000, 0};
    enum { COLUMNS = G_N_ELEMENTS(weights), PHRASES = 32, INSTANCES = 200 };
    int times[PHRASES][COLUMNS] = {0}, instances = 0, found = SQLITE_OK;
    (void)count, (void)values;
    found = api->xInstCount(context, &instances);
    for (int i = 0; found == SQLITE_OK && i < MIN(instances, INSTANCES); i++) {
        int phrase, column, offset;
        found = api->xInst(context, i, &phrase, &column, &offset);
        if (found == SQLITE_OK && phrase < PHRASES && column < COLUMNS)
            times[phrase][column]++;
    }
    int64_t sum = 0;
    for (int phrase = 0; phrase < PHRASES; phrase++)
        for (int column = 0; column < COLUMNS; column++)
            sum += (int64_t)weights[column] * times[phrase][column] / (times[phrase][column] + 1);
    if (found == SQLITE_OK)
        sqlite3_result_int64(result, sum);
    else
        sqlite3_result_error_code(result, found);
}

static bool add_score(sqlite3 *database, GError **error)
{
    fts5_api *api = NULL;
    sqlite3_stmt *statement = NULL;
    int result = sqlite3_prepare_v2(database, "SELECT fts5(?1)", -1, &statement, NULL);
    if (result == SQLITE_OK) {
        sqlite3_bind_pointer(statement, 1, &api, "fts5_api_ptr", NULL);
        sqlite3_step(statement);
    }
    sqlite3_finalize(statement);
    if (!api)
        return fail(error, FAIL_CONFIG, "this SQLite library has no FTS5");
    result = api->xCreateFunction(api, "archive_score", NULL, score, NULL);
    return result == SQLITE_OK || failed(database, result, error);
}

static void *archive_open(const char *where, bool create, GError **error)
{
    SqliteConnection *self = sqlite_open(where, create, error);
    if (self && !add_score(self->database, error)) {
        sqlite_close(self);
        return NULL;
    }
    return self;
}

/* Damages nothing where it fails: then it only takes longer. */
static void sqlite_expect_bulk(void *connection)
{
    sqlite3_exec(((SqliteConnection *)connection)->database, "PRAGMA cache_size = -" G_STRINGIFY(BULK_CACHE_KIB)
                 "; PRAGMA wal_autocheckpoint = " G_STRINGIFY(BULK_LOG_PAGES), NULL, NULL, NULL);
}

/* ---- a database without a name (scratch.h) ---- */

/* SQLite makes its file, which has no name from the beginning on, only when the cache is full. Nothing refers to rows
 * that were not copied, and nothing outlives the process, so it checks no references and keeps no journal on the
 * disk. */
static void *scratch_open(const char *where, bool create, GError **error)
{
    (void)create;
    SqliteConnection *self = g_new0(SqliteConnection, 1);
    self->log = -1;
    int result = sqlite3_open_v2(where, &self->database,
                                 SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
    bool ok = result == SQLITE_OK || failed_at("scratch database", self->database, result, error);
    if (ok)
        sqlite3_extended_result_codes(self->database, 1);
    if (ok && script_once(self->database,
                          "PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY; PRAGMA foreign_keys = OFF;"
                          "PRAGMA temp_store = FILE; PRAGMA cache_size = -" G_STRINGIFY(SCRATCH_CACHE_KIB),
                          error))
        return self;
    sqlite_close(self);
    return NULL;
}

static char *scratch_shown(const char *where, GError **error)
{
    (void)where, (void)error;
    return g_strdup("scratch database");
}

/* ---- databases of other programs (foreign.h) ---- */

static void *foreign_open_file(const char *where, bool create, GError **error)
{
    (void)create;
    SqliteConnection *self = g_new0(SqliteConnection, 1);
    self->log = -1;
    int result = sqlite3_open_v2(where, &self->database, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL);
    if (result == SQLITE_OK) {
        sqlite3_extended_result_codes(self->database, 1);
        sqlite3_busy_timeout(self->database, BUSY_TIMEOUT_MS);
        sqlite3_exec(self->database, "PRAGMA cache_size = -" G_STRINGIFY(FOREIGN_CACHE_KIB), NULL, NULL, NULL);
        return self;
    }
    struct stat status;
    if (stat(where, &status) != 0 && errno == ENOENT)
        fail(error, FAIL_MISSING, "there is no file %s", where);
    else
        failed_at(where, self->database, result, error);
    sqlite_close(self);
    return NULL;
}

/* Rows that refer to others which are gone are no damage here: who reads them names them. */
static bool foreign_verify_file(void *connection, GPtrArray *faults, GError **error)
{
    return add_rows(((SqliteConnection *)connection)->database,
                    "SELECT * FROM pragma_quick_check WHERE quick_check <> 'ok'", faults, error);
}

static const char *const foreign_words[] = {
    "@position@", "instr", "@since@", "", "@bytes@", "", "@number@", "INTEGER", NULL,
};

static const char *const archive_words[] = {
    "@integer@", "INTEGER", "@text@", "TEXT", "@table@", "STRICT", "@mark@", "PRAGMA application_id = 1279357539;",
    NULL,
};
G_STATIC_ASSERT(ARCHIVE_ID == 1279357539);

/* Both kinds of file share these functions. */
#define SQLITE_CALLS                                                                                                   \
    .setting = "path", .close = sqlite_close, .find = sqlite_find, .present = sqlite_present, .backup = sqlite_backup, \
    .pin = sqlite_pin, .size = sqlite_size, .compact = sqlite_compact, .give_back = sqlite_give_back,                  \
    .script = sqlite_script, .prepare = sqlite_prepare, .finalize = sqlite_finalize, .bind = sqlite_bind,              \
    .step = sqlite_step, .reset = sqlite_reset, .is_null = sqlite_is_null, .integer = sqlite_integer,                  \
    .octets = sqlite_octets, .columns = sqlite_columns, .column = sqlite_column, .changed = sqlite_changed,            \
    .changed_ever = sqlite_changed_ever, .leave_sync = sqlite_leave_sync, .wait = sqlite_wait, .begin = sqlite_begin,  \
    .commit = sqlite_commit, .rollback = sqlite_rollback, .in_transaction = sqlite_in_transaction,                     \
    .is_sound = sqlite_in_transaction, .damaged = sqlite_damaged

const StoreDriver store_archive = {.name = "archive",
                                   .shown = sqlite_shown,
                                   .open = archive_open,
                                   .inspect = archive_inspect,
                                   .verify = sqlite_verify,
                                   .words = archive_words,
                                   SQLITE_CALLS};

const StoreDriver store_foreign = {.name = "foreign",
                                   .shown = sqlite_shown,
                                   .open = foreign_open_file,
                                   .verify = foreign_verify_file,
                                   .words = foreign_words,
                                   SQLITE_CALLS};

const StoreDriver store_scratch = {.name = "scratch",
                                   .shown = scratch_shown,
                                   .open = scratch_open,
                                   .key = sqlite_key,
                                   .keys_above = sqlite_keys_above,
                                   .inspect = sqlite_inspect,
                                   .verify = sqlite_verify,
                                   .words = words,
                                   SQLITE_CALLS};

const StoreDriver store_sqlite = {.name = "sqlite",
                                  .shown = sqlite_shown,
                                  .open = sqlite_open,
                                  .key = sqlite_key,
                                  .keys_above = sqlite_keys_above,
                                  .expect_bulk = sqlite_expect_bulk,
                                  .inspect = sqlite_inspect,
                                  .verify = sqlite_verify,
                                  .words = words,
                                  SQLITE_CALLS};
