/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner backup: spool, database and configuration of one moment. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/config_table.h"
#include "base/fail.h"
#include "base/fs.h"
#include "cli/backup_pause.h"
#include "cli/command.h"
#include "cli/control_client.h"
#include "store/maintain.h"
#include "switchboard/operate.h"

#define BEGUN "begun"    /* in a backup that is not whole */
#define WHOLE "manifest" /* in one that is */
#define BLOCK (256 * 1024)

/* ---- directories ---- */

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *place)
{
    (void)status;
    (void)kind;
    (void)place;
    return remove(path);
}

static bool remove_all(const char *path, GError **error)
{
    return nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) == 0 || errno == ENOENT ||
           fail_errno(error, FAIL_LATER, "remove %s", path);
}

static bool make(const char *path, GError **error)
{
    return g_mkdir_with_parents(path, 0700) == 0 || fail_errno(error, FAIL_LATER, "make %s", path);
}

/* An unfinished one is removed and begun anew; anything else that is there is left alone. */
static bool begin(const char *directory, GError **error)
{
    g_autofree char *begun = g_build_filename(directory, BEGUN, NULL);
    if (g_file_test(begun, G_FILE_TEST_EXISTS) && !remove_all(directory, error))
        return false;
    if (mkdir(directory, 0700) != 0)
        return fail_errno(error, errno == EEXIST ? FAIL_EXISTS : FAIL_LATER, "make %s", directory);
    return g_file_set_contents(begun, "", 0, error);
}

static bool copy_octets(int from, int to, const char *path, GError **error)
{
    g_autofree char *block = g_malloc(BLOCK);
    for (;;) {
        ssize_t got = TEMP_FAILURE_RETRY(read(from, block, BLOCK));
        if (got < 0)
            return fail_errno(error, FAIL_LATER, "read %s", path);
        if (got == 0)
            return fs_sync_file(to, error);
        if (!fs_write(to, block, (size_t)got, error))
            return false;
    }
}

static bool copy_file(const char *from, const char *to, GError **error)
{
    auto_fd source = open(from, O_RDONLY | O_CLOEXEC);
    if (source < 0)
        return fail_errno(error, FAIL_LATER, "read %s", from);
    auto_fd target = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (target < 0)
        return fail_errno(error, FAIL_LATER, "make %s", to);
    if (copy_octets(source, target, from, error))
        return true;
    g_prefix_error(error, "%s: ", to);
    return false;
}

typedef bool EachFile(const char *from, const char *to, GError **error);

/* Do each file of a directory and of those in it, but not what no backup needs. */
static bool walk(const char *from, const char *to, EachFile *each, GError **error)
{
    g_autoptr(GDir) directory = make(to, error) ? g_dir_open(from, 0, error) : NULL;
    for (const char *name; directory && (name = g_dir_read_name(directory));) {
        struct stat status;
        g_autofree char *source = g_build_filename(from, name, NULL), *target = g_build_filename(to, name, NULL);
        if (strcmp(name, SPOOL_BACKUP) == 0 || lstat(source, &status) != 0)
            continue;
        if (S_ISDIR(status.st_mode) ? !walk(source, target, each, error)
                                    : S_ISREG(status.st_mode) && !each(source, target, error))
            return false;
    }
    return directory != NULL;
}

/* ---- what is copied ---- */

