/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/lists/list_archive.h"

#include "store/store_internal.h"

char *list_archive_name(const char *list_id, int64_t archive)
{
    return archive == 0 ? g_strdup(list_id) : g_strdup_printf("%s~%" G_GINT64_FORMAT, list_id, archive + 1);
}

bool list_archive_removed(Store *store, const char *list_id, int64_t *count, GError **error)
{
    *count = 0;
    return query_number(store, error, count, "SELECT archive FROM removed_list WHERE list_id = $1", TEXT(list_id));
}

bool list_archive_set(Store *store, const char *list_id, int64_t archive, GError **error)
{
    store_changed(store);
    return query_run(store, error, NULL, "UPDATE list SET archive = $2 WHERE list_id = $1", TEXT(list_id),
                     INTEGER(archive));
}

bool list_archive_leave(Store *store, const char *list_id, GError **error)
{
    return query_run(store, error, NULL,
                     "INSERT INTO removed_list (list_id, archive) SELECT list_id, archive + 1 FROM list "
                     "WHERE list_id = $1 ON CONFLICT (list_id) DO UPDATE SET archive = excluded.archive",
                     TEXT(list_id));
}
