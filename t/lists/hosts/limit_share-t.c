/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The part of the limits that a host may use, as its processes see it. */
#include "lists/hosts/limit_share.h"

#include "base/clock.h"
#include "base/fail.h"
#include "lists/hosts/this_host.h"
#include "t/config_text.h"
#include "t/lists/places.h"

/* Write what the runner host says. */
static void say(Place *place, int64_t parts, int64_t until)
{
    GError *error = NULL;
    const ThisHost said = {.name = (char *)"a", .epoch = 1, .parts = parts, .share_until = until};
    g_assert_true(this_host_write(place->spool, &said, &error));
}

/* While a process looks, the runner host takes its part down: it has read the old one. */
static Place *taken_down; /* the place in which that happens after the next reading; NULL: nowhere */

bool __real_this_host_read(int spool_fd, ThisHost *host, GError **error);
bool __wrap_this_host_read(int spool_fd, ThisHost *host, GError **error);
bool __wrap_this_host_read(int spool_fd, ThisHost *host, GError **error)
{
    bool done = __real_this_host_read(spool_fd, host, error);
    Place *place = g_steal_pointer(&taken_down);
    if (place)
        say(place, 4, INT64_MAX);
    return done;
}

static bool in_use(Place *place, unsigned parts)
{
    GError *error = NULL;
    bool used;
    g_assert_true(limit_share_in_use(place->spool, parts, &used, &error));
    return used;
}

static LimitShare *new_share(Place *place, const Config *config)
{
    GError *error = NULL;
    LimitShare *share = limit_share_new(place->spool, config, true, &error);
    g_assert_no_error(error);
    return share;
}

/* Where the runner host is not started, all is this host's. */
static void test_alone(void)
{
    Place place;
    place_open(&place);
    g_autoptr(Config) config = config_from_text("[site]\nuser = nobody\n");
    g_autoptr(LimitShare) share = new_share(&place, config);
    g_assert_cmpuint(limit_share_look(share), ==, 1);
    g_assert_false(limit_share_changes(share));
    g_assert_false(in_use(&place, 0));
    place_close(&place);
}

/* A part is in use until each process says that it keeps to a smaller one, or ends; and what is told last holds. */
static void test_marks(void)
{
    Place place;
    place_open(&place);
    g_autoptr(Config) config = config_from_text("[site]\nuser = nobody\n[runner.host]\nstart = yes\n");
    LimitShare *one = new_share(&place, config), *two = new_share(&place, config);
    g_assert_true(limit_share_changes(one));
    g_assert_cmpuint(limit_share_look(one), ==, 0); /* nothing was said yet */
    g_assert_false(in_use(&place, 0));
    say(&place, 1, INT64_MAX);
    g_assert_cmpuint(limit_share_look(one), ==, 1);
    g_assert_cmpuint(limit_share_look(two), ==, 1);
    g_assert_true(in_use(&place, 2) && in_use(&place, 0) && !in_use(&place, 1));
    say(&place, 3, INT64_MAX);
    g_assert_true(in_use(&place, 3));
    g_assert_cmpuint(limit_share_look(one), ==, 3);
    limit_share_kept(one);
    g_assert_true(in_use(&place, 3)); /* two did not look yet */
    g_assert_cmpuint(limit_share_look(two), ==, 3);
    g_assert_true(in_use(&place, 3)); /* more than that is under way */
    limit_share_free(two);
    g_assert_true(!in_use(&place, 3) && in_use(&place, 4) && in_use(&place, 0));
    say(&place, 2, INT64_MAX);
    g_assert_cmpuint(limit_share_look(one), ==, 2);
    g_assert_true(in_use(&place, 3) && !in_use(&place, 2));
    say(&place, 0, INT64_MAX);
    g_assert_cmpuint(limit_share_look(one), ==, 0);
    g_assert_true(in_use(&place, 0));
    limit_share_kept(one);
    g_assert_false(in_use(&place, 0));
    limit_share_free(one);
    place_close(&place);
}

/* A part that was taken down between a process's reading and its mark is not used: the runner host may have looked for
 * marks before, and given the part to others. */
static void test_taken_down_meanwhile(void)
{
    Place place;
    place_open(&place);
    g_autoptr(Config) config = config_from_text("[site]\nuser = nobody\n[runner.host]\nstart = yes\n");
    g_autoptr(LimitShare) share = new_share(&place, config);
    say(&place, 5, INT64_MAX);
    g_assert_cmpuint(limit_share_look(share), ==, 5);
    say(&place, 1, INT64_MAX);
    taken_down = &place;
    g_assert_cmpuint(limit_share_look(share), ==, 5); /* as before */
    g_assert_null(taken_down);
    g_assert_true(in_use(&place, 6) && !in_use(&place, 5));
    g_assert_cmpuint(limit_share_look(share), ==, 4);
    g_assert_true(in_use(&place, 5) && !in_use(&place, 4));
    place_close(&place);
}

/* Of what was said too long ago, nothing may be used: it is another host's by now. */
static void test_expired(void)
{
    Place place;
    place_open(&place);
    g_autoptr(Config) config = config_from_text("[site]\nuser = nobody\n[runner.host]\nstart = yes\n");
    g_autoptr(LimitShare) share = new_share(&place, config);
    say(&place, 2, clock_boot() + 3600 * CLOCK_SECOND);
    g_assert_cmpuint(limit_share_look(share), ==, 2);
    say(&place, 2, clock_boot());
    g_assert_cmpuint(limit_share_look(share), ==, 0);
    place_close(&place);
}

/* Check that a share written before is not used until a runner host has begun, and is used then also when that host is
 * no more. */
static void test_from_before(void)
{
    Place place;
    GError *error = NULL;
    place_open(&place);
    g_autoptr(Config) config = config_from_text("[site]\nuser = nobody\n[runner.host]\nstart = yes\n");
    g_autoptr(LimitShare) share = limit_share_new(place.spool, config, false, &error);
    g_assert_no_error(error);
    say(&place, 2, INT64_MAX);
    g_assert_cmpuint(limit_share_look(share), ==, 0);
    g_assert_false(in_use(&place, 0));
    say(&place, 3, INT64_MAX);
    int runner = limit_share_begin(place.spool, &error);
    g_assert_no_error(error);
    g_assert_false(in_use(&place, 0)); /* by the runner host itself */
    g_assert_cmpuint(limit_share_look(share), ==, 3);
    g_assert_true(in_use(&place, 0));
    g_close(runner, NULL);
    g_assert_cmpuint(limit_share_look(share), ==, 3);
    say(&place, 2, INT64_MAX);
    g_assert_cmpuint(limit_share_look(share), ==, 2);
    g_autoptr(LimitShare) late = limit_share_new(place.spool, config, false, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(limit_share_look(late), ==, 0); /* of a runner host that it never saw */
    place_close(&place);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/limit share/alone", test_alone);
    g_test_add_func("/limit share/marks", test_marks);
    g_test_add_func("/limit share/taken down meanwhile", test_taken_down_meanwhile);
    g_test_add_func("/limit share/expired", test_expired);
    g_test_add_func("/limit share/from before", test_from_before);
    return g_test_run();
}
