/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner restore: spool and database from a backup, made to fit each other. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/fs.h"
#include "cli/backup/backup.h"
#include "cli/backup/file_tree.h"
#include "cli/backup/reconcile.h"
#include "cli/backup/spool_served.h"
#include "cli/command.h"
#include "cli/control_client.h"
#include "lists/hosts/this_host.h"
#include "store/hosts/generation.h"
#include "store/hosts/restored.h"
#include "store/maintain.h"
#include "store/place.h"

static char *only;

typedef struct Restore {
    const char *from;     /* the backup; NULL: the database alone, which is in its place, is to be made to fit */
    const char *spool;    /* where the spool is to be */
    const char *database; /* where the file of the database is to be; NULL: it is on a server */
    char *mark;           /* SPOOL_RESTORING */
    Backup backup;
    bool puts_spool, puts_database;
    bool again; /* an interrupted one is there, and begun anew */
} Restore;

/* ---- is there room for it ---- */

static bool is_free_spool(const Restore *restore, GError **error)
{
    g_autoptr(GDir) there = g_dir_open(restore->spool, 0, NULL);
    for (const char *name; there && (name = g_dir_read_name(there));)
        if (strcmp(name, "lost+found") != 0)
            return fail(error, FAIL_EXISTS,
                        "there is something in the spool %s already, such as %s; nothing was changed", restore->spool,
                        name);
    return true;
}

static bool is_free_database(const Restore *restore, GError **error)
{
    for (const char *const *end = (const char *const[]){"", "-wal", "-shm", NULL}; *end; end++) {
        g_autofree char *path = g_strconcat(restore->database, *end, NULL);
        if (g_file_test(path, G_FILE_TEST_EXISTS))
            return fail(error, FAIL_EXISTS, "there is %s already; nothing was changed", path);
    }
    return true;
}

static bool is_at_rest(Site *site, const char *directory, GError **error)
{
    g_autoptr(ControlClient) running = control_client_open(site, NULL);
    g_autoptr(Spool) spool = spool_open(directory, NULL);
    return (!running && (!spool || !spool_has_master(spool))) ||
           fail(error, FAIL_EXISTS, "Listrunner is running: stop it first");
}

/* Remove the files that an interrupted restore put there, according to its mark. */
static bool clear(Restore *restore, GError **error)
{
    g_autofree char *begun = NULL;
    if (!g_file_get_contents(restore->mark, &begun, NULL, NULL))
        return true;
    g_autofree char *wanted = g_strdup_printf("%s%s\n", restore->puts_spool ? " spool" : "",
                                              restore->puts_database ? " database" : "");
    if (strcmp(begun, wanted) != 0)
        return fail(error, FAIL_EXISTS, "an interrupted restore is there, of:%s", begun);
    restore->again = true;
    for (const char *const *end = (const char *const[]){"", "-wal", "-shm", NULL}; restore->puts_database && *end;
         end++) {
        g_autofree char *path = g_strconcat(restore->database, *end, NULL);
        if (!fs_remove_tree(path, error))
            return false;
    }
    g_autoptr(GDir) there = restore->puts_spool ? g_dir_open(restore->spool, 0, NULL) : NULL;
    for (const char *name; there && (name = g_dir_read_name(there));) {
        g_autofree char *path = g_build_filename(restore->spool, name, NULL);
        if (strcmp(path, restore->mark) != 0 && strcmp(name, "lost+found") != 0 && !fs_remove_tree(path, error))
            return false;
    }
    return true;
}

/* ---- putting it there ---- */

static bool set_mark(const Restore *restore, GError **error)
{
    g_autofree char *text = g_strdup_printf("%s%s\n", restore->puts_spool ? " spool" : "",
                                            restore->puts_database ? " database" : "");
    return g_file_set_contents_full(restore->mark, text, -1,
                                    G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_DURABLE, 0640, error);
}