static bool copy_named(const char *path, const char *into, GError **error)
{
    g_autofree char *to = g_build_filename(into, path, NULL), *above = g_path_get_dirname(to);
    return g_file_test(to, G_FILE_TEST_EXISTS) || !g_file_test(path, G_FILE_TEST_IS_REGULAR) ||
           (make(above, error) && copy_file(path, to, error));
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

/* A name of the same file: what it is called now stays visible in there, whatever runners do with the other name. */
static bool link_file(const char *from, const char *to, GError **error)
{
    return link(from, to) == 0 || fail_errno(error, FAIL_LATER, "link %s to %s", from, to);
}

/* While everybody stands still: names for all files of the spool, and the moment of the database. */
static bool take_moment(Site *site, const char *aside, Store *store, GError **error)
{
    g_autoptr(ControlClient) running = control_client_open(site, NULL);
    const char *spool = config_string(site_config(site, NULL), "spool", "directory");
    if (!running)
        return walk(spool, aside, link_file, error) && store_pin(store, error);
    Pause *pause = pause_begin(control_client_pid(running), error);
    if (!pause)
        return false;
    bool taken = walk(spool, aside, link_file, error) && store_pin(store, error);
    return pause_end(pause, taken ? error : NULL) && taken;
}

static void moved(void *data, void *token, const GError *error)
{
    (void)data; /* nothing is moved */
    (void)token;
    (void)error;
}

/* No command changes the spool meanwhile. */
static bool copy_moment(Site *site, const char *directory, GError **error)
{
    Store *store = site_store(site, false, error);
    Spool *spool = store ? site_spool(site, error) : NULL;
    if (!spool)
        return false;
    g_autofree char *aside = g_build_filename(spool_path(spool), SPOOL_BACKUP, NULL);
    g_autofree char *queues = g_build_filename(directory, "spool", NULL);
    g_autofree char *database = g_build_filename(directory, "listrunner.db", NULL);
    auto_fd turn = make(aside, error) ? open(aside, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (turn < 0 || flock(turn, LOCK_EX | LOCK_NB) != 0)
        return fail(error, FAIL_EXISTS, "another backup is at work");
    g_autofree char *names = g_build_filename(aside, "moment", NULL);
    g_autoptr(Operate) operate = remove_all(names, error) ? operate_open(spool, true, moved, NULL, error) : NULL;
    bool taken = operate && take_moment(site, names, store, error);
    if (operate && !operate_end(operate, taken ? error : NULL))
        return false;
    bool copied = taken && store_backup(store, database, error) && walk(names, queues, copy_file, error);
    return remove_all(aside, copied ? error : NULL) && copied;
}

static bool finish(const char *directory, int64_t moment, GError **error)
{
    g_autofree char *begun = g_build_filename(directory, BEGUN, NULL), *time = clock_text(moment);
    g_autofree char *whole = g_build_filename(directory, WHOLE, NULL);
    g_autofree char *text = g_strdup_printf("listrunner backup 1\nmoment %s\n", time);
    auto_fd top = fs_open_dir(AT_FDCWD, directory, false, error);
    if (top < 0)
        return false;
    if (syncfs(top) != 0)
        return fail_errno(error, FAIL_LATER, "sync %s", directory);
    return g_file_set_contents_full(whole, text, -1, G_FILE_SET_CONTENTS_CONSISTENT | G_FILE_SET_CONTENTS_DURABLE, 0600,
                                    error) &&
           fs_unlink(top, BEGUN, error) && fs_sync_dir(top, error);
}

/* Root makes it, and [site] user, as whom the rest is done, has to write into it. */
static bool give_to_user(const Config *config, const char *directory, GError **error)
{
    struct stat status;
    const char *spool = config_string(config, "spool", "directory");
    g_autofree char *begun = g_build_filename(directory, BEGUN, NULL);
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
    const Config *config = site_config(site, error);
    g_autofree char *directory = config ? g_canonicalize_filename(argv[0], NULL) : NULL;
    g_autofree char *files = directory ? g_build_filename(directory, "files", NULL) : NULL;
    if (!config)
        return TOOL_CONFIG;
    if (config_string(config, "store", "url") && strcmp(config_string(config, "store", "driver"), "sqlite") != 0) {
        fail(error, FAIL_NEVER,
             "this command copies a database of SQLite; for PostgreSQL see the section Backup of "
             "postgresql.md: pg_dump --format=custom --file=FILE --dbname=URL");
        return TOOL_USAGE;
    }
    if (!begin(directory, error))
        return TOOL_LATER;
    int64_t moment = clock_now();
    if (!copy_configuration(config, files, error) || !give_to_user(config, directory, error) ||
        !copy_moment(site, directory, error) || !finish(directory, moment, error)) {
        g_prefix_error(error, "the backup is not whole, give the command again to begin anew: ");
        return TOOL_LATER;
    }
    printf("Spool, database and configuration were copied to %s.\n", directory);
    return TOOL_OK;
}

const Command cmd_backup = {
    .name = "backup",
    .arguments = "DIRECTORY",
    .summary = "Copy spool, database and configuration of one moment",
    .details = "Runners may work meanwhile; they stand still while the names of the spool's files are noted, so that\n"
               "spool and database are of one moment. The directory must not exist yet, unless it holds a backup that\n"
               "was interrupted, which is begun anew. Only one with a file \"manifest\" is whole. Archives are not in\n"
               "it. running.md tells how to restore it.",
    .least = 1,
    .most = 1,
    .run = run,
};
