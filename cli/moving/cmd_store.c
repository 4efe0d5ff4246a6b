/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner store: create, check, upgrade, backup, copy, compact. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "cli/command.h"
#include "cli/control_client.h"
#include "cli/plain.h"
#include "store/hosts/generation.h"
#include "store/hosts/host.h"
#include "store/maintain.h"
#include "store/moving/copy.h"
#include "store/place.h"

static gboolean quick;

/* The place of the configuration, as the user who works with it. */
static bool find_place(Site *site, StorePlace *place, GError **error)
{
    return site_become_user(site, error) && store_place_read(site_config(site, NULL), place, error);
}

static int run_create(Site *site, int argc, char **argv, GError **error)
{
    g_autoptr(GError) absent = NULL;
    g_auto(StorePlace) place = {0};
    if (!find_place(site, &place, error))
        return TOOL_LATER;
    if (store_find(place.driver, place.where, &absent)) {
        fail(error, FAIL_EXISTS, "there is a database already, %s; nothing was changed", place.shown);
        return TOOL_NOT_SO;
    }
    if (!g_error_matches(absent, FAIL, FAIL_MISSING)) {
        g_propagate_error(error, g_steal_pointer(&absent));
        return TOOL_LATER;
    }
    generation_accept(); /* that it lacks all which the spool knows is what is meant; the runners refuse it as yet */
    if (!site_store(site, true, error))
        return TOOL_LATER;
    printf("The database %s was made; it has no lists yet.\n", place.shown);
    return TOOL_OK;
}

static int run_check(Site *site, int argc, char **argv, GError **error)
{
    g_auto(StoreReport) report = {0};
    g_auto(StorePlace) place = {0};
    if (!find_place(site, &place, error) || !store_check(place.driver, place.where, !quick, &report, error))
        return TOOL_LATER;
    for (guint i = 0; i < report.faults->len; i++)
        plain_complain("%s", (const char *)report.faults->pdata[i]);
    if (!report.usable)
        plain_complain("The schema %" PRId64 " is of a newer Listrunner: this one knows only up to %" PRId64
                       "; install that version.", report.schema, report.newest);
    if (report.faults->len > 0)
        plain_complain("The database %s is damaged: stop Listrunner, then restore a backup%s.", place.shown,
                       strcmp(place.driver, "sqlite") == 0 ? ", or mend it with the .recover command of sqlite3" : "");
    if (report.faults->len > 0 || !report.usable)
        return TOOL_NOT_SO;
    printf("The database %s %s, schema %" PRId64 "%s.\n", place.shown, quick ? "can be opened" : "is sound",
           report.schema,
           report.schema == report.newest  ? ""
           : report.schema > report.newest ? " (newer than this program, which can work with it)"
                                           : " (older than this program: \"listrunner start\" or \"listrunner store "
                                             "upgrade\" brings it up to date)");
    return TOOL_OK;
}

/* Refuse while Listrunner is running. It would go on writing to the database that is copied, and those writes would be
 * lost. */
static bool is_at_rest(Site *site, GError **error)
{
    g_autoptr(ControlClient) running = control_client_open(site, NULL);
    return !running || fail(error, FAIL_EXISTS, "Listrunner is running, master pid %d, and would go on writing to one "
                            "of the databases: stop it first", control_client_pid(running));
}

static int run_upgrade(Site *site, int argc, char **argv, GError **error)
{
    g_auto(StorePlace) place = {0};
    const Config *config = site_config(site, error);
    if (!config || !is_at_rest(site, error) || !find_place(site, &place, error))
        return TOOL_LATER;
    g_autofree char *sentence = store_upgrade_sentence(&place);
    if (sentence)
        printf("%s\n", sentence);
    fflush(stdout); /* it takes its time */
    if (!site_store_older(site, true, error))
        return TOOL_LATER;
    printf("The database %s is up to date.\n", place.shown);
    return TOOL_OK;
}

static int run_backup(Site *site, int argc, char **argv, GError **error)
{
    Store *store = site_store_older(site, false, error);
    if (!store || !store_backup(store, argv[0], error))
        return TOOL_LATER;
    printf("The database was copied to %s.\n", argv[0]);
    return TOOL_OK;
}

static void show_table(void *data, const char *table, int64_t rows, bool compared)
{
    int64_t *total = data;
    if (compared)
        *total += rows;
    else if (rows > 0)
        printf("%-20s %10" PRId64 " rows\n", table, rows);
}