/* The spool is the only one with its name from now on, whatever epoch another copy of it had reached. */
static bool put(const Restore *restore, GError **error)
{
    g_autofree char *queues = g_build_filename(restore->from, BACKUP_SPOOL, NULL);
    g_autofree char *file = g_build_filename(restore->from, BACKUP_DATABASE, NULL);
    g_autofree char *above = restore->database ? g_path_get_dirname(restore->database) : NULL;
    g_autofree char *host = g_build_filename(restore->spool, THIS_HOST_FILE, NULL);
    if (restore->puts_spool &&
        (!file_tree_copy(queues, restore->spool, ".master", error) || !fs_remove_tree(host, error)))
        return false;
    return !restore->puts_database ||
           (file_tree_make(above, error) && file_tree_copy_file(file, restore->database, error));
}

/* ---- making them fit ---- */

/* A database that restore itself has put there may be of an older version. Where both fit each other it stays so, for
 * the start; else its tables are read. */
static Store *open_restored(Site *site, const Restore *restore, GError **error)
{
    g_auto(StorePlace) place = {0};
    bool same = restore->puts_spool && restore->puts_database;
    if (!restore->puts_database)
        return site_store(site, false, error);
    if (!store_place_read(site_config(site, NULL), &place, error))
        return NULL;
    g_autofree char *sentence = same ? NULL : store_upgrade_sentence(&place);
    if (sentence)
        fprintf(stderr, "%s\n", sentence);
    return site_store_older(site, !same, error);
}

/* The moment of a database that is older than the spool; 0: it is not known to be older. */
static bool moment_of(const Restore *restore, const Generation *found, Store *store, int64_t *moment, GError **error)
{
    *moment = restore->puts_database ? restore->backup.moment : 0;
    if (restore->puts_spool || restore->puts_database || !generation_lacks(found))
        return true;
    *moment = found->count;
    return found->count > 0 || restored_newest(store, moment, error);
}

static bool reconcile(Site *site, Restore *restore, unsigned *unknown, GError **error)
{
    g_auto(Generation) found = {0};
    Store *store = open_restored(site, restore, error);
    Spool *spool = store ? site_spool(site, error) : NULL;
    const char *id = spool ? spool_id(spool, error) : NULL;
    int64_t moment;
    if (!id || !generation_read(store, id, &found, error) || !moment_of(restore, &found, store, &moment, error))
        return false;
    g_autoptr(Listing) listing = listing_new(reconcile_columns, json_option);
    Reconcile both = {.config = site_config(site, NULL), .spool = spool, .store = store, .listing = listing};
    bool same = restore->puts_spool && restore->puts_database,
         later = only != NULL; /* who says so has not restored it */
    bool fits = same || ((!restore->puts_spool || reconcile_old_spool(&both, restore->backup.moment, later, error)) &&
                         reconcile_old_store(&both, moment, error));
    *unknown = both.unknown;
    if (!restore->from)
        restore->backup.moment = found.count;
    return fits && (restore->database || generation_write(spool_fd(spool), &found, error));
}

static bool finish(const Restore *restore, GError **error)
{
    auto_fd top = fs_open_dir(AT_FDCWD, restore->spool, false, error);
    g_autofree char *above = restore->puts_database ? g_path_get_dirname(restore->database) : NULL;
    auto_fd beside = above && top >= 0 ? fs_open_dir(AT_FDCWD, above, false, error) : -1;
    if (top < 0 || (above && beside < 0))
        return false;
    if (syncfs(top) != 0 || (beside >= 0 && syncfs(beside) != 0))
        return fail_errno(error, FAIL_LATER, "sync what was put back");
    return fs_unlink(top, SPOOL_RESTORING, error) && fs_sync_dir(top, error);
}

