/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Mails through the MTA are missing until one comes back, each host and slice for itself. */
#include "store/hosts/canary.h"

#include "t/store/fixture.h"
#include "t/suite.h"

static CanaryWay through(int64_t slice)
{
    return (CanaryWay){"ipv6", slice, slice * 10};
}

static void send(Fixture *fixture, const char *host, int64_t slice, const char *mail, int64_t now)
{
    GError *error = NULL;
    const CanaryWay way = through(slice);
    assert_ok(canary_sent(fixture->store, host, &way, mail, now, &error), error);
}

static void come_back(Fixture *fixture, const char *host, const CanaryWay *way, int64_t now)
{
    GError *error = NULL;
    assert_ok(canary_back(fixture->store, host, way, now, &error), error);
}

static void expect(Fixture *fixture, const char *host, const char *wanted)
{
    GError *error = NULL;
    g_autoptr(GString) found = g_string_new(NULL);
    g_autoptr(GPtrArray) all = canary_all(fixture->store, host, &error);
    assert_ok(all != NULL, error);
    for (guint at = 0; at < all->len; at++) {
        const Canary *one = all->pdata[at];
        g_string_append_printf(found, "%s%d/%d:%s sent %d back %d missing %d; ", one->family, (int)one->out,
                               (int)one->in, one->mail, (int)one->sent_at, (int)one->back_at, (int)one->missing_since);
    }
    g_assert_cmpstr(found->str, ==, wanted);
}

static void test_back(Fixture *fixture, const void *data)
{
    (void)data;
    GError *error = NULL;
    const CanaryWay zero = through(0), one = through(1);
    send(fixture, "a", 0, "m1", 10);
    send(fixture, "a", 1, "m2", 20);
    send(fixture, "b", 1, "m3", 30);
    come_back(fixture, "a", &one, 25);
    expect(fixture, "a", "ipv60/0:m1 sent 10 back 0 missing 10; ipv61/10:m2 sent 20 back 25 missing 0; ");
    /* The first that is missing counts, and not the last. */
    send(fixture, "a", 0, "m4", 40);
    send(fixture, "a", 1, "m5", 50);
    expect(fixture, "a", "ipv60/0:m4 sent 40 back 0 missing 10; ipv61/10:m5 sent 50 back 25 missing 50; ");
    come_back(fixture, "a", &zero, 60);
    expect(fixture, "a", "ipv60/0:m4 sent 40 back 60 missing 0; ipv61/10:m5 sent 50 back 25 missing 50; ");
    assert_ok(canary_forget(fixture->store, "a", 2, 10, &error), error);
    expect(fixture, "a", "ipv60/0:m4 sent 40 back 60 missing 0; ");
    expect(fixture, "b", "ipv61/10:m3 sent 30 back 0 missing 30; ");
    assert_ok(canary_forget(fixture->store, "b", 0, 0, &error), error);
    expect(fixture, "b", "");
}

#define USUAL 100

static void come_in(Fixture *fixture, const char *host, const char *family, int64_t now)
{
    GError *error = NULL;
    assert_ok(canary_came(fixture->store, host, family, now, USUAL, &error), error);
}

/* One kind of address is missing when it was in use for long, and then for long only the other one. */
static void test_doors(Fixture *fixture, const void *data)
{
    (void)data;
    GError *error = NULL;
    come_in(fixture, "a", "ipv4", 10);
    come_in(fixture, "a", "ipv6", 20);
    come_in(fixture, "b", "ipv6", 20);
    come_in(fixture, "a", "ipv6", 110);
    expect(fixture, "a", "lmtp ipv40/0: sent 10 back 10 missing 0; lmtp ipv60/0: sent 20 back 110 missing 0; ");
    come_in(fixture, "a", "ipv4", 110);
    come_in(fixture, "a", "ipv6", 121);
    come_in(fixture, "a", "ipv4", 210);
    expect(fixture, "a", "lmtp ipv40/0: sent 10 back 210 missing 0; lmtp ipv60/0: sent 20 back 121 missing 0; ");
    come_in(fixture, "a", "ipv4", 221);
    come_in(fixture, "a", "ipv4", 222);
    expect(fixture, "a", "lmtp ipv40/0: sent 10 back 222 missing 0; lmtp ipv60/0: sent 20 back 121 missing 121; ");
    /* It is back; whether the other one is still used is not known. */
    come_in(fixture, "a", "ipv6", 230);
    come_in(fixture, "a", "ipv6", 330);
    expect(fixture, "a", "lmtp ipv60/0: sent 230 back 330 missing 0; ");
    come_in(fixture, "a", "ipv4", 340);
    come_in(fixture, "a", "ipv6", 350);
    expect(fixture, "a", "lmtp ipv40/0: sent 340 back 340 missing 0; lmtp ipv60/0: sent 230 back 350 missing 0; ");
    expect(fixture, "b", "lmtp ipv60/0: sent 20 back 20 missing 0; ");
    /* Ways of mails have nothing to do with it. */
    send(fixture, "a", 0, "m1", 10);
    assert_ok(canary_excuse(fixture->store, "a", 0, &error) && canary_forget(fixture->store, "a", 1, 1, &error) &&
                  canary_keep_families(fixture->store, "a", "ipv6", "ipv6", &error),
              error);
    expect(fixture, "a",
           "ipv60/0:m1 sent 10 back 0 missing 0; lmtp ipv40/0: sent 340 back 340 missing 0; "
           "lmtp ipv60/0: sent 230 back 350 missing 0; ");
    assert_ok(canary_forget_doors(fixture->store, "a", &error), error);
    expect(fixture, "a", "ipv60/0:m1 sent 10 back 0 missing 0; ");
    expect(fixture, "b", "lmtp ipv60/0: sent 20 back 20 missing 0; ");
}

