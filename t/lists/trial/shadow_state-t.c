/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/trial/shadow_state.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "base/fail.h"
#include "switchboard/meta.h"
#include "t/suite.h"

#define LIST "talk.lists.example.com"

typedef struct Place {
    char *directory, *report;
    int fd;
    ShadowLimits limits;
    ShadowState *state;
} Place;

static void open_state(Place *place)
{
    g_autoptr(GError) error = NULL;
    place->state = shadow_state_open(place->directory, place->fd, &place->limits, &error);
    g_assert_no_error(error);
}

static void set_up(Place *place, const void *data)
{
    (void)data;
    place->directory = g_dir_make_tmp("shadow.XXXXXX", NULL);
    place->report = g_build_filename(place->directory, "report", NULL);
    place->fd = open(place->report, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    place->limits = (ShadowLimits){.bytes = 2000, .posts = 3, .done = 2};
    open_state(place);
}

static void tear_down(Place *place, const void *data)
{
    (void)data;
    shadow_state_free(place->state);
    close(place->fd);
    g_autoptr(GDir) directory = g_dir_open(place->directory, 0, NULL);
    for (const char *name; (name = g_dir_read_name(directory));) {
        g_autofree char *path = g_build_filename(place->directory, name, NULL);
        g_assert_cmpint(g_unlink(path), ==, 0);
    }
    g_assert_cmpint(g_rmdir(place->directory), ==, 0);
    g_free(place->directory);
    g_free(place->report);
}

static void reopen(Place *place)
{
    g_clear_pointer(&place->state, shadow_state_free);
    open_state(place);
}

static ShadowTaken take(Place *place, const char *id, size_t size, int64_t arrival)
{
    ShadowTaken taken;
    g_autoptr(GError) error = NULL;
    g_autofree char *key = shadow_state_key(LIST, id), *text = g_strnfill(size, 'x');
    g_autoptr(json_t) head = json_pack("{ss sI}", "list_id", LIST, "arrival", (json_int_t)arrival);
    g_autoptr(GBytes) octets = g_bytes_new(text, size);
    g_assert_true(shadow_state_post(place->state, key, head, octets, &taken, &error));
    g_assert_no_error(error);
    return taken;
}

static ShadowTaken see(Place *place, const char *id, const char *recipient, size_t size, int64_t now)
{
    ShadowTaken taken;
    g_autoptr(GError) error = NULL;
    g_autofree char *key = shadow_state_key(LIST, id), *text = g_strnfill(size, 'y');
    g_autoptr(GBytes) octets = g_bytes_new(text, size);
    const char *recipients[] = {recipient, NULL};
    const ShadowSeen seen = {
        .list_id = LIST, .message_id = id, .recipients = (char **)recipients, .octets = octets, .now = now};
    g_assert_true(shadow_state_seen(place->state, key, &seen, &taken, &error));
    g_assert_no_error(error);
    return taken;
}

static void report(Place *place, const char *id)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *key = shadow_state_key(LIST, id);
    g_assert_true(shadow_state_report(place->state, key, id, &error));
    g_assert_no_error(error);
}

static unsigned count_recipients(Place *place, const char *id)
{
    g_auto(ShadowCase) found = {0};
    g_autoptr(GError) error = NULL;
    g_autofree char *key = shadow_state_key(LIST, id);
    g_assert_true(shadow_state_read(place->state, key, &found, &error));
    g_assert_no_error(error);
    return g_hash_table_size(found.recipients);
}

static void posts_and_bytes_are_bounded(Place *place, const void *data)
{
    (void)data;
    g_assert_cmpint(take(place, "large", 3000, 1), ==, SHADOW_NO_ROOM);
    g_assert_cmpint(see(place, "large", "anne@example.org", 3000, 1), ==, SHADOW_NO_ROOM);
    g_assert_cmpint(take(place, "a", 500, 1), ==, SHADOW_TAKEN);
    g_assert_cmpint(see(place, "b", "anne@example.org", 500, 2), ==, SHADOW_TAKEN);
    g_assert_cmpint(see(place, "b", "bart@example.org", 500, 2), ==, SHADOW_TAKEN); /* the first copy alone is kept */
    g_assert_cmpint(take(place, "c", 10, 3), ==, SHADOW_TAKEN);
    g_assert_cmpint(take(place, "d", 10, 4), ==, SHADOW_NO_ROOM); /* a fourth post */
    reopen(place);
    g_assert_cmpint(take(place, "d", 10, 4), ==, SHADOW_NO_ROOM);
    g_assert_cmpint(see(place, "c", "anne@example.org", 1000, 4), ==, SHADOW_NO_ROOM);
    report(place, "a");
    g_assert_cmpint(see(place, "c", "anne@example.org", 1000, 4), ==, SHADOW_TAKEN);
}