static bool restore_all(Site *site, Restore *restore, unsigned *unknown, GError **error)
{
    return file_tree_make(restore->spool, error) && clear(restore, error) &&
           (restore->again || !restore->puts_spool || is_free_spool(restore, error)) &&
           (!restore->puts_database || is_free_database(restore, error)) &&
           (restore->puts_database || site_store(site, false, error)) && set_mark(restore, error) &&
           put(restore, error) && reconcile(site, restore, unknown, error) && finish(restore, error);
}

static void say(const Restore *restore, unsigned unknown)
{
    g_autofree char *time = clock_text(restore->backup.moment);
    const char *what = restore->puts_spool && restore->puts_database ? "Spool and database"
                       : restore->puts_spool                         ? "The spool"
                                                                     : "The database";
    if (json_option)
        return;
    printf("%s %s as at %s.\n", what, restore->puts_spool && restore->puts_database ? "are" : "is", time);
    if (restore->puts_spool)
        printf("Mail that was taken after that is not in the spool: the log of the mail server names it.\n");
    if (unknown > 0)
        printf("Of %u things above nobody can know what became of them.\n", unknown);
}

static int run(Site *site, int argc, char **argv, GError **error)
{
    g_auto(StorePlace) place = {0};
    const Config *config = site_config(site, error);
    if (!config)
        return TOOL_CONFIG;
    if (only && strcmp(only, "spool") != 0 && strcmp(only, "database") != 0)
        return command_usage(error, "--only is for spool or database, not for \"%s\"", only);
    g_autofree char *from = argc > 0 ? g_canonicalize_filename(argv[0], NULL) : NULL;
    const char *spool = config_string(config, "spool", "directory");
    if (!is_at_rest(site, spool, error) || !site_become_user(site, error) || !store_place_read(config, &place, error))
        return TOOL_LATER;
    bool file = strcmp(place.driver, "sqlite") == 0;
    g_autofree char *mark = g_build_filename(spool, SPOOL_RESTORING, NULL);
    Restore restore = {.from = from, .spool = spool, .database = file ? place.where : NULL, .mark = mark};
    restore.puts_spool = g_strcmp0(only, "database") != 0;
    if (!from && (restore.puts_spool || file))
        return command_usage(error, "the directory of the backup is missing; only `restore --only database` of a site "
                             "with PostgreSQL needs none");
    if (from && !backup_read(from, &restore.backup, error))
        return TOOL_LATER;
    restore.puts_database = file && g_strcmp0(only, "spool") != 0 && restore.backup.database;
    if (!restore.puts_spool && file && !restore.puts_database) {
        fail(error, FAIL_NEVER, "no database is in the backup; see postgresql.md");
        return TOOL_USAGE;
    }
    generation_accept();
    unsigned unknown = 0;
    if (!restore_all(site, &restore, &unknown, error))
        return TOOL_LATER;
    say(&restore, unknown);
    return unknown > 0 ? TOOL_NOT_SO : TOOL_OK;
}

static const GOptionEntry options[] = {
    {"only", 0, 0, G_OPTION_ARG_STRING, &only, "put this back alone; the other one is in its place, of another age",
     "spool|database"},
    JSON_ROWS_OPTION,
    G_OPTION_ENTRY_NULL,
};

const Command cmd_restore = {
    .name = "restore",
    .arguments = "[DIRECTORY]",
    .summary = "Put spool and database back from a backup",
    .details =
        "Listrunner must be stopped. Where the spool or the database is to be, there may be nothing. With --only\n"
        "the two are of different ages and are made to fit: no post is lost or doubled as far as can be known,\n"
        "and a row tells of each whose fate cannot be known. A database of PostgreSQL is restored before, with\n"
        "pg_restore; --only database, which needs no DIRECTORY there, then makes it fit the spool of this host,\n"
        "and from then on this host works with it. No master starts before an interrupted restore was given\n"
        "again. Exit code 1: there are things that nobody can know, or there is something in the place already.",
    .least = 0,
    .most = 1,
    .options = options,
    .run = run,
};
