/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * listrunner backup: spool, database and configuration of one moment; listrunner restore: spool and database from a
 * backup, made to fit each other. A backup is a directory with
 *
 *   manifest        the moment of the backup: {"format":1,"moment":1763644800000042, ...}; only a whole one has it
 *   begun           in place of manifest, while the backup is being made
 *   spool/          the spool
 *   listrunner.db   the database, where that is one of SQLite
 *   files/          the configuration, and the files of keys and passwords that it names, under their whole paths
 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <linux/ioprio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/config_table.h"
#include "base/fail.h"
#include "base/fs.h"
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
#include "switchboard/meta.h"
#include "switchboard/operate.h"

#define BACKUP_MANIFEST "manifest"
#define BACKUP_BEGUN "begun"
#define BACKUP_SPOOL "spool"
#define BACKUP_DATABASE "listrunner.db"
#define BACKUP_FILES "files"

#define BACKUP_FORMAT 1

#define LEAST_PRIORITY 19 /* of setpriority(2) */

static char *only;

typedef struct Backup {
    int64_t moment; /* us since 1970 */
    bool database;  /* the backup has listrunner.db */
} Backup;

/* ---- what is copied ---- */

/* An unfinished one is removed and begun anew; anything else that is there is left alone. */
static bool begin(const char *directory, GError **error)
{
    g_autofree char *begun = g_build_filename(directory, BACKUP_BEGUN, NULL);
    g_autoptr(GDateTime) now = g_date_time_new_now_local();
    g_autofree char *today = g_date_time_format(now, "%Y-%m-%d");
    if (g_file_test(begun, G_FILE_TEST_EXISTS) && !fs_remove_tree(directory, error))
        return false;
    rmdir(directory); /* an empty one, of a command that was killed before it could write begun */
    if (mkdir(directory, 0700) != 0)
        return errno == EEXIST ? fail(error, FAIL_EXISTS,
                                      "%s is there already; allowed is a directory that is still to be made, such as "
                                      "%s/listrunner-%s",
                                      directory, directory, today)
                               : fail_errno(error, FAIL_LATER, "make %s", directory);
    auto_fd made = open(begun, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
    return made >= 0 || fail_errno(error, FAIL_LATER, "make %s", begun);
}

static bool copy_named(const char *path, const char *into, GError **error)
{
    g_autofree char *whole = g_canonicalize_filename(path, NULL), *to = g_build_filename(into, whole, NULL);
    g_autofree char *above = g_path_get_dirname(to);
    return g_file_test(to, G_FILE_TEST_EXISTS) || !g_file_test(path, G_FILE_TEST_IS_REGULAR) ||
           (file_tree_make(above, error) && file_tree_copy_file(path, to, error));
}

/* The configuration, and the files of keys and passwords that it names. */
static bool copy_configuration(const Config *config, const char *into, GError **error)
{
    g_autofree const char **sections = config_sections(config);
    if (!copy_named(config_path(config), into, error))
        return false;
    const ConfigTable *table;
    for (unsigned at = 0; (table = config_table(at)); at++)
        for (const char **section = sections; *section; section++)
            for (const ConfigKey *key = table->keys; config_table_covers(table, *section) && key->name; key++) {
                const char *path = g_str_has_suffix(key->name, "_file") && strcmp(key->name, "log_file") != 0
                                       ? config_string(config, *section, key->name)
                                       : NULL;
                if (path && key->type == CONFIG_PATH && !copy_named(path, into, error))
                    return false;
            }
    return true;
}

/* ---- the moment ---- */

typedef struct Moment {
    const char *spool, *aside; /* aside gets names of the files of spool */
    Store *reader;             /* is to read the database of the moment; NULL: the database is left out */
    int64_t time;
} Moment;

/* For how long a spool may change in the hands of those who are not paused. They finish what they have begun. */
#define STILL_WITHIN (10 * CLOCK_SECOND)

/* Nobody that the master started moves a file now, and no command does under the operator's lock. But a command that
 * has committed a unit may be about to rename its files, so we look until nothing has changed. */
static bool see_all(Moment *moment, GError **error)
{
    const int64_t until = clock_monotonic() + STILL_WITHIN;
    bool changed = true;
    moment->time = clock_now();
    while (changed) {
        if (clock_monotonic() > until)
            return fail(error, FAIL_LATER, "files of the spool come and go, though nobody should work on it");
        changed = false;
        if (!file_tree_follow(moment->spool, moment->aside, SPOOL_BACKUP, &changed, error))
            return false;
    }
    return !moment->reader || store_pin(moment->reader, error);
}

static bool see_all_paused(Site *site, Moment *moment, GError **error)
{
    g_autoptr(GError) stopped = NULL;
    g_autoptr(ControlClient) master = control_client_open(site, &stopped);
    if (!master && !g_error_matches(stopped, FAIL, FAIL_MISSING))
        return fail_with(error, &stopped);
    if (!master)
        return see_all(moment, error);
    control_client_patient(master); /* the master itself ends the pause after a while */
    g_autoptr(json_t) paused = control_client_ask(master, json_pack("{ss}", "verb", "pause"), error);
    if (!paused || !see_all(moment, error)) /* the connection ends, and with it the pause */
        return false;
    g_autoptr(json_t) resumed = control_client_ask(master, json_pack("{ss}", "verb", "resume"), error);
    if (!resumed)
        g_prefix_error(error, "the spool could not be seen as it is at one moment: ");
    return resumed != NULL;
}

static void moved(void *data, void *token, const GError *error)
{
    (void)data; /* nothing is moved here */
    (void)token;
    (void)error;
}

/* No command changes the spool while the moment is taken. */
static bool copy_all(Site *site, const char *directory, Backup *backup, GError **error)
{
    bool changed;
    g_auto(StorePlace) place = {0};
    Store *store = backup->database ? site_store_older(site, false, error) : NULL;
    Spool *spool = store || !backup->database ? site_spool(site, error) : NULL;
    g_autoptr(Store) reader = spool && store && store_place_read(site_config(site, NULL), &place, error)
                                  ? store_open_older(place.driver, place.where, false, error)
                                  : NULL;
    if (!spool || (store && !reader))
        return false;
    g_autofree char *aside = g_build_filename(spool_path(spool), SPOOL_BACKUP, NULL);
    g_autofree char *names = g_build_filename(aside, "moment", NULL);
    auto_fd turn = file_tree_make(aside, error) ? open(aside, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (turn < 0 || flock(turn, LOCK_EX | LOCK_NB) != 0)
        return fail(error, FAIL_EXISTS, "another backup is at work");
    Moment moment = {.spool = spool_path(spool), .aside = names, .reader = reader};
    g_autoptr(Operate) operate = fs_remove_tree(names, error) ? operate_open(spool, true, moved, NULL, error) : NULL;
    /* Most names are noted before the pause. The database's lock is taken before it, too: so nobody stands still who
     * has it, and nothing is committed while the names are noted. */
    bool locked = operate && file_tree_follow(moment.spool, names, SPOOL_BACKUP, &changed, error) &&
                  (!store || store_begin(store, error));
    bool taken = locked && see_all_paused(site, &moment, error);
    if (locked && store)
        store_rollback(store);
    if (operate && !operate_end(operate, taken ? error : NULL))
        return false;
    backup->moment = moment.time;
    /* Nobody waits for the copies, so the runners go first. That is as well as it can be, and no failure if it cannot.
     * */
    setpriority(PRIO_PROCESS, 0, LEAST_PRIORITY);
    syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0));
    g_autofree char *queues = g_build_filename(directory, BACKUP_SPOOL, NULL);
    g_autofree char *database = g_build_filename(directory, BACKUP_DATABASE, NULL);
    bool copied = taken && (!reader || store_backup(reader, database, error)) &&
                  file_tree_copy(names, queues, NULL, error);
    return fs_remove_tree(aside, copied ? error : NULL) && copied;
}

