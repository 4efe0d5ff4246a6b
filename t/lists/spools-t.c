/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Spools that share a database. */
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "lists/hosts/this_host.h"
#include "lists/kept.h"
#include "lists/unit.h"
#include "store/hosts/host.h"
#include "t/lists/fixture.h"
#include "t/lists/places.h"
#include "t/suite.h"

static unsigned units_of(World *world)
{
    g_autoptr(GPtrArray) all = outbox_units(world->store, NULL, NULL);
    return all->len;
}

/* A spool's id is made once and stays with it; no two have the same. One that was damaged is not used. */
static void test_id(World *world, const void *data)
{
    (void)world;
    GError *error = NULL;
    Place one, two;
    place_open(&one);
    place_open(&two);
    g_autofree char *id = g_strdup(spool_id(one.spool, &error));
    g_assert_no_error(error);
    g_assert_cmpuint(strlen(id), ==, SPOOL_ID_SIZE - 1);
    g_assert_cmpstr(id, !=, spool_id(two.spool, NULL));
    g_autoptr(Spool) again = spool_open(one.folder, NULL);
    g_assert_cmpstr(spool_id(again, NULL), ==, id);
    g_autofree char *file = g_build_filename(one.folder, SPOOL_ID_FILE, NULL);
    static const char *const wrong[] = {"", "0123\n", "0123456789abcdef0123456789abcdeg\n",
                                        "0123456789abcdef0123456789abcdef\nmore"};
    for (size_t i = 0; i < G_N_ELEMENTS(wrong); i++) {
        g_autoptr(Spool) damaged = spool_open(one.folder, NULL);
        g_assert_true(g_file_set_contents(file, wrong[i], -1, NULL));
        g_assert_null(spool_id(damaged, &error));
        assert_failed(FAIL_CONFIG, error);
    }
    place_close(&one);
    place_close(&two);
}

/* The first site whose database is used with a spool stays its site. */
static void test_site(World *world, const void *data)
{
    GError *error = NULL;
    Place place;
    place_open(&place);
    for (int time = 0; time < 2; time++)
        assert_ok(this_host_check_site(world->store, place.spool, &error), error);
    g_autofree char *file = g_build_filename(place.folder, THIS_HOST_SITE_FILE, NULL);
    g_assert_true(g_file_set_contents(file, "0123456789abcdef0123456789abcdef\n", -1, NULL));
    g_assert_false(this_host_check_site(world->store, place.spool, &error));
    assert_failed(FAIL_CONFIG, error);
    g_assert_cmpint(unlink(file), ==, 0);
    assert_ok(this_host_check_site(world->store, place.spool, &error), error);
    place_close(&place);
}

/* Check that a file written before the machine was started anew, or a damaged one, tells nothing. */
static void test_told(World *world, const void *data)
{
    (void)world;
    GError *error = NULL;
    Place place;
    place_open(&place);
    g_auto(ThisHost) read = {0};
    const ThisHost said = {.name = (char *)"a", .epoch = 7, .until = 12345, .before = 3, .draining = true};
    g_assert_false(this_host_read(spool_fd(place.spool), &read, &error));
    assert_failed(FAIL_MISSING, error);
    for (int time = 0; time < 2; time++)
        assert_ok(this_host_write(place.spool, &said, &error), error);
    assert_ok(this_host_read(spool_fd(place.spool), &read, &error), error);
    g_assert_cmpstr(read.name, ==, "a");
    g_assert_true(read.epoch == 7 && read.until == 12345 && read.before == 3 && read.draining);
    this_host_clear(&read);
    g_autofree char *file = g_build_filename(place.folder, THIS_HOST_FILE, NULL), *text = NULL;
    g_assert_true(g_file_get_contents(file, &text, NULL, NULL));
    char *boot = strstr(text, "\"boot\":\"");
    boot[8] = boot[8] == '0' ? '1' : '0';
    g_assert_true(g_file_set_contents(file, text, -1, NULL));
    g_assert_false(this_host_read(spool_fd(place.spool), &read, &error));
    assert_failed(FAIL_MISSING, error);
    g_assert_true(g_file_set_contents(file, "{\"name\"", -1, NULL));
    g_assert_false(this_host_read(spool_fd(place.spool), &read, &error));
    assert_failed(FAIL_MISSING, error);
    place_close(&place);
}

/* Of two hosts that share the database, each settles what was prepared in its own spool and leaves the rows of the
 * other one: the mail of a unit whose row went would be removed. */
