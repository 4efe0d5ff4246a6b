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
    "CREATE TABLE address (address @text@ NOT NULL PRIMARY KEY, archive @text@ NOT NULL, place @text@ NOT NULL)"
    " STRICT, WITHOUT ROWID;";

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
    if (store_is_transaction_open(old->store)) /* none is where begin or commit has failed */
        store_rollback(old->store);
}

bool archive_old_put(ArchiveOld *old, const char *address, const char *archive, const char *place, GError **error)
{
    return STORE_WRITE(old->store, error,
                       query_run(old->store, error, NULL,
                                 "INSERT INTO address (address, archive, place) VALUES ($1, $2, $3)"
                                 " ON CONFLICT (address) DO UPDATE SET archive = $2, place = $3",
                                 TEXT(address), TEXT(archive), TEXT(place)));
}

bool archive_old_find(ArchiveOld *old, const char *address, char **archive, char **place, GError **error)
{
    g_autoptr(Query) query = query_open(old->store, error, "SELECT archive, place FROM address WHERE address = $1",
                                        TEXT(address));
    Step step = query_step(query, error);
    if (step != STEP_ROW)
        return step == STEP_DONE && fail(error, FAIL_MISSING, "there is no such old address");
    *archive = g_strdup(query_text(query, 0));
    *place = g_strdup(query_text(query, 1));
    return true;
}