/* Whole is the backup that has a manifest, which is written when all else is on the disk. */
static bool finish(const char *directory, const Backup *backup, GError **error)
{
    auto_fd top = fs_open_dir(AT_FDCWD, directory, false, error);
    if (top < 0)
        return false;
    if (syncfs(top) != 0)
        return fail_errno(error, FAIL_LATER, "sync %s", directory);
    g_autofree char *file = g_build_filename(directory, BACKUP_MANIFEST, NULL), *time = clock_text(backup->moment);
    g_autoptr(json_t)
        manifest = json_pack("{si sI ss sb ss}", "format", BACKUP_FORMAT, "moment", (json_int_t)backup->moment, "time",
                             time, "database", (int)backup->database, "version", PACKAGE_VERSION);
    g_autofree char *text = meta_print(manifest);
    return g_file_set_contents_full(file, text, -1, G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_DURABLE, 0640,
                                    error) &&
           fs_unlink(top, BACKUP_BEGUN, error) && fs_sync_dir(top, error);
}

/* Root makes it, and [site] user, as whom the rest is done, has to write into it. */
static bool give_to_user(const Config *config, const char *directory, GError **error)
{
    struct stat status;
    const char *spool = config_string(config, "spool", "directory");
    g_autofree char *begun = g_build_filename(directory, BACKUP_BEGUN, NULL);
    if (geteuid() != 0)
        return true;
    if (stat(spool, &status) != 0)
        return fail_errno(error, FAIL_CONFIG, "look at %s", spool);
    return (chown(directory, status.st_uid, status.st_gid) == 0 && chown(begun, status.st_uid, status.st_gid) == 0) ||
           fail_errno(error, FAIL_LATER, "give %s to the user of the spool", directory);
}

