/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/outgoing/claims.h"

#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/fail.h"
#include "t/base/threadless.h"
#include "t/suite.h"
#include "t/switchboard/fixture.h"

typedef struct Site {
    Fixture fixture;
    Inbox *inboxes[SOURCES];
    Claims claims;
} Site;

static const char *const queues[SOURCES] = {"out", "retry", "notice"};

static void set_up(Site *site, gconstpointer data)
{
    fixture_set_up(&site->fixture, data);
    for (int source = 0; source < SOURCES; source++)
        site->inboxes[source] = fixture_inbox(&site->fixture, queues[source]);
    claims_init(&site->claims);
}

static void tear_down(Site *site, gconstpointer data)
{
    claims_clear(&site->claims);
    for (int source = 0; source < SOURCES; source++)
        inbox_free(site->inboxes[source]);
    fixture_tear_down(&site->fixture, data);
}

/* Stores so many messages in each queue and has them picked, in the limits. */
static size_t pick(Site *site, unsigned stored, size_t limit)
{
    size_t picked = 0;
    for (unsigned source = 0; source < SOURCES; source++) {
        for (unsigned i = 0; i < stored; i++)
            g_free(fixture_store(&site->fixture, queues[source], "m"));
        g_assert_true(inbox_refresh(site->inboxes[source], NULL));
        picked += inbox_pick(site->inboxes[source], limit, site->claims.picked[source]);
    }
    g_assert_cmpuint(claims_count(&site->claims), ==, picked);
    return picked;
}

static void expect_entries(Site *site, unsigned each)
{
    GPtrArray *entries[SOURCES];
    for (int source = 0; source < SOURCES; source++)
        entries[source] = g_ptr_array_new_with_free_func((GDestroyNotify)entry_free);
    g_assert_true(claims_collect(&site->claims, site->inboxes, entries, NULL));
    for (int source = 0; source < SOURCES; source++) {
        g_assert_cmpuint(entries[source]->len, ==, each);
        for (guint i = 0; i < each; i++)
            g_assert_cmpstr(queue_name(entry_queue(entries[source]->pdata[i])), ==, queues[source]);
        g_ptr_array_unref(entries[source]);
    }
    g_assert_cmpuint(claims_count(&site->claims), ==, 0);
    g_assert_false(claims_ready(&site->claims));
}

static void expect_wake(Site *site)
{
    struct pollfd woken = {.fd = site->claims.wake, .events = POLLIN};
    g_assert_cmpint(poll(&woken, 1, 60 * 1000), ==, 1);
    g_assert_true(claims_ready(&site->claims));
    eventfd_t times;
    g_assert_cmpint(eventfd_read(site->claims.wake, &times), ==, 0);
    g_assert_cmpint(poll(&woken, 1, 0), ==, 0);
}

static void test_aside(Site *site, gconstpointer data)
{
    for (int round = 0; round < 20; round++) {
        g_assert_cmpuint(pick(site, 3, 3), ==, 3 * SOURCES);
        claims_begin(&site->claims, true);
        expect_wake(site);
        expect_entries(site, 3);
    }
}

static void test_at_once(Site *site, gconstpointer data)
{
    g_assert_cmpuint(pick(site, 3, 2), ==, 2 * SOURCES);
    g_assert_false(claims_ready(&site->claims));
    claims_begin(&site->claims, false);
    g_assert_true(claims_ready(&site->claims));
    expect_entries(site, 2);
    struct pollfd woken = {.fd = site->claims.wake, .events = POLLIN};
    g_assert_cmpint(poll(&woken, 1, 0), ==, 0);
    g_assert_cmpuint(pick(site, 0, 2), ==, SOURCES); /* what was left */
    claims_begin(&site->claims, false);
    expect_entries(site, 1);
}

/* Collected before the thread says so, or when it has not begun. */
static void test_waits(Site *site, gconstpointer data)
{
    for (int round = 0; round < 100; round++) {
        g_assert_cmpuint(pick(site, 1, 1), ==, SOURCES);
        claims_begin(&site->claims, true);
        expect_entries(site, 1);
    }
    expect_entries(site, 0);
}

/* A system that has no threads to give; the thread that comes later finds nothing to do. */
static void test_no_thread(Site *site, gconstpointer data)
{
    g_assert_cmpuint(pick(site, 2, 2), ==, 2 * SOURCES);
    threadless = true;
    claims_begin(&site->claims, true);
    threadless = false;
    g_assert_true(claims_ready(&site->claims));
    expect_entries(site, 2);
    g_assert_cmpuint(threadless_kept(), ==, 1);
    threadless_release();
    g_assert_cmpuint(pick(site, 2, 2), ==, 2 * SOURCES);
    claims_begin(&site->claims, true);
    expect_wake(site);
    expect_entries(site, 2);
}

/* Check that an entry that is under way at the end stays claimed, for recovery. */
static void test_left(Site *site, gconstpointer data)
{
    g_assert_cmpuint(pick(site, 2, 2), ==, 2 * SOURCES);
    claims_begin(&site->claims, true);
    claims_clear(&site->claims);
    for (int source = 0; source < SOURCES; source++)
        g_assert_cmpuint(fixture_count(&site->fixture, queues[source], ".bak"), ==, 2);
    claims_init(&site->claims);
}

/* One that the system failed with makes the whole of it fail; the others are the caller's all the same. */
static void test_system_fails(Site *site, gconstpointer data)
{
    (void)data;
    g_autoptr(GError) error = NULL;
    GPtrArray *entries[SOURCES];
    for (int source = 0; source < SOURCES; source++)
        entries[source] = g_ptr_array_new_with_free_func((GDestroyNotify)entry_free);
    pick(site, 2, 2);
    claims_begin(&site->claims, false);
    Claim *claim = &g_array_index(site->claims.picked[0], Claim, 0);
    g_clear_pointer(&claim->entry, entry_free);
    claim->renamed = false;
    g_set_error_literal(&claim->fault, FAIL, FAIL_RACE, "the disk is gone");
    g_assert_false(claims_collect(&site->claims, site->inboxes, entries, &error));
    g_assert_nonnull(strstr(error->message, "the disk is gone"));
    g_assert_cmpuint(claims_count(&site->claims), ==, 0);
    for (unsigned source = 0; source < SOURCES; source++) {
        g_assert_cmpuint(entries[source]->len, ==, source == 0 ? 1 : 2);
        g_ptr_array_unref(entries[source]);
    }
}

SUITE("outgoing/claims")
{
    g_test_init(&argc, &argv, NULL);
    alarm(300);
#define ADD(name, function) g_test_add("/claims/" name, Site, NULL, set_up, function, tear_down)
    ADD("system fails", test_system_fails);
    ADD("aside", test_aside);
    ADD("at once", test_at_once);
    ADD("waits", test_waits);
    ADD("no thread", test_no_thread);
    ADD("left", test_left);
    return g_test_run();
}
