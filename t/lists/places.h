/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Make a spool in a temporary directory, and put the clock forward, for tests. */
#include <glib.h>
#include <glib/gstdio.h>
#include <stdint.h>

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
