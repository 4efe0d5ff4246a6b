/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * The file of an archive's index.
 *
 *   .index/index.db -> index.1764000000123456.db      what is found
 *   .index/index.1764000000123456.db, -wal, -shm      an index and its companions
 *   .index/damaged.db                                 the last one that was damaged
 *
 * SQLite finds the companions of a file by its name. So a file's name is never used again: a process that still has the
 * old file open does not touch what belongs to the new one.
 */
#include "store/archive/archive_index.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fs.h"
#include "store/archive/archive_index_internal.h"

#define DIRECTORY ".index" /* no list's directory begins with a dot */
#define LINK "index.db"
#define LINK_ASIDE "index.link"
#define DAMAGED "damaged.db"

char *archive_index_path(const char *directory)
{
    return g_build_filename(directory, DIRECTORY, LINK, NULL);
}

bool archive_index_checked(ArchiveIndex *index, bool ok, GError **error)
{
    const StoreDriver *driver = store_driver(index->store);
    if (!ok && error && *error && driver->damaged(store_connection(index->store)))
        (*error)->code = FAIL_CONFIG;
    return ok;
}

static char *new_name(void)
{
    return g_strdup_printf("index.%" G_GINT64_FORMAT ".%u.db", clock_unique(), (unsigned)getpid());
}

/* The name that the link says; NULL: there is no link. */
static char *read_link(const char *link)
{
    return g_file_read_link(link, NULL);
}

/* Opens the file of that name beside the link. */
static ArchiveIndex *open_file(const char *link, const char *target, bool create, GError **error)
{
    g_autofree char *own = g_path_get_dirname(link), *path = g_build_filename(own, target, NULL);
    g_autoptr(GError) fault = NULL;
    Store *store = store_open_by(&store_archive, path, create, archive_schemas, &fault);
    if (!store) {
        /* Damage in the first pages is told before there is a connection to ask. */
        if (g_error_matches(fault, FAIL, FAIL_MISSING) || strstr(fault->message, "malformed") ||
            strstr(fault->message, "already exists"))
            fault->code = FAIL_CONFIG;
        if (strstr(fault->message, "already exists"))
            g_prefix_error(&fault, "%s was made by another version, and \"listrunner archive index\" makes it again: ",
                           path);
        g_propagate_error(error, g_steal_pointer(&fault));
        return NULL;
    }
    ArchiveIndex *index = g_new0(ArchiveIndex, 1);
    index->store = store;
    index->link = g_strdup(link);
    index->target = g_strdup(target);
    return index;
}

/* Makes a link to a file that is still to be made, unless another process was faster. */
static bool make_link(const char *directory, const char *link, GError **error)
{
    g_autofree char *own = g_path_get_dirname(link), *name = new_name();
    auto_fd archive = fs_open_dir(AT_FDCWD, directory, true, error);
    auto_fd made = archive >= 0 ? fs_open_dir(archive, DIRECTORY, true, error) : -1;
    if (made < 0)
        return false;
    if (symlink(name, link) != 0 && errno != EEXIST)
        return fail_errno(error, FAIL_LATER, "make %s", link);
    return fs_sync_dir(made, error);
}

ArchiveIndex *archive_index_open(const char *directory, bool create, GError **error)
{
    g_autofree char *link = archive_index_path(directory), *target = read_link(link);
    if (!target && g_file_test(link, G_FILE_TEST_EXISTS)) {
        fail(error, FAIL_CONFIG, "%s is no link to an index", link);
        return NULL;
    }
    if (!target && create && !make_link(directory, link, error))
        return NULL;
    if (!target)
        target = read_link(link);
    if (!target) {
        fail(error, FAIL_MISSING, "there is no index of the archive %s; \"listrunner archive index\" makes one",
             directory);
        return NULL;
    }
    return open_file(link, target, create, error);
}

void archive_index_free(ArchiveIndex *index)
{
    if (!index)
        return;
    store_free(index->store);
    g_free(index->link);
    g_free(index->target);
    g_free(index);
}

ArchiveIndex *archive_index_open_new(const char *directory, GError **error)
{
    g_autofree char *link = archive_index_path(directory), *target = new_name();
    auto_fd archive = fs_open_dir(AT_FDCWD, directory, true, error);
    auto_fd made = archive >= 0 ? fs_open_dir(archive, DIRECTORY, true, error) : -1;
    g_autoptr(ArchiveIndex) index = made >= 0 ? open_file(link, target, true, error) : NULL;
    int log;
    return index && archive_index_leave_sync(index, &log, error) ? g_steal_pointer(&index) : NULL;
}

/* Is this the name of an index, or of a companion of one, but not of the one with that name? */
static bool is_other(const char *name, const char *kept)
{
    return g_str_has_prefix(name, "index.") && strstr(name, ".db") && strcmp(name, LINK) != 0 &&
           !g_str_has_prefix(name, kept);
}

static void remove_others(int directory_fd, const char *directory, const char *kept)
{
    g_autoptr(GDir) all = g_dir_open(directory, 0, NULL);
    for (const char *name; all && (name = g_dir_read_name(all));)
        if (is_other(name, kept))
            fs_unlink(directory_fd, name, NULL);
}

bool archive_index_publish(ArchiveIndex *index, GError **error)
{
    g_autofree char *own = g_path_get_dirname(index->link), *aside = g_build_filename(own, LINK_ASIDE, NULL);
    auto_fd directory = fs_open_dir(AT_FDCWD, own, false, error);
    if (directory < 0 ||
        !archive_index_checked(index,
                               store_driver(index->store)
                                   ->script(store_connection(index->store), "PRAGMA wal_checkpoint(TRUNCATE)", error),
                               error))
        return false;
    if ((unlink(aside) != 0 && errno != ENOENT) || symlink(index->target, aside) != 0)
        return fail_errno(error, FAIL_LATER, "make %s", aside);
    if (!fs_rename(directory, LINK_ASIDE, LINK, error) || !fs_sync_dir(directory, error))
        return false;
    remove_others(directory, own, index->target);
    return true;
}

bool archive_index_present(ArchiveIndex *index, GError **error)
{
    g_autofree char *target = read_link(index->link);
    return (g_strcmp0(target, index->target) == 0 ||
            fail(error, FAIL_LATER, "the index %s was replaced by another one", index->link)) &&
           store_present(index->store, error);
}

bool archive_index_set_aside(const char *directory, GError **error)
{
    g_autofree char *link = archive_index_path(directory), *target = read_link(link);
    g_autofree char *own = g_path_get_dirname(link);
    auto_fd made = fs_open_dir(AT_FDCWD, own, false, error);
    if (made < 0)
        return false;
    if (unlink(link) != 0 && errno != ENOENT)
        return fail_errno(error, FAIL_LATER, "remove %s", link);
    if (target)
        fs_rename(made, target, DAMAGED, NULL);
    remove_others(made, own, "-"); /* the companions */
    return fs_sync_dir(made, error);
}

bool archive_index_begin(ArchiveIndex *index, GError **error)
{
    return archive_index_checked(index, store_begin(index->store, error), error);
}

bool archive_index_commit(ArchiveIndex *index, GError **error)
{
    return archive_index_checked(index, store_commit(index->store, error), error);
}

void archive_index_rollback(ArchiveIndex *index)
{
    store_rollback(index->store);
}

bool archive_index_leave_sync(ArchiveIndex *index, int *fd, GError **error)
{
    return archive_index_checked(index, store_leave_sync(index->store, fd, error), error);
}
