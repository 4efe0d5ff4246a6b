/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Whether a log tells all that happened: crashlog_misses(). */
#include <string.h>

#include "switchboard/operate.h"
#include "t/switchboard/crashmodel_internal.h"

static bool is_same(const CrashLog *log, unsigned place, const char *name, const char *path)
{
    g_autofree char *octets = NULL;
    gsize length = 0;
    int file = crashmodel_find(log->live, place, name);
    if (file < CRASH_NO_FILE)
        return g_file_test(path, G_FILE_TEST_IS_DIR);
    if (!g_file_get_contents(path, &octets, &length, NULL))
        return file == CRASH_NO_FILE;
    if (place == CRASH_SPOOL && length == 0 && file == CRASH_NO_FILE) /* a lock that nobody wrote into */
        return true;
    const GByteArray *cached = file < 0 ? NULL : g_array_index(log->live->files, CrashData, file).cached;
    return cached && cached->len == length && (length == 0 || memcmp(cached->data, octets, length) == 0);
}

/* The names that the directory has, on the disk or as the log has it. */
static GHashTable *names_of(const CrashLog *log, unsigned place, const char *path)
{
    GHashTable *names = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
    for (const char *name; dir && (name = g_dir_read_name(dir)) != NULL;)
        if (place == CRASH_SPOOL ? strcmp(name, OPERATE_LOCK_FILE) == 0 : *name != '.')
            g_hash_table_add(names, g_strdup(name));
    const GArray *known = log->live->dirs[place].cached;
    for (guint i = 0; i < known->len; i++)
        g_hash_table_add(names, g_strdup(g_array_index(known, CrashPlace, i).name));
    return names;
}

char *crashlog_misses(const CrashLog *log, const char *spool)
{
    for (unsigned i = 0; i < CRASH_PLACES && crash_place_path(i); i++) {
        g_autofree char *place = g_build_filename(spool, crash_place_path(i), NULL);
        g_autoptr(GHashTable) names = names_of(log, i, place);
        GHashTableIter iter;
        gpointer name;
        g_hash_table_iter_init(&iter, names);
        while (g_hash_table_iter_next(&iter, &name, NULL)) {
            g_autofree char *path = g_build_filename(place, name, NULL);
            if (!is_same(log, i, name, path))
                return g_steal_pointer(&path);
        }
    }
    return NULL;
}
