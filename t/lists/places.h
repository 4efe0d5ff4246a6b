/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Make a spool in a temporary directory and a configuration, count files of queues, and put the clock forward, for
 * tests. */
#include <glib.h>
#include <glib/gstdio.h>
#include <stdint.h>

#include "lists/kept.h"
#include "switchboard/spool.h"

typedef struct Place {
    char *folder;
    Spool *spool;
} Place;

static inline void place_open(Place *place)
{
    GError *error = NULL;
    place->folder = g_dir_make_tmp("spool-XXXXXX", &error);
    place->spool = spool_open(place->folder, &error);
    g_assert_no_error(error);
}

static inline void place_close(Place *place)
{
    spool_free(place->spool);
    const char *const command[] = {"rm", "-rf", place->folder, NULL};
    g_spawn_sync(NULL, (char **)command, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL, NULL);
    g_free(place->folder);
}

/* With the id of the spool and the key of its outbox, so that tests need not count the calls that make them. */
static inline void place_with_id(Place *place)
{
    GError *error = NULL;
    KeptKey key;
    place_open(place);
    g_assert_true(kept_key_read(place->spool, &key, &error));
    g_assert_no_error(error);
}

/* How many entries a queue has; *last (may be NULL) is the name of one. */
static inline unsigned entries_in(const Place *place, const char *queue, char **last)
{
    unsigned count = 0;
    g_autofree char *path = g_build_filename(place->folder, queue, NULL);
    g_autoptr(GDir) directory = g_dir_open(path, 0, NULL);
    for (const char *name; directory && (name = g_dir_read_name(directory));)
        if (g_str_has_suffix(name, ".msg")) {
            count++;
            if (last)
                *last = g_strdup(name);
        }
    return count;
}

/* All files of a queue. */
static inline unsigned files_in(const Place *place, const char *queue)
{
    unsigned count = 0;
    g_autofree char *path = g_build_filename(place->folder, queue, NULL);
    g_autoptr(GDir) directory = g_dir_open(path, 0, NULL);
    while (directory && g_dir_read_name(directory))
        count++;
    return count;
}

/* Put clock_now() ahead of the real time by so many seconds. Only under clock_run_tests(). */
static inline void clock_put(int64_t seconds)
{
    g_autofree char *text = g_strdup_printf("%" G_GINT64_FORMAT "\n", seconds);
    g_assert_true(g_file_set_contents(g_getenv("LISTRUNNER_CLOCK_FILE"), text, -1, NULL));
}

/* Run the tests of the program in place of g_test_run(), with a clock that clock_put() changes. Return main()'s result.
 */
static inline int clock_run_tests(void)
{
    g_autofree char *directory = g_dir_make_tmp("clock-XXXXXX", NULL);
    g_autofree char *file = g_build_filename(directory, "offset", NULL);
    g_setenv("LISTRUNNER_CLOCK_FILE", file, TRUE);
    clock_put(0);
    int result = g_test_run();
    g_unlink(file);
    g_rmdir(directory);
    return result;
}
