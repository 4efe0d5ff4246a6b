/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/backup/file_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fail.h"
#include "base/fs.h"

#define BLOCK (256 * 1024)
#define MODE_BITS 0770

G_DEFINE_AUTOPTR_CLEANUP_FUNC(DIR, closedir)

bool file_tree_make(const char *path, GError **error)
{
    return g_mkdir_with_parents(path, 0700) == 0 || fail_errno(error, FAIL_LATER, "make %s", path);
}

/* One of a tree, which others may look into as they may into the first. */
static bool make_like(const char *path, const struct stat *first, GError **error)
{
    return file_tree_make(path, error) &&
           (chmod(path, first->st_mode & MODE_BITS) == 0 || fail_errno(error, FAIL_LATER, "set the mode of %s", path));
}

bool file_tree_copy_file(const char *from, const char *to, GError **error)
{
    struct stat status;
    ssize_t got;
    g_autofree char *block = g_malloc(BLOCK);
    auto_fd source = open(from, O_RDONLY | O_CLOEXEC);
    if (source < 0 || fstat(source, &status) != 0)
        return fail_errno(error, FAIL_LATER, "read %s", from);
    auto_fd target = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, status.st_mode & MODE_BITS);
    if (target < 0)
        return fail_errno(error, FAIL_LATER, "make %s", to);
    while ((got = TEMP_FAILURE_RETRY(read(source, block, BLOCK))) > 0)
        if (!fs_write(target, block, (size_t)got, error))
            break;
    if (got < 0)
        fail_errno(error, FAIL_LATER, "read %s", from);
    else if (got == 0 && fs_sync_file(target, error))
        return true;
    g_prefix_error(error, "%s: ", to);
    return false;
}

static DIR *open_directory(const char *path, GError **error)
{
    DIR *directory = opendir(path);
    if (!directory)
        fail_errno(error, FAIL_LATER, "read %s", path);
    return directory;
}

/* The next file or directory; NULL: there is none, or error is set. */
static const struct dirent *next_in(DIR *directory, const char *path, const char *except, GError **error)
{
    const struct dirent *found;
    do {
        errno = 0;
        found = readdir(directory);
    } while (found && (strcmp(found->d_name, ".") == 0 || strcmp(found->d_name, "..") == 0 ||
                       g_strcmp0(found->d_name, except) == 0));
    if (!found && errno != 0)
        fail_errno(error, FAIL_LATER, "read %s", path);
    return found;
}

bool file_tree_copy(const char *from, const char *to, const char *except, GError **error)
{
    g_autoptr(GError) fault = NULL;
    g_autoptr(DIR) directory = file_tree_make(to, error) ? open_directory(from, error) : NULL;
    const struct dirent *found;
    while (directory && (found = next_in(directory, from, except, &fault)) != NULL) {
        struct stat status;
        g_autofree char *source = g_build_filename(from, found->d_name, NULL);
        g_autofree char *target = g_build_filename(to, found->d_name, NULL);
        if (lstat(source, &status) != 0)
            return fail_errno(error, FAIL_LATER, "look at %s", source);
        if (S_ISDIR(status.st_mode) ? !make_like(target, &status, error) || !file_tree_copy(source, target, NULL, error)
                                    : S_ISREG(status.st_mode) && !file_tree_copy_file(source, target, error))
            return false;
    }
    if (!fault)
        return directory != NULL;
    return fail_with(error, &fault);
}

/* ---- second names ---- */

/* Name -> inode of what is in a directory. */
static GHashTable *read_names(const char *path, GError **error)
{
    g_autoptr(GError) fault = NULL;
    g_autoptr(DIR) directory = open_directory(path, error);
    if (!directory)
        return NULL;
    GHashTable *names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    const struct dirent *found;
    while ((found = next_in(directory, path, NULL, &fault)) != NULL)
        g_hash_table_insert(names, g_strdup(found->d_name), GSIZE_TO_POINTER(found->d_ino));
    if (!fault)
        return names;
    g_propagate_error(error, g_steal_pointer(&fault));
    g_hash_table_unref(names);
    return NULL;
}

static bool follow_one(const char *from, const char *to, const struct dirent *found, GHashTable *names, bool *changed,
                       GError **error)
{
    struct stat status;
    gpointer there = g_hash_table_lookup(names, found->d_name);
    g_autofree char *source = g_build_filename(from, found->d_name, NULL);
    g_autofree char *target = g_build_filename(to, found->d_name, NULL);
    g_hash_table_remove(names, found->d_name);
    if (there == GSIZE_TO_POINTER(found->d_ino))
        return true;
    if (lstat(source, &status) != 0)
        return errno == ENOENT || fail_errno(error, FAIL_LATER, "look at %s", source);
    if (S_ISDIR(status.st_mode))
        return make_like(target, &status, error) && file_tree_follow(source, target, NULL, changed, error);
    if (!S_ISREG(status.st_mode))
        return true;
    *changed = true;
    if (there && !fs_remove_tree(target, error)) /* another file has this second name */
        return false;
    return link(source, target) == 0 || errno == ENOENT ||
           fail_errno(error, FAIL_LATER, "link %s to %s", source, target);
}

bool file_tree_follow(const char *from, const char *to, const char *except, bool *changed, GError **error)
{
    GHashTableIter left;
    gpointer name;
    const struct dirent *found;
    g_autoptr(GError) fault = NULL;
    g_autoptr(GHashTable) names = file_tree_make(to, error) ? read_names(to, error) : NULL;
    g_autoptr(DIR) directory = names ? open_directory(from, error) : NULL;
    if (!directory)
        return false;
    while ((found = next_in(directory, from, except, &fault)) != NULL)
        if (!follow_one(from, to, found, names, changed, error))
            return false;
    if (fault)
        return fail_with(error, &fault);
    /* The names that are left go, since the first name of their file is gone. */
    g_hash_table_iter_init(&left, names);
    while (g_hash_table_iter_next(&left, &name, NULL)) {
        g_autofree char *target = g_build_filename(to, name, NULL);
        *changed = true;
        if (!fs_remove_tree(target, error))
            return false;
    }
    return true;
}