static int run_copy(Site *site, int argc, char **argv, GError **error)
{
    int64_t rows = 0;
    g_auto(StorePlace) from = {0}, to = {0};
    const Config *config = site_config(site, error);
    if (!config || !is_at_rest(site, error) || !site_become_user(site, error) ||
        !store_place_named(config, argv[0], &from, error) || !store_place_named(config, argv[1], &to, error))
        return TOOL_LATER;
    g_autoptr(Store) source = store_open(from.driver, from.where, false, error);
    g_autoptr(GPtrArray) hosts = source ? host_all(source, error) : NULL;
    for (guint at = 0; hosts && at < hosts->len; at++) {
        const Host *host = hosts->pdata[at];
        if (!host->living) /* else it lives by what it has told the database */
            continue;
        fail(error, FAIL_EXISTS, "the host %s works with %s, and would go on writing to it: stop it first", host->name,
             from.shown);
        return TOOL_LATER;
    }
    g_autoptr(Store) target = hosts ? store_open(to.driver, to.where, true, error) : NULL;
    if (!target || !store_copy(source, target, show_table, &rows, error))
        return TOOL_LATER;
    printf("%s was copied to %s and compared: %" PRId64 " rows in %d tables are the same.\n", from.shown, to.shown,
           rows, (int)g_strv_length((char **)store_copy_tables));
    return TOOL_OK;
}

static int run_compact(Site *site, int argc, char **argv, GError **error)
{
    int64_t before, after;
    Store *store = site_store(site, false, error);
    if (!store || !store_size(store, &before, error) || !store_compact(store, error) ||
        !store_size(store, &after, error))
        return TOOL_LATER;
    printf("The database had %" PRId64 " bytes and has %" PRId64 " now.\n", before, after);
    return TOOL_OK;
}

static const GOptionEntry check_options[] = {
    {"quick", 0, 0, G_OPTION_ARG_NONE, &quick, "only see whether it is there and which schema it has", NULL},
    G_OPTION_ENTRY_NULL,
};

static const Command store_create_verb = {
    .name = "create",
    .arguments = "",
    .summary = "Make a new database, without lists",
    .details = "Once, before the first start; nothing else ever makes one, so that one that has gone is noticed.\n"
               "Exit code 1: there is one already.",
    .run = run_create,
};

static const Command store_check_verb = {
    .name = "check",
    .arguments = "",
    .summary = "Verify the whole database and tell the number of its schema",
    .details = "Changes nothing, and may run beside the runners. Exit codes: 1 it is damaged, or of a newer program;\n"
               "66 it is missing or empty; 78 the file is not a database of Listrunner.",
    .options = check_options,
    .run = run_check,
};

static const Command store_backup_verb = {
    .name = "backup",
    .arguments = "FILE",
    .summary = "Write a copy of the database to a new file",
    .details = "The copy is of one moment and on the disk when the command ends. Runners may work meanwhile. The\n"
               "file must not exist yet, and root writes it as [site] user. To restore it: stop, put it in the\n"
               "place of [store] path, remove that path's -wal and -shm, start. A database of PostgreSQL is backed up\n"
               "with pg_dump, which may run while Listrunner works.",
    .least = 1,
    .most = 1,
    .run = run_backup,
};

static const Command store_upgrade_verb = {
    .name = "upgrade",
    .arguments = "",
    .summary = "Bring the database of an older version up to date, as the next start does",
    .details = "Says from which schema to which. Programs of the older version may refuse it then: make a backup\n"
               "before. No other command changes the schema. Listrunner must be stopped.",
    .run = run_upgrade,
};

static const Command store_copy_verb = {
    .name = "copy",
    .arguments = "FROM TO",
    .summary = "Copy all to another database, from SQLite to PostgreSQL or back",
    .details = "Each place is a path of a file of SQLite, a connection string of PostgreSQL (a password may be in the\n"
               "user's .pgpass), or the word \"configured\" for that of [store]. The database to copy to is made, or\n"
               "has no data yet. Every table is read back and compared; a copy that fails leaves nothing. Listrunner\n"
               "must be stopped, on each host. Then write the new place into [store] and start.",
    .least = 2,
    .most = 2,
    .run = run_copy,
};

static const Command store_compact_verb = {
    .name = "compact",
    .arguments = "",
    .summary = "Give the room of what was removed back to the file system",
    .details = "The timer gives most of it back each hour. A database that was made before it could do so has to be\n"
               "compacted once for that. The database is written anew, which takes as much room again meanwhile.\n"
               "Runners that want to write wait; with a large database do it while Listrunner is stopped.",
    .run = run_compact,
};

static const Command *const verbs[] = {
    &store_create_verb, &store_check_verb, &store_upgrade_verb,
    &store_backup_verb, &store_copy_verb, &store_compact_verb, NULL,
};

const Command cmd_store = {
    .name = "store",
    .arguments = "",
    .summary = "Make, check, upgrade, copy or compact the database",
    .verbs = verbs,
};
