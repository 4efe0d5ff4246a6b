/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/hosts/generation.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fs.h"
#include "store/store_internal.h"

#define LACKS_MOST (60 * CLOCK_SECOND) /* what a standby may lack that is promoted */
#define UNKNOWN "-"                    /* in the file, for a system */
#define WHAT_TO_DO                                                                                                     \
    "if it is the right one from now on, stop Listrunner and give the command `listrunner restore --only database` "   \
    "on each host"

static char *kept_in; /* the file; NULL: nothing is expected */
static char *expected_at; /* the place */
static bool accepts;

void generation_clear(Generation *generation)
{
    g_clear_pointer(&generation->system, g_free);
}

void generation_expect(const char *directory, const char *where)
{
    g_autofree char *path = g_build_filename(directory, GENERATION_FILE, NULL);
    if (g_strcmp0(path, kept_in) == 0 && g_strcmp0(where, expected_at) == 0) /* other threads may read them */
        return;
    g_free(kept_in);
    g_free(expected_at);
    kept_in = g_steal_pointer(&path);
    expected_at = g_strdup(where);
}

void generation_accept(void)
{
    accepts = true;
}

/* Read what the file says. */
static bool read_file(Generation *known)
{
    g_autofree char *text = NULL;
    char system[64];
    *known = (Generation){.system = NULL};
    if (!kept_in || !g_file_get_contents(kept_in, &text, NULL, NULL) ||
        sscanf(text, "%63s %" SCNd64 " %" SCNd64 " %95[a-z0-9@]", system, &known->timeline, &known->count,
               known->row) != 4)
        return false;
    known->system = strcmp(system, UNKNOWN) == 0 ? NULL : g_strdup(system);
    return true;
}

bool generation_expected(const char *where, Generation *known)
{
    *known = (Generation){.system = NULL};
    return !accepts && g_strcmp0(where, expected_at) == 0 && read_file(known);
}

bool generation_lacks(const Generation *found)
{
    g_auto(Generation) known = {0};
    g_autofree char *fault = read_file(&known) ? generation_fault(&known, found) : NULL;
    return fault != NULL;
}

char *generation_fault(const Generation *known, const Generation *found)
{
    bool same = known->system && found->system && strcmp(known->system, found->system) == 0 && known->timeline > 0 &&
                found->timeline > 0;
    g_autofree char *last = clock_text(known->count);
    if (same && found->timeline < known->timeline)
        return g_strdup_printf("it is an old primary, of timeline %" PRId64 ": at %s this host worked with one of "
                               "timeline %" PRId64 "; " WHAT_TO_DO,
                               found->timeline, last, known->timeline);
    int64_t lacks = known->count - found->count;
    if (lacks <= 0 || (same && found->timeline > known->timeline && lacks <= LACKS_MOST))
        return NULL;
    g_autofree char *first = clock_text(found->count);
    return found->count == 0
               ? g_strdup_printf("it is not the database that this host worked with until %s; " WHAT_TO_DO, last)
               : g_strdup_printf("it is an old copy: it lacks what was written from %s until %s; " WHAT_TO_DO, first,
                                 last);
}

static bool read_system(Store *store, Generation *found, GError **error)
{
    const StoreDriver *driver = store_driver(store);
    return !driver->system || driver->system(store_connection(store), &found->system, &found->timeline, error);
}

static void name_row(Generation *generation, const char *spool)
{
    *generation = (Generation){.system = NULL};
    g_snprintf(generation->row, sizeof generation->row, "generation@%s", spool);
}

bool generation_read(Store *store, const char *spool, Generation *found, GError **error)
{
    name_row(found, spool);
    return query_number(store, error, &found->count, "SELECT value FROM counter WHERE name = $1", TEXT(found->row)) &&
           read_system(store, found, error);
}

/* One statement and no transaction, so that it waits for nobody who writes. */
bool generation_raise(Store *store, const char *spool, int64_t now, Generation *found, GError **error)
{
    name_row(found, spool);
    return query_number(store, error, &found->count,
                        "INSERT INTO counter (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET "
                        "value = CASE WHEN counter.value < $2 THEN $2 ELSE counter.value + 1 END RETURNING value",
                        TEXT(found->row), INTEGER(now)) &&
           read_system(store, found, error);
}

bool generation_write(int spool_fd, const Generation *found, GError **error)
{
    const char *temporary = GENERATION_FILE ".new"; /* nobody but the runner host writes it, and of that there is one */
    g_autofree char *text = g_strdup_printf("%s %" PRId64 " %" PRId64 " %s\n", found->system ? found->system : UNKNOWN,
                                            found->timeline, found->count, found->row);
    fs_unlink(spool_fd, temporary, NULL);
    auto_fd fd = fs_create(spool_fd, temporary, error);
    return fd >= 0 && fs_write(fd, text, strlen(text), error) && fs_sync_file(fd, error) &&
           fs_rename(spool_fd, temporary, GENERATION_FILE, error);
}