static void test_another_spool(World *world, const void *data)
{
    GError *error = NULL;
    Place ours, theirs;
    place_open(&ours);
    place_open(&theirs);
    const char *id = spool_id(theirs.spool, &error);
    assert_ok(id != NULL, error);
    g_assert_cmpstr(id, !=, spool_id(ours.spool, NULL));
    assert_ok(store_begin(world->store, &error), error);
    assert_ok(outbox_unit_add(world->store, id, "0123456789abcdef0123456789abcdef", "virgin", 1, &error), error);
    assert_ok(store_commit(world->store, &error), error);
    KeptKey key;
    assert_ok(kept_key_read(theirs.spool, &key, &error), error);
    const KeptRow row = {.queue = (char *)"virgin",
                         .meta = (char *)"{}",
                         .recipients = (char *)"anne@example.org",
                         .message = g_bytes_new_static("letter", 6),
                         .made_at = 1};
    assert_ok(kept_add(world->store, &key, "command:0000000000000000000000000000000000000001", &row, &error), error);
    assert_ok(unit_settle(world->store, ours.spool, true, &error), error);
    assert_ok(kept_forget_gone(world->store, ours.spool, INT64_MAX, &error), error);
    g_assert_cmpuint(units_of(world), ==, 1);
    g_auto(GStrv) kept = outbox_entries(world->store, NULL, INT64_MAX, &error);
    g_assert_cmpuint(g_strv_length(kept), ==, 1);
    assert_ok(unit_settle(world->store, theirs.spool, true, &error), error);
    assert_ok(kept_forget_gone(world->store, theirs.spool, INT64_MAX, &error), error);
    g_assert_cmpuint(units_of(world), ==, 0);
    g_auto(GStrv) none = outbox_entries(world->store, NULL, INT64_MAX, &error);
    g_assert_cmpuint(g_strv_length(none), ==, 0);
    g_bytes_unref(row.message);
    place_close(&ours);
    place_close(&theirs);
}

static bool begin(World *world, const Place *place, const char *boot, GError **error)
{
    g_auto(ThisHost) said = {0};
    g_autoptr(Host) host = g_new0(Host, 1);
    host->name = g_strdup("a");
    host->spool = g_strdup(spool_id(place->spool, NULL));
    host->boot = g_strdup(boot);
    host->version = g_strdup("1");
    host->state = g_strdup("{}");
    return this_host_begin(world->store, place->spool, host, 60 * CLOCK_SECOND, &said, error);
}

/* As when its machine was gone for longer than a lease. */
static void end_all(World *world)
{
    g_autoptr(GPtrArray) all = host_all(world->store, NULL);
    for (guint at = 0; at < all->len; at++)
        g_assert_true(host_end(world->store, all->pdata[at], NULL));
}

static void place_copy(const Place *from, Place *to)
{
    GError *error = NULL;
    to->folder = g_dir_make_tmp("spool-XXXXXX", &error);
    g_autofree char *all = g_strconcat(from->folder, "/.", NULL);
    const char *const command[] = {"cp", "-a", all, to->folder, NULL};
    g_assert_true(g_spawn_sync(NULL, (char **)command, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, NULL, NULL, NULL, NULL));
    to->spool = spool_open(to->folder, &error);
    g_assert_no_error(error);
}

static void test_copy(World *world, const void *data)
{
    GError *error = NULL;
    Place first, copy;
    place_open(&first);
    assert_ok(begin(world, &first, "boot-1", &error), error);
    place_copy(&first, &copy);
    g_assert_false(begin(world, &copy, "boot-2", &error)); /* the first lives */
    assert_failed(FAIL_LATER, error);
    end_all(world);
    assert_ok(begin(world, &copy, "boot-2", &error), error);
    end_all(world);
    for (int time = 0; time < 2; time++) {
        g_assert_false(begin(world, &first, "boot-1", &error));
        assert_failed(FAIL_CONFIG, error);
    }
    g_autofree char *file = g_build_filename(first.folder, THIS_HOST_FILE, NULL);
    g_assert_cmpint(unlink(file), ==, 0); /* as the message says */
    assert_ok(begin(world, &first, "boot-1", &error), error);
    end_all(world);
    g_assert_false(begin(world, &copy, "boot-2", &error));
    assert_failed(FAIL_CONFIG, error);
    place_close(&first);
    place_close(&copy);
}

/* A start that was cut short leaves an epoch that the database has, or one that it has not. */
static void test_killed_while_it_begins(World *world, const void *data)
{
    GError *error = NULL;
    Place first, copy;
    place_open(&first);
    assert_ok(begin(world, &first, "boot-1", &error), error);
    for (int time = 0; time < 3; time++) {
        g_auto(ThisHost) said = {0};
        assert_ok(this_host_read(spool_fd(first.spool), &said, &error), error);
        said.before = said.epoch;
        assert_ok(host_next_epoch(world->store, &said.epoch, &error), error);
        assert_ok(this_host_write(first.spool, &said, &error), error); /* and killed before it is committed */
        if (time == 2)
            place_copy(&first, &copy);
        assert_ok(begin(world, &first, "boot-1", &error), error); /* and killed behind it */
    }
    end_all(world);
    g_assert_false(begin(world, &copy, "boot-2", &error));
    assert_failed(FAIL_CONFIG, error);
    place_close(&first);
    place_close(&copy);
}

SUITE("spools")
{
    g_test_init(&argc, &argv, NULL);
    WORLD_TEST("/spools/id", test_id);
    WORLD_TEST("/spools/site", test_site);
    WORLD_TEST("/spools/what the host was told", test_told);
    WORLD_TEST("/spools/each settles its own", test_another_spool);
    WORLD_TEST("/spools/older than its copy", test_copy);
    WORLD_TEST("/spools/killed while it begins", test_killed_while_it_begins);
    return g_test_run();
}
