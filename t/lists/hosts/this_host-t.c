/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Test what one of two hosts may do: the work that it has claimed, and only until its lease ends. */
#include "lists/hosts/this_host.h"

#include "base/clock.h"
#include "t/config_text.h"
#include "t/lists/fixture.h"
#include "t/lists/places.h"
#include "t/suite.h"

#define LEASE (3600 * CLOCK_SECOND)

typedef struct Pair {
    Fixture fixture;
    Config *config;
    Place places[2];
    Host *hosts[2];
} Pair;

static void set_up(Pair *pair, const void *data)
{
    static const char *const names[] = {"a.example.com", "b.example.com"};
    fixture_open(&pair->fixture, data);
    pair->config = config_from_text("[site]\nuser = nobody\n[runner.host]\nstart = yes\n");
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++) {
        place_open(&pair->places[i]);
        pair->hosts[i] = fixture_host(pair->fixture.store, names[i], "active", LEASE);
    }
}

static void tear_down(Pair *pair, const void *data)
{
    for (size_t i = 0; i < G_N_ELEMENTS(pair->hosts); i++) {
        host_free(pair->hosts[i]);
        place_close(&pair->places[i]);
    }
    config_free(pair->config);
    fixture_close(&pair->fixture, data);
}

/* Have the runner host of a host say that it may work until then, by clock_boot(). */
static void say(Pair *pair, unsigned host, int64_t until)
{
    GError *error = NULL;
    const ThisHost said = {.name = pair->hosts[host]->name, .epoch = pair->hosts[host]->epoch, .until = until};
    assert_ok(this_host_write(pair->places[host].spool, &said, &error), error);
}

/* Until when a host may do the work; 0: it may not. */
static int64_t claim(Pair *pair, unsigned host, const char *what)
{
    GError *error = NULL;
    int64_t until;
    assert_ok(this_host_claims(pair->fixture.store, pair->places[host].spool, pair->config, what, &until, &error),
              error);
    return until;
}

static void test_one_at_a_time(Pair *pair, const void *data)
{
    (void)data;
    int64_t until = clock_boot() + LEASE;
    g_assert_cmpint(claim(pair, 0, "task"), ==, 0); /* the runner host has said nothing yet */
    say(pair, 0, until);
    say(pair, 1, until + 1);
    g_assert_cmpint(claim(pair, 0, "task"), ==, until);
    g_assert_cmpint(claim(pair, 1, "task"), ==, 0);
    g_assert_cmpint(claim(pair, 1, "digest"), ==, until + 1);
    g_assert_cmpint(claim(pair, 0, "digest"), ==, 0);
    g_assert_cmpint(claim(pair, 0, "task"), ==, until);
}

/* A host whose lease is over by its own clock does nothing of it, and takes no claim that another one could have. */
static void test_after_the_lease(Pair *pair, const void *data)
{
    (void)data;
    int64_t until = clock_boot() + LEASE;
    say(pair, 0, clock_boot() - 1);
    say(pair, 1, until);
    g_assert_cmpint(claim(pair, 0, "task"), ==, 0);
    g_assert_cmpint(claim(pair, 1, "task"), ==, until);
    /* Nor does it go on with what it had before. */
    say(pair, 0, until);
    g_assert_cmpint(claim(pair, 0, "digest"), ==, until);
    say(pair, 0, clock_boot() - 1);
    g_assert_cmpint(claim(pair, 0, "digest"), ==, 0);
}

SUITE("this_host")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/this_host/one at a time", Pair, NULL, set_up, test_one_at_a_time, tear_down);
    g_test_add("/this_host/after the lease", Pair, NULL, set_up, test_after_the_lease, tear_down);
    return g_test_run();
}
