/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/schema/migrate.h"

#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "store/store_internal.h"

static bool statement(const StoreDriver *driver, void *connection, const char *sql, int64_t *answer, GError **error)
{
    void *prepared = driver->prepare(connection, sql, NULL, 0, false, error);
    if (!prepared)
        return false;
    Step step = driver->step(prepared, error);
    if (step == STEP_ROW && answer)
        *answer = driver->integer(prepared, 0);
    driver->reset(prepared);
    driver->finalize(prepared);
    return step != STEP_FAILED;
}

static bool current(const StoreDriver *driver, void *connection, int64_t *number, GError **error)
{
    bool has_schema = false;
    *number = 0;
    if (!driver->inspect(connection, &has_schema, error))
        return false;
    return !has_schema ||
           statement(driver, connection, "SELECT COALESCE(MAX(number), 0) FROM schema_migration", number, error);
}

char *migrate_words(const StoreDriver *driver, const char *sql)
{
    g_autoptr(GString) text = g_string_new(sql);
    for (const char *const *word = driver->words; word[0]; word += 2)
        g_string_replace(text, word[0], word[1], 0);
    return g_string_free(g_steal_pointer(&text), FALSE);
}

/* Inside a transaction. Another process may have been here since we looked. */
static bool apply(const StoreDriver *driver, void *connection, const Migration *migration, bool tell, GError **error)
{
    int64_t number = 0;
    if (!current(driver, connection, &number, error))
        return false;
    if (number >= migration->number)
        return true;
    g_autofree char *table =
        migrate_words(driver, "@mark@ CREATE TABLE IF NOT EXISTS schema_migration (number @integer@ NOT NULL "
                              "PRIMARY KEY, name @text@ NOT NULL, applied_at @integer@ NOT NULL) @table@");
    g_autofree char *sql = migrate_words(driver, migration->sql);
    g_autofree char *record = g_strdup_printf(
        "INSERT INTO schema_migration (number, name, applied_at) VALUES (%d, '%s', %" G_GINT64_FORMAT ")",
        migration->number, migration->name, clock_now());
    if (!driver->script(connection, table, error) || !driver->script(connection, sql, error) ||
        !driver->script(connection, record, error))
        return false;
    if (tell)
        log_info("the database has schema %d-%s now, instead of %" G_GINT64_FORMAT, migration->number, migration->name,
                 number);
    return true;
}

/* Apply so many steps in one transaction. */
static bool apply_together(const StoreDriver *driver, void *connection, const Migration *steps, size_t count, bool tell,
                           GError **error)
{
    size_t done = 0;
    if (!driver->begin(connection, error))
        return false;
    while (done < count && apply(driver, connection, &steps[done], tell, error))
        done++;
    if (done == count && driver->commit(connection, error))
        return true;
    const Migration *last = &steps[MIN(done, count - 1)];
    g_prefix_error(error, "schema %03d-%s: ", last->number, last->name);
    if (driver->in_transaction(connection))
        driver->rollback(connection);
    return false;
}

static size_t steps_of(const Migration *table)
{
    size_t count = 0;
    while (table[count].number)
        count++;
    return count;
}

static int64_t newest_of(const Migration *table)
{
    size_t count = steps_of(table);
    return count ? table[count - 1].number : 0;
}

/* Of a database that has later steps than the table. Where the question cannot be answered, as in the index of an
 * archive, which has no schema_least, no other version may use it. */
static bool is_neighbour(const StoreDriver *driver, void *connection, int64_t newest)
{
    int64_t least = INT64_MAX;
    g_autofree char *sql = g_strdup_printf(
        "SELECT MAX(COALESCE(l.least, m.number)) FROM schema_migration AS m "
        "LEFT JOIN schema_least AS l ON l.number = m.number WHERE m.number > %" G_GINT64_FORMAT,
        newest);
    return statement(driver, connection, sql, &least, NULL) && least <= newest;
}

bool migrate_usable(const StoreDriver *driver, void *connection, int64_t number)
{
    const int64_t newest = newest_of(migrations);
    return number <= newest || is_neighbour(driver, connection, newest);
}

bool migrate_to(const StoreDriver *driver, void *connection, const char *where, const Migration *table, GError **error)
{
    int64_t number = 0;
    if (!current(driver, connection, &number, error)) {
        g_prefix_error(error, "%s: ", where);
        return false;
    }
    const int64_t newest = newest_of(table);
    if (number > newest)
        return is_neighbour(driver, connection, newest) ||
               fail(error, FAIL_CONFIG,
                    "%s has schema %" G_GINT64_FORMAT ", but this program knows only up to %" G_GINT64_FORMAT
                    " and is too old for it: it was used by a newer version; install that version",
                    where, number, newest);
    if (number < newest && driver->deadline)
        driver->deadline(connection, 0); /* the server is at work for long */
    /* An empty database is filled by one transaction, which syncs once. One in use is brought along step by step, and
     * holds its locks for no longer than a step takes. */
    const size_t count = steps_of(table);
    const size_t portion = number == 0 ? count : 1;
    for (size_t at = 0; at < count; at += portion)
        if (table[at].number > number &&
            !apply_together(driver, connection, &table[at], portion, number > 0, error)) {
            g_prefix_error(error, "%s: ", where);
            return false;
        }
    return true;
}

bool migrate_version(const StoreDriver *driver, void *connection, int64_t *number, int64_t *newest, GError **error)
{
    *newest = newest_of(migrations);
    return current(driver, connection, number, error);
}

bool migrate(const StoreDriver *driver, void *connection, const char *where, MigrateWish wish, GError **error)
{
    const int64_t newest = newest_of(migrations);
    int64_t number = 0;
    if (!current(driver, connection, &number, error)) {
        g_prefix_error(error, "%s: ", where);
        return false;
    }
    if (number == 0 && wish != MIGRATE_CREATE)
        return store_fail_missing(where, "is empty", error);
    if (number < newest && wish == MIGRATE_AS_IT_IS)
        return true;
    if (number < newest && wish == MIGRATE_NOT)
        return fail(error, FAIL_CONFIG,
                    "the database %s has schema %" G_GINT64_FORMAT ", and this program wants %" G_GINT64_FORMAT
                    ": after a backup, \"listrunner start\" or \"listrunner store upgrade\" brings it up to date; "
                    "programs of older versions may refuse it then", where, number, newest);
    return migrate_to(driver, connection, where, migrations, error);
}
