/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner store: create, check, backup, compact. */
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "cli/command.h"
#include "cli/plain.h"
#include "store/maintain.h"

static gboolean quick;

static int run_create(Site *site, int argc, char **argv, GError **error)
{
    g_autoptr(GError) absent = NULL;
    if (!site_become_user(site, error))
        return TOOL_LATER;
    const char *path = config_string(site_config(site, NULL), "store", "path");
    if (store_find(config_string(site_config(site, NULL), "store", "driver"), path, &absent)) {
        fail(error, FAIL_EXISTS, "there is a database already, %s; nothing was changed", path);
        return TOOL_NOT_SO;
    }
    if (!g_error_matches(absent, FAIL, FAIL_MISSING)) {
        g_propagate_error(error, g_steal_pointer(&absent));
        return TOOL_LATER;
    }
    if (!site_store(site, true, error))
        return TOOL_LATER;
    printf("The database %s was made; it has no lists yet.\n", path);
    return TOOL_OK;
}

static int run_check(Site *site, int argc, char **argv, GError **error)
{
    g_auto(StoreReport) report = {0};
    if (!site_become_user(site, error))
        return TOOL_LATER;
    const Config *config = site_config(site, NULL);
    const char *path = config_string(config, "store", "path");
    if (!store_check(config_string(config, "store", "driver"), path, !quick, &report, error))
        return TOOL_LATER;
    for (guint i = 0; i < report.faults->len; i++)
        plain_complain("%s", (const char *)report.faults->pdata[i]);
    if (report.schema > report.newest)
        plain_complain("The schema %" PRId64 " is of a newer Listrunner: this one knows only up to %" PRId64
                       "; install that version.", report.schema, report.newest);
    if (report.faults->len > 0)
        plain_complain("The database %s is damaged: stop Listrunner, then restore a backup, or mend it with the "
                       ".recover command of sqlite3.", path);
    if (report.faults->len > 0 || report.schema > report.newest)
        return TOOL_NOT_SO;
    printf("The database %s %s, schema %" PRId64 "%s.\n", path, quick ? "can be opened" : "is sound", report.schema,
           report.schema == report.newest ? "" : " (older than this program; the next start brings it up to date)");
    return TOOL_OK;
}

static int run_backup(Site *site, int argc, char **argv, GError **error)
{
    Store *store = site_store(site, false, error);
    if (!store || !store_backup(store, argv[0], error))
        return TOOL_LATER;
    printf("The database was copied to %s.\n", argv[0]);
    return TOOL_OK;
}

static int run_compact(Site *site, int argc, char **argv, GError **error)
{
    struct stat before, after;
    Store *store = site_store(site, false, error);
    const char *path = config_string(site_config(site, NULL), "store", "path");
    if (!store || (stat(path, &before) != 0 && !fail_errno(error, FAIL_LATER, "%s", path)) ||
        !store_compact(store, error) || (stat(path, &after) != 0 && !fail_errno(error, FAIL_LATER, "%s", path)))
        return TOOL_LATER;
    printf("The database %s had %" PRId64 " octets and has %" PRId64 " now.\n", path, (int64_t)before.st_size,
           (int64_t)after.st_size);
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
               "place of [store] path, remove that path's -wal and -shm, start.",
    .least = 1,
    .most = 1,
    .run = run_backup,
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
    &store_create_verb, &store_check_verb, &store_backup_verb, &store_compact_verb, NULL,
};

const Command cmd_store = {
    .name = "store",
    .arguments = "",
    .summary = "Make, check, copy or compact the database",
    .verbs = verbs,
};