static int run(Site *site, int argc, char **argv, GError **error)
{
    (void)argc;
    g_auto(StorePlace) place = {0};
    const Config *config = site_config(site, error);
    g_autofree char *directory = config ? g_canonicalize_filename(argv[0], NULL) : NULL;
    g_autofree char *files = directory ? g_build_filename(directory, BACKUP_FILES, NULL) : NULL;
    if (!config)
        return TOOL_CONFIG;
    if (!store_place_read(config, &place, error) || !begin(directory, error))
        return TOOL_LATER;
    Backup backup = {.database = strcmp(place.driver, "sqlite") == 0};
    if (!copy_configuration(config, files, error) || !give_to_user(config, directory, error) ||
        !copy_all(site, directory, &backup, error) || !finish(directory, &backup, error)) {
        g_prefix_error(error, "the backup is not whole, give the command again to begin anew: ");
        return TOOL_LATER;
    }
    if (backup.database)
        printf("Spool, database and configuration were copied to %s.\n", directory);
    else
        printf("Spool and configuration were copied to %s. The database is not in it; make a copy of it now:\n"
               "pg_dump --format=custom --file=FILE --dbname=URL (postgresql.md, Backup)\n",
               directory);
    return TOOL_OK;
}

const Command cmd_backup = {
    .name = "backup",
    .arguments = "DIRECTORY",
    .summary = "Copy spool, database and configuration of one moment",
    .details =
        "Runners may work meanwhile; they stand still for a moment while the names of the spool's files are\n"
        "noted, so that spool and database are of one moment. The directory must not exist yet, unless it holds\n"
        "a backup that was interrupted, which is begun anew. Only one with a file \"manifest\" is whole. A\n"
        "database of PostgreSQL is not in it; pg_dump copies that. Archives are not in it either.\n"
        "listrunner restore puts it back.",
    .least = 1,
    .most = 1,
    .run = run,
};

/* ---- restore ---- */

typedef struct Restore {
    const char *from;     /* the backup; NULL: the database alone, which is in its place, is to be made to fit */
    const char *spool;    /* where the spool is to be */
    const char *database; /* where the file of the database is to be; NULL: it is on a server */
    char *mark;           /* SPOOL_RESTORING */
    Backup backup;
    bool puts_spool, puts_database;
    bool again; /* an interrupted one is there, and begun anew */
} Restore;

/* FAIL_MISSING: the backup is not whole, or there is none. FAIL_NEVER: the manifest is damaged, or of a newer program.
 * FAIL_LATER: it cannot be read. */
static bool read_manifest(const char *directory, Backup *backup, GError **error)
{
    g_autofree char *file = g_build_filename(directory, BACKUP_MANIFEST, NULL), *text = NULL;
    size_t length;
    g_autoptr(GError) fault = NULL;
    if (!g_file_get_contents(file, &text, &length, &fault))
        return fail(error, g_error_matches(fault, G_FILE_ERROR, G_FILE_ERROR_NOENT) ? FAIL_MISSING : FAIL_LATER,
                    "%s is no whole backup: %s", directory, fault->message);
    g_autoptr(json_t) manifest = meta_parse(text, length, error);
    if (!manifest) {
        g_prefix_error(error, "%s: ", file);
        return false;
    }
    *backup = (Backup){.moment = meta_integer(manifest, "moment", 0), .database = meta_bool(manifest, "database")};
    if (meta_integer(manifest, "format", 0) != BACKUP_FORMAT || backup->moment <= 0)
        return fail(error, FAIL_NEVER, "%s: this program reads format %d alone, with the time of the moment", file,
                    BACKUP_FORMAT);
    return true;
}

static const char *const database_ends[] = {"", "-wal", "-shm", NULL}; /* of the names of its files */

/* ---- is there room for it ---- */

