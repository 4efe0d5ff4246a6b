/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner backup: spool, database and configuration of one moment. */
#include <errno.h>
#include <fcntl.h>
#include <linux/ioprio.h>
#include <stdio.h>
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
#include "cli/backup/backup.h"
#include "cli/backup/file_tree.h"
#include "cli/command.h"
#include "cli/control_client.h"
#include "store/maintain.h"
#include "store/place.h"
#include "switchboard/operate.h"

#define LEAST_PRIORITY 19 /* of setpriority(2) */

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
    Store *writer;             /* NULL: the database is left out */
    Store *reader;             /* is to read the database of the moment */
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

/* Most names are noted before the pause. The database's lock is taken before it, too: so nobody stands still who has
 * it, and nothing is committed while the names are noted. */
static bool take_moment(Site *site, Moment *moment, GError **error)
{
    bool changed;
    if (!file_tree_follow(moment->spool, moment->aside, SPOOL_BACKUP, &changed, error) ||
        (moment->writer && !store_begin(moment->writer, error)))
        return false;
    bool seen = see_all_paused(site, moment, error);
    if (moment->writer)
        store_rollback(moment->writer);
    return seen;
}

static void moved(void *data, void *token, const GError *error)
{
    (void)data; /* nothing is moved */
    (void)token;
    (void)error;
}

/* Nobody waits for the copies, so the runners go first. That is as well as it can be, and no failure if it cannot. */
static void step_back(void)
{
    setpriority(PRIO_PROCESS, 0, LEAST_PRIORITY);
    syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0));
}

static bool copy_moment(const Moment *moment, const char *directory, GError **error)
{
    g_autofree char *queues = g_build_filename(directory, BACKUP_SPOOL, NULL);
    g_autofree char *database = g_build_filename(directory, BACKUP_DATABASE, NULL);
    step_back();
    return (!moment->reader || store_backup(moment->reader, database, error)) &&
           file_tree_copy(moment->aside, queues, NULL, error);
}

/* No command changes the spool while the moment is taken. */
static bool copy_all(Site *site, const char *directory, Backup *backup, GError **error)
{
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
    Moment moment = {.spool = spool_path(spool), .aside = names, .writer = store, .reader = reader};
    g_autoptr(Operate) operate = fs_remove_tree(names, error) ? operate_open(spool, true, moved, NULL, error) : NULL;
    bool taken = operate && take_moment(site, &moment, error);
    if (operate && !operate_end(operate, taken ? error : NULL))
        return false;
    backup->moment = moment.time;
    bool copied = taken && copy_moment(&moment, directory, error);
    return fs_remove_tree(aside, copied ? error : NULL) && copied;
}

static bool finish(const char *directory, const Backup *backup, GError **error)
{
    auto_fd top = fs_open_dir(AT_FDCWD, directory, false, error);
    if (top < 0)
        return false;
    if (syncfs(top) != 0)
        return fail_errno(error, FAIL_LATER, "sync %s", directory);
    return backup_write(directory, backup, error) && fs_unlink(top, BACKUP_BEGUN, error) && fs_sync_dir(top, error);
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