static void longest_waiting_comes_first(Place *place, const void *data)
{
    (void)data;
    see(place, "young", "anne@example.org", 1, 70);
    take(place, "old", 1, 50);
    see(place, "first", "anne@example.org", 1, 20);
    take(place, "first", 1, 90); /* its copy came before */
    for (unsigned time = 0; time < 2; time++) {
        g_autofree char *first = shadow_state_key(LIST, "first"), *old = shadow_state_key(LIST, "old");
        g_assert_null(shadow_state_due(place->state, 20));
        g_assert_cmpstr(shadow_state_due(place->state, 21), ==, first);
        g_assert_cmpstr(shadow_state_due(place->state, 1000), ==, first);
        reopen(place);
        if (time == 1) {
            report(place, "first");
            g_assert_cmpstr(shadow_state_due(place->state, 60), ==, old);
        }
    }
}

static void lines_that_were_cut_do_not_count(Place *place, const void *data)
{
    (void)data;
    see(place, "a", "anne@example.org", 1, 1);
    g_autofree char *key = shadow_state_key(LIST, "a"), *name = g_strconcat(key, ".seen", NULL);
    g_autofree char *path = g_build_filename(place->directory, name, NULL), *text = NULL;
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    g_autofree char *torn = g_strconcat(text, "\nr bart@example", NULL);
    g_assert_true(g_file_set_contents(path, torn, -1, NULL));
    reopen(place);
    g_assert_cmpuint(count_recipients(place, "a"), ==, 1);
    see(place, "a", "cleo@example.org", 1, 2);
    g_assert_cmpuint(count_recipients(place, "a"), ==, 2);
    see(place, "a", "CLEO@example.org", 1, 2);
    g_assert_cmpuint(count_recipients(place, "a"), ==, 2);
}

static void reported_posts_are_known_and_bounded(Place *place, const void *data)
{
    (void)data;
    static const char *const ids[] = {"a", "b", "c"};
    for (unsigned at = 0; at < G_N_ELEMENTS(ids); at++) {
        take(place, ids[at], 10, at + 1);
        report(place, ids[at]);
    }
    g_assert_cmpint(take(place, "c", 10, 9), ==, SHADOW_LATE);
    g_assert_cmpint(see(place, "b", "anne@example.org", 10, 9), ==, SHADOW_LATE);
    g_assert_cmpint(take(place, "a", 10, 9), ==, SHADOW_TAKEN); /* the oldest is forgotten */
    reopen(place);
    g_assert_cmpint(take(place, "c", 10, 9), ==, SHADOW_LATE);
    g_assert_cmpint(take(place, "a", 10, 9), ==, SHADOW_KNOWN);
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(place->report, &text, NULL, NULL));
    g_assert_cmpstr(text, ==, "a\nb\nc\n");
}

/* Check that a file that cannot be read is not taken for one that a crash left. */
static void report_that_cannot_be_read_stays(Place *place, const void *data)
{
    (void)data;
    g_autoptr(GError) error = NULL;
    g_autofree char *key = shadow_state_key(LIST, "b"), *text = NULL;
    take(place, "a", 10, 1);
    report(place, "a");
    take(place, "b", 10, 2);
    int closed = open(place->report, O_WRONLY | O_CLOEXEC);
    g_assert_cmpint(dup3(closed, place->fd, O_CLOEXEC), ==, place->fd);
    close(closed);
    g_assert_false(shadow_state_report(place->state, key, "b", &error));
    g_assert_error(error, FAIL, FAIL_LATER);
    g_assert_true(g_file_get_contents(place->report, &text, NULL, NULL));
    g_assert_cmpstr(text, ==, "a\n");
}

static void third_attempt_is_poison(Place *place, const void *data)
{
    (void)data;
    bool poison;
    take(place, "a", 10, 1);
    g_autofree char *key = shadow_state_key(LIST, "a");
    for (unsigned at = 0; at < 4; at++) { /* a fault that passes does not count */
        g_assert_true(shadow_state_attempt(place->state, key, &poison, NULL) && !poison);
        shadow_state_withdraw(place->state, key);
    }
    for (unsigned at = 0; at < 3; at++) {
        g_assert_true(shadow_state_attempt(place->state, key, &poison, NULL));
        g_assert_cmpint(poison, ==, at == 2);
        reopen(place);
    }
}

SUITE("shadow_state")
{
    g_test_init(&argc, &argv, NULL);
#define ADD(name) g_test_add("/shadow_state/" #name, Place, NULL, set_up, name, tear_down)
    ADD(posts_and_bytes_are_bounded);
    ADD(longest_waiting_comes_first);
    ADD(lines_that_were_cut_do_not_count);
    ADD(reported_posts_are_known_and_bounded);
    ADD(report_that_cannot_be_read_stays);
    ADD(third_attempt_is_poison);
    return g_test_run();
}
