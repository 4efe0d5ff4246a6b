/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Test that the state of destinations is written when there is something new to it, and else left on the disk. */
#include "runners/outgoing/saved_state.h"

#include <event2/event.h>
#include <glib/gstdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "t/suite.h"

typedef struct World {
    char *directory;
    Config *config;
    struct event_base *base;
    TransportShared shared;
    Backoff backoff;
    GPtrArray *transports;
    SavedState saved;
} World;

static void set_up(World *world, gconstpointer data)
{
    g_autoptr(GError) error = NULL;
    world->directory = g_dir_make_tmp("listrunner-memory-XXXXXX", &error);
    g_assert_no_error(error);
    g_autofree char *path = g_build_filename(world->directory, "conf", NULL);
    g_autofree char *text = g_strdup_printf("[spool]\ndirectory = %s\n", world->directory);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
    world->config = config_load(path, true, &error);
    g_assert_no_error(error);
    world->base = event_base_new();
    world->shared = (TransportShared){
        .base = world->base, .config = world->config, .instances = 1, .backoff = &world->backoff};
    world->transports = g_ptr_array_new_with_free_func((GDestroyNotify)transport_free);
    g_ptr_array_add(world->transports, transport_new(&world->shared, "relay", &error));
    g_assert_no_error(error);
    saved_state_init(&world->saved, world->directory, (Slice){0, 1});
}

static void tear_down(World *world, gconstpointer data)
{
    const char *remove[] = {"rm", "-rf", "--", world->directory, NULL};
    g_spawn_sync(NULL, (char **)remove, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL, NULL);
    saved_state_clear(&world->saved);
    g_ptr_array_unref(world->transports);
    event_base_free(world->base);
    config_free(world->config);
    g_free(world->directory);
}

/* Was it written since the last time we asked? */
static bool written(const World *world)
{
    return g_unlink(world->saved.file) == 0;
}

static Destination *relay(const World *world)
{
    return transport_find(world->transports->pdata[0], "relay", true);
}

static void only_what_is_new(World *world, gconstpointer data)
{
    /* The file that an earlier process left may be another's. */
    g_assert_true(saved_state_write(&world->saved, world->transports, false));
    g_assert_true(written(world));
    g_assert_true(saved_state_write(&world->saved, world->transports, false));
    g_assert_false(written(world));
    relay(world)->suspended = true;
    g_assert_true(saved_state_write(&world->saved, world->transports, false));
    g_assert_true(written(world));
    g_assert_true(saved_state_write(&world->saved, world->transports, false));
    g_assert_false(written(world));
    g_assert_true(saved_state_write(&world->saved, world->transports, true)); /* asked for: always */
    g_assert_true(written(world));
    g_assert_true(saved_state_write(&world->saved, world->transports, false));
    g_assert_false(written(world));
    relay(world)->suspended = false;
    g_assert_true(saved_state_write(&world->saved, world->transports, false));
    g_assert_true(written(world));
}

/* An order that nobody touches for longer than SAVED_STATE_LIFETIME must not look too old. */
static void renewed(World *world, gconstpointer data)
{
    g_assert_true(saved_state_write(&world->saved, world->transports, false));
    g_assert_true(written(world));
    g_assert_cmpint(world->saved.renew_at, >, clock_monotonic());
    g_assert_cmpint(world->saved.renew_at, <, clock_monotonic() + SAVED_STATE_LIFETIME / 2);
    world->saved.renew_at = clock_monotonic();
    g_assert_true(saved_state_write(&world->saved, world->transports, false));
    g_assert_true(written(world));
    g_assert_true(saved_state_write(&world->saved, world->transports, false));
    g_assert_false(written(world));
}

/* Check that a state that could not be written is not taken to be there. */
static void tried_again(World *world, gconstpointer data)
{
    g_assert_cmpint(g_rmdir(world->saved.directory), ==, 0);
    g_assert_false(saved_state_write(&world->saved, world->transports, false));
    g_assert_cmpint(g_mkdir(world->saved.directory, 0700), ==, 0);
    g_assert_true(saved_state_write(&world->saved, world->transports, false));
    g_assert_true(written(world));
}

SUITE("outgoing/saved_state")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/memory/only what is new", World, NULL, set_up, only_what_is_new, tear_down);
    g_test_add("/memory/renewed", World, NULL, set_up, renewed, tear_down);
    g_test_add("/memory/tried again", World, NULL, set_up, tried_again, tear_down);
    return g_test_run();
}