static bool is_free(const Restore *restore, GError **error)
{
    bool looks = restore->puts_spool && !restore->again;
    g_autoptr(GDir) there = looks ? g_dir_open(restore->spool, 0, NULL) : NULL;
    for (const char *name; there && (name = g_dir_read_name(there));)
        if (strcmp(name, "lost+found") != 0)
            return fail(error, FAIL_EXISTS,
                        "there is something in the spool %s already, such as %s; nothing was changed", restore->spool,
                        name);
    for (const char *const *end = database_ends; restore->puts_database && *end; end++) {
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
    for (const char *const *end = database_ends; restore->puts_database && *end; end++) {
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

/* The spool is the only one with its name from now on, whatever epoch another copy of it had reached. */
static bool put(const Restore *restore, GError **error)
{
    g_autofree char *mark = g_strdup_printf("%s%s\n", restore->puts_spool ? " spool" : "",
                                            restore->puts_database ? " database" : "");
    g_autofree char *queues = g_build_filename(restore->from, BACKUP_SPOOL, NULL);
    g_autofree char *file = g_build_filename(restore->from, BACKUP_DATABASE, NULL);
    g_autofree char *above = restore->database ? g_path_get_dirname(restore->database) : NULL;
    g_autofree char *host = g_build_filename(restore->spool, THIS_HOST_FILE, NULL);
    if (!g_file_set_contents_full(restore->mark, mark, -1, G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_DURABLE,
                                  0640, error))
        return false;
    if (restore->puts_spool &&
        (!file_tree_copy(queues, restore->spool, ".master", error) || !fs_remove_tree(host, error)))
        return false;
    return !restore->puts_database ||
           (file_tree_make(above, error) && file_tree_copy_file(file, restore->database, error));
}

/* ---- making them fit ---- */

static bool reconcile(Site *site, Restore *restore, unsigned *unknown, GError **error)
{
    g_auto(Generation) found = {0};
    g_auto(StorePlace) place = {0};
    bool same = restore->puts_spool && restore->puts_database,
         later = only != NULL; /* who says so has not restored it */
    if (restore->puts_database && !store_place_read(site_config(site, NULL), &place, error))
        return false;
    /* A database that restore itself has put there may be of an older version. Where both fit each other it stays so,
     * for the start; else its tables are read. */
    g_autofree char *sentence = restore->puts_database && !same ? store_upgrade_sentence(&place) : NULL;
    if (sentence)
        fprintf(stderr, "%s\n", sentence);
    Store *store = restore->puts_database ? site_store_older(site, !same, error) : site_store(site, false, error);
    Spool *spool = store ? site_spool(site, error) : NULL;
    const char *id = spool ? spool_id(spool, error) : NULL;
    /* The moment of a database that is older than the spool; 0: it is not known to be older. */
    int64_t moment = restore->puts_database ? restore->backup.moment : 0;
    if (!id || !generation_read(store, id, &found, error))
        return false;
    if (!restore->puts_spool && !restore->puts_database && generation_lacks(&found)) {
        moment = found.count;
        if (moment <= 0 && !restored_newest(store, &moment, error))
            return false;
    }
    g_autoptr(Listing) listing = listing_new(reconcile_columns, json_option);
    Reconcile both = {.config = site_config(site, NULL), .spool = spool, .store = store, .listing = listing};
    bool fits = same || ((!restore->puts_spool || reconcile_old_spool(&both, restore->backup.moment, later, error)) &&
                         reconcile_old_store(&both, moment, error));
    *unknown = both.unknown;
    if (!restore->from)
        restore->backup.moment = found.count;
    return fits && (restore->database || generation_write(spool_fd(spool), &found, error));
}

static bool unmark(const Restore *restore, GError **error)
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

static int run_restore(Site *site, int argc, char **argv, GError **error)
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
    if (from && !read_manifest(from, &restore.backup, error))
        return TOOL_LATER;
    restore.puts_database = file && g_strcmp0(only, "spool") != 0 && restore.backup.database;
    if (!restore.puts_spool && file && !restore.puts_database) {
        fail(error, FAIL_NEVER, "no database is in the backup; see postgresql.md");
        return TOOL_USAGE;
    }
    generation_accept();
    unsigned unknown = 0;
    if (!file_tree_make(spool, error) || !clear(&restore, error) || !is_free(&restore, error) ||
        (!restore.puts_database && !site_store(site, false, error)) || !put(&restore, error) ||
        !reconcile(site, &restore, &unknown, error) || !unmark(&restore, error))
        return TOOL_LATER;
    int code = unknown > 0 ? TOOL_NOT_SO : TOOL_OK;
    if (json_option)
        return code;
    bool both = restore.puts_spool && restore.puts_database;
    g_autofree char *time = clock_text(restore.backup.moment);
    printf("%s %s as at %s.\n",
           both                 ? "Spool and database"
           : restore.puts_spool ? "The spool"
                                : "The database",
           both ? "are" : "is", time);
    if (restore.puts_spool)
        printf("Mail that was taken after that is not in the spool: the log of the mail server names it.\n");
    if (unknown > 0)
        printf("Of %u things above nobody can know what became of them.\n", unknown);
    return code;
}

static const GOptionEntry restore_options[] = {
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
    .options = restore_options,
    .run = run_restore,
};
