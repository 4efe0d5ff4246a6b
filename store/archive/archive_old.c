/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/archive/archive_old.h"

#include <fcntl.h>

#include "base/auto.h"
#include "base/fs.h"
#include "store/archive/archive_index_internal.h"

#define FILE_NAME "old.db"

struct ArchiveOld {
    Store *store;
};

static const char schema[] =
    "CREATE TABLE archive (number @integer@ PRIMARY KEY, kind @text@ NOT NULL, list @text@ NOT NULL) @table@;"
    "CREATE UNIQUE INDEX archive_list ON archive (kind, list);"
    "CREATE TABLE name (kind @text@ NOT NULL, name @text@ NOT NULL, list @text@ NOT NULL, PRIMARY KEY (kind, name))"
    " STRICT, WITHOUT ROWID;"
    "CREATE TABLE address (archive @integer@ NOT NULL, key @text@ NOT NULL, hash @text@ NOT NULL,"
    " PRIMARY KEY (archive, key)) STRICT, WITHOUT ROWID;";

static const Migration schemas[] = {{1, "old", schema}, {0, NULL, NULL}};

ArchiveOld *archive_old_open(const char *directory, bool create, GError **error)
{
    g_autofree char *index = archive_index_path(directory), *own = g_path_get_dirname(index);
    g_autofree char *path = g_build_filename(own, FILE_NAME, NULL), *name = g_path_get_basename(own);
    if (!create && !g_file_test(path, G_FILE_TEST_EXISTS)) {
        fail(error, FAIL_MISSING, "the archive %s has no addresses of an old one", directory);
        return NULL;
    }
    auto_fd archive = create ? fs_open_dir(AT_FDCWD, directory, true, error) : -1;
    auto_fd made = archive >= 0 ? fs_open_dir(archive, name, true, error) : -1;
    if (create && made < 0)
        return NULL;
    Store *store = store_open_by(&store_archive, path, create, schemas, error);
    if (!store)
        return NULL;
    ArchiveOld *old = g_new0(ArchiveOld, 1);
    old->store = store;
    return old;
}

void archive_old_free(ArchiveOld *old)
{
    if (!old)
        return;
    store_free(old->store);
    g_free(old);
}

bool archive_old_present(ArchiveOld *old)
{
    return store_present(old->store, NULL);
}

bool archive_old_begin(ArchiveOld *old, GError **error)
{
    return store_begin(old->store, error);
}

bool archive_old_commit(ArchiveOld *old, GError **error)
{
    return store_commit(old->store, error);
}

void archive_old_rollback(ArchiveOld *old)
{
    store_rollback(old->store);
}

/* The first column of the first row; NULL with FAIL_MISSING where there is none. */
static char *only_text(Query *query, const char *missing, GError **error)
{
    Step step = query_step(query, error);
    if (step == STEP_DONE)
        fail(error, FAIL_MISSING, "there is no old %s of that name", missing);
    return step == STEP_ROW ? g_strdup(query_text(query, 0)) : NULL;
}

char *archive_old_list(ArchiveOld *old, const char *kind, const char *name, GError **error)
{
    g_autofree char *folded = g_ascii_strdown(name, -1);
    g_autoptr(Query) query = query_open(old->store, error, "SELECT list FROM name WHERE kind = $1 AND name = $2",
                                        TEXT(kind), TEXT(folded));
    return only_text(query, "archive", error);
}

char *archive_old_hash(ArchiveOld *old, const char *kind, const char *list, const char *key, GError **error)
{
    g_autoptr(Query) query = query_open(old->store, error,
                                        "SELECT a.hash FROM archive o JOIN address a ON a.archive = o.number"
                                        " WHERE o.kind = $1 AND o.list = $2 AND a.key = $3",
                                        TEXT(kind), TEXT(list), TEXT(key));
    return only_text(query, "address", error);
}

bool archive_old_name(ArchiveOld *old, const char *kind, const char *name, const char *list, char **before,
                      GError **error)
{
    g_autoptr(GError) fault = NULL;
    g_autofree char *folded = g_ascii_strdown(name, -1), *had = archive_old_list(old, kind, name, &fault);
    if (before)
        *before = NULL;
    if (!had && !g_error_matches(fault, FAIL, FAIL_MISSING))
        return fail_with(error, &fault);
    if (before && g_strcmp0(had, list) != 0)
        *before = g_steal_pointer(&had);
    return query_run(old->store, error, NULL,
                     "INSERT INTO name (kind, name, list) VALUES ($1, $2, $3)"
                     " ON CONFLICT (kind, name) DO UPDATE SET list = $3",
                     TEXT(kind), TEXT(folded), TEXT(list));
}

bool archive_old_put(ArchiveOld *old, const char *kind, const char *list, const char *key, const char *hash,
                     GError **error)
{
    return STORE_WRITE(old->store, error,
                       query_run(old->store, error, NULL,
                                 "INSERT INTO archive (kind, list) VALUES ($1, $2) ON CONFLICT (kind, list) DO NOTHING",
                                 TEXT(kind), TEXT(list)) &&
                           query_run(old->store, error, NULL,
                                     "INSERT INTO address (archive, key, hash)"
                                     " SELECT number, $3, $4 FROM archive WHERE kind = $1 AND list = $2"
                                     " ON CONFLICT (archive, key) DO UPDATE SET hash = $4",
                                     TEXT(kind), TEXT(list), TEXT(key), TEXT(hash)));
}
