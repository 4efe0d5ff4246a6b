/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Test exports: one without secrets has none, one that could not be written whole is told of, and one that lacks a line
 * is not imported. */
#include "lists/moving/leaving.h"

#include "base/fail.h"
#include "store/moving/carry.h"
#include "store/people/user.h"
#include "store/secret.h"
#include "t/lists/fixture.h"
#include "t/suite.h"

#define HASH "$6$salt$hashofausersword"

/* Give the world a secret of each sort: a row that is one, a field, and the password of the list. *of_list is the
 * latter; g_free(). */
static void make_secrets(World *world, char **of_list)
{
    GError *error = NULL;
    char id[STORE_ID_SIZE];
    int64_t held_last;
    g_autoptr(GPtrArray) secrets = secret_all(world->store, &error);
    g_assert_no_error(error);
    assert_ok(user_create(world->store, mailbox_of("uma@example.org"), "Uma", id, &error), error);
    assert_ok(user_set_password(world->store, id, HASH, &error), error);
    world_set(world, "moderator_password", "quite secret words");
    assert_ok(carry_read_list(world->store, LIST, &held_last, of_list, &error), error);
    g_assert_nonnull(*of_list);
}

/* Return the export of the site; g_free(). */
static char *export_site(World *world, bool no_secrets)
{
    GError *error = NULL;
    char *text = NULL;
    size_t length = 0;
    uint64_t lines;
    FILE *to = open_memstream(&text, &length);
    assert_ok(leaving_write(world->store, &(LeavingChoice){.no_secrets = no_secrets}, to, &lines, &error), error);
    fclose(to);
    char *copy = g_strdup(text);
    free(text);
    return copy;
}

static void test_no_secrets(World *world, const void *data)
{
    (void)data;
    char *of_list = NULL;
    make_secrets(world, &of_list);
    g_autofree char *hash = of_list, *whole = export_site(world, false), *without = export_site(world, true);
    const char *const secret[] = {HASH, hash, "\"row\":\"secret\""};
    for (size_t at = 0; at < G_N_ELEMENTS(secret); at++) {
        g_assert_nonnull(strstr(whole, secret[at]));
        g_assert_null(strstr(without, secret[at]));
    }
    g_assert_nonnull(strstr(without, "uma@example.org"));
}

static void test_full(World *world, const void *data)
{
    (void)data;
    g_autoptr(GError) error = NULL;
    uint64_t lines;
    FILE *to = fopen("/dev/full", "w");
    g_assert_nonnull(to);
    setvbuf(to, NULL, _IONBF, 0);
    g_assert_false(leaving_write(world->store, &(LeavingChoice){0}, to, &lines, &error));
    g_assert_error(error, FAIL, FAIL_LATER);
    fclose(to);
    g_autofree char *whole = export_site(world, false); /* no transaction is left open */
    g_assert_nonnull(strstr(whole, LIST));
}

static void take_line(MovingNote note, const char *place, const char *key, const char *text, void *data)
{
    (void)data;
    g_test_message("note %d: %s %s: %s", note, place, key, text);
}

static void take_progress(uint64_t rows, void *data)
{
    (void)rows;
    (void)data;
}

/* Import the text, as one transaction that is dropped. */
static bool import(World *world, char *text, GError **error)
{
    const MovingSite site = {.store = world->store,
                             .site = &world->site,
                             .of_site = true,
                             .at_once = true,
                             .tell = take_line,
                             .progress = take_progress};
    FILE *file = fmemopen(text, strlen(text), "r");
    g_autoptr(LeavingFile) from = leaving_open(file, error);
    g_assert_no_error(*error);
    g_autoptr(Moving) moving = moving_new(&site, leaving_source(from));
    bool done = leaving_move(from, moving, error);
    fclose(file);
    return done;
}

static void test_lines_are_missing(World *world, const void *data)
{
    (void)data;
    g_autoptr(GError) error = NULL;
    g_autofree char *text = export_site(world, false);
    assert_ok(import(world, text, &error), error);
    char *second = strchr(text, '\n') + 1, *third = strchr(second, '\n') + 1;
    memmove(second, third, strlen(third) + 1);
    g_assert_false(import(world, text, &error));
    g_assert_error(error, FAIL, FAIL_CONFIG);
    g_assert_nonnull(strstr(error->message, "it should be line"));
}

SUITE("moving/leaving")
{
    g_test_init(&argc, &argv, NULL);
    WORLD_TEST("/leaving/without secrets", test_no_secrets);
    WORLD_TEST("/leaving/a full disk", test_full);
    WORLD_TEST("/leaving/lines are missing", test_lines_are_missing);
    return g_test_run();
}