/* An MTA that prefers IPv6 uses IPv4 for moments, of which none makes IPv4 one that is missed later. */
static void test_a_door_for_moments(Fixture *fixture, const void *data)
{
    (void)data;
    for (int64_t now = 0; now <= 2000; now += 10)
        come_in(fixture, "a", now % 500 >= 400 && now % 500 < 450 ? "ipv4" : "ipv6", now);
    expect(fixture, "a", "lmtp ipv40/0: sent 1900 back 1940 missing 0; lmtp ipv60/0: sent 0 back 2000 missing 0; ");
}

/* After a time in which nothing came, a kind is not missing because the first mail came over the other one. It is when
 * mails come over the other one alone for long. */
static void test_doors_after_silence(Fixture *fixture, const void *data)
{
    (void)data;
    for (int64_t now = 0; now <= 150; now += 10)
        come_in(fixture, "a", now % 20 ? "ipv4" : "ipv6", now);
    come_in(fixture, "a", "ipv4", 500);
    come_in(fixture, "a", "ipv4", 600);
    expect(fixture, "a", "lmtp ipv40/0: sent 500 back 600 missing 0; lmtp ipv60/0: sent 0 back 140 missing 0; ");
    come_in(fixture, "a", "ipv4", 601);
    expect(fixture, "a", "lmtp ipv40/0: sent 500 back 601 missing 0; lmtp ipv60/0: sent 0 back 140 missing 140; ");
}

/* Ways that differ in one of their parts are not mixed up. */
static void test_ways(Fixture *fixture, const void *data)
{
    (void)data;
    GError *error = NULL;
    const CanaryWay ways[] = {{"ipv4", 0, 0}, {"ipv6", 0, 0}, {"ipv4", 1, 0}, {"ipv4", 0, 1}};
    for (size_t at = 0; at < G_N_ELEMENTS(ways); at++)
        assert_ok(canary_sent(fixture->store, "a", &ways[at], "m", (int64_t)at + 1, &error), error);
    assert_ok(canary_sent(fixture->store, "b", &ways[0], "m", 9, &error), error);
    come_back(fixture, "a", &ways[2], 5);
    expect(fixture, "a",
           "ipv40/0:m sent 1 back 0 missing 1; ipv40/1:m sent 4 back 0 missing 4; "
           "ipv41/0:m sent 3 back 5 missing 0; ipv60/0:m sent 2 back 0 missing 2; ");
    /* Only those that are missing since later are excused. */
    assert_ok(canary_excuse(fixture->store, "a", 2, &error), error);
    expect(fixture, "a",
           "ipv40/0:m sent 1 back 0 missing 1; ipv40/1:m sent 4 back 0 missing 0; "
           "ipv41/0:m sent 3 back 5 missing 0; ipv60/0:m sent 2 back 0 missing 2; ");
    assert_ok(canary_keep_families(fixture->store, "a", "ipv6", "ipv6", &error), error);
    expect(fixture, "a", "ipv60/0:m sent 2 back 0 missing 2; ");
    expect(fixture, "b", "ipv40/0:m sent 9 back 0 missing 9; ");
}

/* Check that forgetting and excusing mails leaves entries in other queues alone. */
static void test_queues(Fixture *fixture, const void *data)
{
    (void)data;
    GError *error = NULL;
    const CanaryWay mail = {"ipv4", 9, 0}, entry = {CANARY_QUEUE "archive", 9, 0},
                    other = {CANARY_QUEUE "digest", 9, 0};
    const CanaryWay *const all[] = {&mail, &entry, &other};
    for (size_t at = 0; at < G_N_ELEMENTS(all); at++)
        assert_ok(canary_sent(fixture->store, "a", all[at], "m", 7, &error), error);
    assert_ok(canary_excuse(fixture->store, "a", 1, &error), error);
    assert_ok(canary_keep_families(fixture->store, "a", "ipv4", "ipv4", &error), error);
    expect(fixture, "a",
           "ipv49/0:m sent 7 back 0 missing 0; queue archive9/0:m sent 7 back 0 missing 7; "
           "queue digest9/0:m sent 7 back 0 missing 7; ");
    assert_ok(canary_forget(fixture->store, "a", 2, 2, &error), error);
    assert_ok(canary_forget_way(fixture->store, "a", &other, &error), error);
    expect(fixture, "a", "queue archive9/0:m sent 7 back 0 missing 7; ");
    assert_ok(canary_forget(fixture->store, "a", 0, 0, &error), error);
    expect(fixture, "a", "");
}

SUITE("canary")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/canary/back", Fixture, NULL, fixture_open, test_back, fixture_close);
    g_test_add("/canary/ways", Fixture, NULL, fixture_open, test_ways, fixture_close);
    g_test_add("/canary/doors", Fixture, NULL, fixture_open, test_doors, fixture_close);
    g_test_add("/canary/doors after silence", Fixture, NULL, fixture_open, test_doors_after_silence, fixture_close);
    g_test_add("/canary/a door for moments", Fixture, NULL, fixture_open, test_a_door_for_moments, fixture_close);
    g_test_add("/canary/queues", Fixture, NULL, fixture_open, test_queues, fixture_close);
    return g_test_run();
}
