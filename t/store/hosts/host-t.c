/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/hosts/generation.h"
#include "store/hosts/host.h"
#include "store/posts/digest.h"

#include <string.h>

#include "base/clock.h"
#include "store/hosts/task_job.h"
#include "store/outbox.h"
#include "t/store/fixture.h"
#include "t/suite.h"

#define LIST "test.example.com"
#define LEASE (60 * CLOCK_SECOND)
#define NO_LEASE (-CLOCK_SECOND) /* it has run out when it is given */

static Host *host_new(const char *name, const char *spool, const char *boot)
{
    Host *host = g_new0(Host, 1);
    host->name = g_strdup(name);
    host->spool = g_strdup(spool);
    host->boot = g_strdup(boot);
    host->version = g_strdup("1");
    host->state = g_strdup("{}");
    return host;
}

static bool begin(Fixture *fixture, Host *host, int64_t lease, GError **error)
{
    return host_next_epoch(fixture->store, &host->epoch, error) && host_begin(fixture->store, host, lease, error);
}

static bool renew(Store *store, Host *host, int64_t lease, GError **error)
{
    int64_t now;
    return host_clock(store, &now, error) && host_renew(store, host, now, lease, error);
}

static bool claims(Fixture *fixture, const Host *host, const char *what)
{
    GError *error = NULL;
    bool held = true;
    assert_ok(host_claim(fixture->store, what, host->name, host->epoch, &held, &error), error);
    return held;
}

/* Each start begins an epoch; a lease that was given up or ran out shows. */
static void test_lease(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    int64_t now = 0;
    g_autoptr(Host) a = host_new("a", "spool-a", "boot-a"), b = host_new("b", "spool-b", "boot-b");
    g_autoptr(Host) again = host_new("a", "spool-a", "boot-a");
    assert_ok(begin(fixture, a, LEASE, &error), error);
    assert_ok(begin(fixture, b, NO_LEASE, &error), error);
    g_assert_cmpint(b->epoch, >, a->epoch);
    g_free(a->state);
    a->state = g_strdup("{\"healthy\": true}");
    assert_ok(renew(fixture->store, a, LEASE, &error), error);
    assert_ok(host_clock(fixture->store, &now, &error), error);
    g_assert_cmpint(ABS(now - clock_now()), <, 60 * CLOCK_SECOND);
    g_autoptr(GPtrArray) all = host_all(fixture->store, &error);
    g_assert_cmpuint(all->len, ==, 2);
    const Host *first = all->pdata[0], *second = all->pdata[1];
    g_assert_true(first->living && !second->living);
    g_assert_cmpstr(first->state, ==, "{\"healthy\": true}");
    g_assert_cmpint(first->lease_until, ==, a->seen_at + LEASE);
    assert_ok(begin(fixture, again, LEASE, &error), error); /* on the same machine: it was killed */
    g_assert_cmpint(again->epoch, >, b->epoch);
    g_assert_false(renew(fixture->store, a, LEASE, &error));
    assert_failed(FAIL_RACE, error);
    assert_ok(host_end(fixture->store, again, &error), error);
    g_autoptr(GPtrArray) ended = host_all(fixture->store, &error);
    g_assert_false(((const Host *)ended->pdata[0])->living);
    g_assert_cmpint(((const Host *)ended->pdata[0])->lease_until, ==, 0);
}

/* No two hosts of one name, and no spool under two names or on two machines. */
static void test_refused(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    g_autoptr(Host) a = host_new("a", "spool-a", "boot-a"), elsewhere = host_new("a", "spool-a", "boot-b");
    g_autoptr(Host) twin = host_new("a", "spool-b", "boot-a"), renamed = host_new("b", "spool-a", "boot-a");
    assert_ok(begin(fixture, a, LEASE, &error), error);
    g_assert_false(begin(fixture, elsewhere, LEASE, &error));
    assert_failed(FAIL_LATER, error);
    g_assert_false(begin(fixture, twin, LEASE, &error));
    assert_failed(FAIL_CONFIG, error);
    g_assert_false(begin(fixture, renamed, LEASE, &error));
    assert_failed(FAIL_CONFIG, error);
    assert_ok(renew(fixture->store, a, NO_LEASE, &error), error);
    assert_ok(begin(fixture, elsewhere, LEASE, &error), error);
    g_assert_cmpint(elsewhere->epoch, >, a->epoch);
}

/* All processes of a host ask whether they may work, also before it begins: it changes nothing. */
static void test_may_work(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    int64_t epoch;
    g_autoptr(Host) a = host_new("a", "spool-a", "boot-a"), elsewhere = host_new("a", "spool-a", "boot-b");
    g_autoptr(Host) twin = host_new("a", "spool-b", "boot-b"), renamed = host_new("b", "spool-a", "boot-a");
    assert_ok(host_may_work(fixture->store, a, &epoch, &error), error);
    g_assert_cmpint(epoch, ==, 0);
    assert_ok(begin(fixture, a, LEASE, &error), error);
    assert_ok(host_may_work(fixture->store, a, &epoch, &error), error);
    g_assert_cmpint(epoch, ==, a->epoch);
    g_assert_false(host_may_work(fixture->store, elsewhere, &epoch, &error));
    assert_failed(FAIL_LATER, error);
    g_assert_false(host_may_work(fixture->store, twin, &epoch, &error));
    assert_failed(FAIL_CONFIG, error);
    assert_ok(host_end(fixture->store, a, &error), error);
    assert_ok(host_may_work(fixture->store, elsewhere, &epoch, &error), error);
    g_assert_cmpint(epoch, ==, a->epoch);
    assert_ok(host_may_work(fixture->store, twin, &epoch, &error), error);
    g_assert_cmpint(epoch, ==, 0);
    g_assert_false(host_may_work(fixture->store, renamed, &epoch, &error));
    g_assert_nonnull(strstr(error->message, "`listrunner host remove a`"));
    assert_failed(FAIL_CONFIG, error);
    g_autoptr(GPtrArray) all = host_all(fixture->store, &error);
    g_assert_cmpuint(all->len, ==, 1);
    g_assert_cmpint(((const Host *)all->pdata[0])->epoch, ==, a->epoch);
}

/* A host counts what is left in its own spool, and not what waits for another host. */
static void test_count(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    int64_t count, oldest;
    g_autoptr(Host) a = host_new("a", "spool-a", "boot-a"), b = host_new("b", "spool-b", "boot-b");
    assert_ok(store_begin(fixture->store, &error), error);
    assert_ok(outbox_unit_add(fixture->store, "spool-a", "0123456789abcdef0123456789abcdef", "virgin", 7, &error),
              error);
    assert_ok(store_commit(fixture->store, &error), error);
    assert_ok(outbox_count(fixture->store, "a", &count, &oldest, &error), error); /* of a site with one host */
    g_assert_cmpint(count, ==, 1);
    assert_ok(begin(fixture, a, LEASE, &error), error);
    assert_ok(begin(fixture, b, LEASE, &error), error);
    assert_ok(outbox_count(fixture->store, "a", &count, &oldest, &error), error);
    g_assert_true(count == 1 && oldest == 7);
    assert_ok(outbox_count(fixture->store, "b", &count, &oldest, &error), error);
    g_assert_true(count == 0 && oldest == 0);
}

/* One living host has a claim; it passes on when its lease ends, when it starts anew, and when it is drained. */
static void test_claims(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    g_autoptr(Host) a = host_new("a", "spool-a", "boot-a"), b = host_new("b", "spool-b", "boot-b");
    g_autoptr(Host) again = host_new("b", "spool-b", "boot-b");
    assert_ok(begin(fixture, a, LEASE, &error), error);
    assert_ok(begin(fixture, b, LEASE, &error), error);
    g_assert_true(claims(fixture, a, "task"));
    g_assert_true(claims(fixture, b, "news"));
    for (int time = 0; time < 2; time++) {
        g_assert_true(claims(fixture, a, "task"));
        g_assert_false(claims(fixture, b, "task"));
    }
    assert_ok(renew(fixture->store, a, NO_LEASE, &error), error);
    g_assert_false(claims(fixture, a, "task"));
    g_assert_true(claims(fixture, b, "task"));
    assert_ok(renew(fixture->store, a, LEASE, &error), error);
    g_assert_false(claims(fixture, a, "task"));
    assert_ok(begin(fixture, again, LEASE, &error), error);
    g_assert_false(claims(fixture, b, "task")); /* of the epoch before */
    g_assert_true(claims(fixture, a, "task"));
    assert_ok(host_set_draining(fixture->store, "a", true, &error), error);
    assert_ok(renew(fixture->store, a, LEASE, &error), error);
    g_assert_true(a->draining);
    g_assert_false(claims(fixture, a, "task"));
    g_assert_true(claims(fixture, again, "task"));
    g_assert_false(host_set_draining(fixture->store, "c", true, &error));
    assert_failed(FAIL_MISSING, error);
}

/* Check what goes with a host: its claims, and the records of the jobs that it does for itself. */
static void test_removed(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    bool taken;
    g_autoptr(Host) a = host_new("a", "spool-a", "boot-a");
    assert_ok(begin(fixture, a, LEASE, &error), error);
    g_assert_true(claims(fixture, a, "task"));
    assert_ok(task_job_take(fixture->store, "outbox@a", 1, 2, &taken, &error), error);
    assert_ok(task_job_take(fixture->store, "outbox@aa", 1, 2, &taken, &error), error);
    assert_ok(task_job_take(fixture->store, "digests", 1, 2, &taken, &error), error);
    g_assert_false(host_remove(fixture->store, "a", &error));
    assert_failed(FAIL_EXISTS, error);
    assert_ok(host_end(fixture->store, a, &error), error);
    assert_ok(host_remove(fixture->store, "a", &error), error);
    g_autoptr(GPtrArray) jobs = task_job_all(fixture->store, &error);
    g_assert_cmpuint(jobs->len, ==, 2);
    g_assert_cmpstr(((const TaskJob *)jobs->pdata[1])->name, ==, "outbox@aa");
    g_assert_false(renew(fixture->store, a, LEASE, &error));
    assert_failed(FAIL_RACE, error);
    g_assert_false(host_remove(fixture->store, "a", &error));
    assert_failed(FAIL_MISSING, error);
}

/* The posts of a digest that nobody can make any more wait for the next one. */
static void test_removed_digests(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    g_auto(Digest) digest = {0};
    g_autoptr(Host) a = host_new("a", "spool-a", "boot-a");
    g_autoptr(GBytes) post = g_bytes_new_static("post", 4);
    const DigestIssue issue = {.entry = (char *)"0123456789012345678901234567890123456789",
                               .host = (char *)"a",
                               .list_id = (char *)LIST,
                               .volume = 1,
                               .number = 1,
                               .made_at = 100};
    assert_ok(begin(fixture, a, NO_LEASE, &error), error);
    assert_ok(digest_collect(fixture->store, LIST, post, 7, &error), error);
    assert_ok(digest_issue_open(fixture->store, &issue, &error), error);
    assert_ok(host_remove(fixture->store, "a", &error), error);
    assert_ok(digest_read(fixture->store, LIST, &digest, &error), error);
    g_assert_cmpint(digest.waiting, ==, 1);
    g_autoptr(GPtrArray) issues = digest_issue_all(fixture->store, "a", &error);
    g_assert_cmpuint(issues->len, ==, 0);
}

/* A machine that slept while its host was removed, and another was set up by its name, renews nothing of that one. */
static void test_name_used_again(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    g_autoptr(Host) old = host_new("a", "spool-a", "boot-a"), new = host_new("a", "spool-b", "boot-b");
    assert_ok(begin(fixture, old, LEASE, &error), error);
    g_assert_true(claims(fixture, old, "task"));
    assert_ok(host_end(fixture->store, old, &error), error);
    assert_ok(host_remove(fixture->store, "a", &error), error);
    assert_ok(begin(fixture, new, NO_LEASE, &error), error);
    g_assert_cmpint(new->epoch, >, old->epoch);
    g_assert_false(renew(fixture->store, old, LEASE, &error));
    assert_failed(FAIL_RACE, error);
    old->epoch = new->epoch; /* it is not the number alone that tells them apart */
    g_assert_false(renew(fixture->store, old, LEASE, &error));
    assert_failed(FAIL_RACE, error);
}

#define HOSTS 4

/* The sum of what the hosts may use by the database, in parts of 1. */
static double shared_out(Fixture *fixture)
{
    GError *error = NULL;
    double sum = 0;
    int64_t now;
    g_autoptr(GPtrArray) all = host_all(fixture->store, &error);
    assert_ok(host_clock(fixture->store, &now, &error), error);
    for (guint at = 0; at < all->len; at++) {
        const Host *host = all->pdata[at];
        if (host->parts > 0 && host->share_until > now)
            sum += 1.0 / (double)host->parts;
    }
    return sum;
}

/* Do as the runner host does at a renewal, where its processes take less at once or, stuck, not yet. */
static void divide(Fixture *fixture, Host *host, bool stuck)
{
    GError *error = NULL;
    int64_t due;
    bool alone;
    assert_ok(host_share_due(fixture->store, host, &due, &alone, &error), error);
    g_assert_true(due == 1 || !alone);
    if (host->parts > 0 && host->parts < due && !stuck)
        assert_ok(host_share_lower(fixture->store, host, due, &error), error);
    else if (host->parts == 0 || host->parts > due)
        assert_ok(host_share_raise(fixture->store, host, &error), error);
}

static void expire(Fixture *fixture, Host *host)
{
    GError *error = NULL;
    host->share_until = 1;
    assert_ok(host_end(fixture->store, host, &error), error);
    g_clear_pointer(&host->boot, g_free); /* it is away */
}

/* Hosts begin, renew, stop, die and come back in any order: the parts never make more than a whole, and are equal ones
 * when nothing happens any more. */
static void test_shares(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    static const char *const names[HOSTS] = {"a", "b", "c", "d"};
    Host *hosts[HOSTS] = {NULL};
    g_autoptr(GRand) rand = g_rand_new_with_seed(29);
    for (int turn = 0; turn < 600; turn++) {
        int at = g_rand_int_range(rand, 0, HOSTS), what = g_rand_int_range(rand, 0, 12);
        Host *host = hosts[at];
        if (!host || !host->boot || what == 0) { /* it begins, or begins again */
            g_clear_pointer(&hosts[at], host_free);
            host = hosts[at] = host_new(names[at], names[at], "boot");
            assert_ok(begin(fixture, host, LEASE, &error), error);
        } else if (what == 1) { /* it stops; of its processes none is left */
            assert_ok(host_share_lower(fixture->store, host, 0, &error), error);
            assert_ok(host_end(fixture->store, host, &error), error);
        } else if (what == 2) { /* it dies and is not heard of for longer than a part is kept */
            expire(fixture, host);
        } else {
            assert_ok(renew(fixture->store, host, what == 3 ? NO_LEASE : LEASE, &error), error);
            divide(fixture, host, what == 4);
        }
        g_assert_cmpfloat(shared_out(fixture), <=, 1 + 1e-9);
    }
    for (int turn = 0; turn < 3 * HOSTS; turn++) {
        int at = turn % HOSTS;
        if (!hosts[at] || !hosts[at]->boot) {
            g_clear_pointer(&hosts[at], host_free);
            hosts[at] = host_new(names[at], names[at], "boot");
            assert_ok(begin(fixture, hosts[at], LEASE, &error), error);
        }
        assert_ok(renew(fixture->store, hosts[at], LEASE, &error), error);
        divide(fixture, hosts[at], false);
        g_assert_cmpfloat(shared_out(fixture), <=, 1 + 1e-9);
    }
    for (int at = 0; at < HOSTS; at++) {
        g_assert_cmpint(hosts[at]->parts, ==, HOSTS);
        host_free(hosts[at]);
    }
}

/* A host that died keeps its part for a while: it may be cut off, and at work. Then the others have it. What a start
 * has after another start took its place is nothing. */
static void test_share_of_the_dead(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    g_autoptr(Host) a = host_new("a", "spool-a", "boot-a"), b = host_new("b", "spool-b", "boot-b");
    g_autoptr(Host) again = host_new("a", "spool-a", "boot-a");
    assert_ok(begin(fixture, a, LEASE, &error), error);
    divide(fixture, a, false);
    g_assert_cmpint(a->parts, ==, 1);
    assert_ok(begin(fixture, b, LEASE, &error), error);
    divide(fixture, b, false);
    g_assert_cmpint(b->parts, ==, 0);
    divide(fixture, a, true);
    divide(fixture, b, false);
    g_assert_cmpint(b->parts, ==, 0); /* processes of a are not within it yet */
    divide(fixture, a, false);
    divide(fixture, b, false);
    g_assert_true(a->parts == 2 && b->parts == 2);
    assert_ok(renew(fixture->store, b, NO_LEASE, &error), error);
    divide(fixture, a, false);
    g_assert_cmpint(a->parts, ==, 2);
    assert_ok(begin(fixture, again, LEASE, &error), error);
    g_assert_cmpint(again->parts, ==, 2);
    g_assert_false(host_share_lower(fixture->store, a, 0, &error));
    assert_failed(FAIL_RACE, error);
    expire(fixture, b);
    divide(fixture, again, false);
    g_assert_cmpint(again->parts, ==, 1);
}

/* The site has one id, whoever asks first. */
static void test_site(Fixture *fixture, const void *data)
{
    GError *error = NULL;
    g_autofree char *one = host_site(fixture->store, &error), *two = host_site(fixture->store, &error);
    g_assert_cmpuint(strlen(one), ==, 32);
    g_assert_cmpstr(one, ==, two);
}

/* A database that lacks what a host knows is not used, but for the last moments of one whose standby was promoted. */
static void test_generation(Fixture *fixture, const void *data)
{
    enum { MINUTE = 60 * 1000000 };
    const int64_t then = INT64_C(1790000000) * 1000000;
    static char one[] = "7301", other[] = "7302";
    const struct {
        Generation known, found;
        const char *fault; /* NULL: it is used */
    } cases[] = {
        {{one, 1, then, ""}, {one, 1, then, ""}, NULL},
        {{one, 1, then, ""}, {one, 1, then + 1, ""}, NULL},
        {{one, 1, then, ""}, {one, 1, then - 1, ""}, "old copy"},
        {{one, 1, then, ""}, {one, 2, then - MINUTE, ""}, NULL},
        {{one, 1, then, ""}, {one, 2, then - MINUTE - 1, ""}, "old copy"},
        {{one, 2, then, ""}, {one, 1, then + MINUTE, ""}, "old primary"},
        {{one, 2, then, ""}, {other, 1, then, ""}, NULL},
        {{one, 2, then, ""}, {other, 3, then - 1, ""}, "old copy"},
        {{one, 2, then, ""}, {NULL, 0, then, ""}, NULL},
        {{NULL, 0, then, ""}, {one, 2, then - 1, ""}, "old copy"},
        {{one, 1, then, ""}, {one, 1, 0, ""}, "not the database"},
    };
    for (size_t at = 0; at < G_N_ELEMENTS(cases); at++) {
        g_autofree char *fault = generation_fault(&cases[at].known, &cases[at].found);
        g_assert_true(cases[at].fault ? fault && strstr(fault, cases[at].fault) : !fault);
    }
    GError *error = NULL;
    g_auto(Generation) first = {0}, next = {0}, others = {0}, read = {0};
    assert_ok(generation_raise(fixture->store, "a1", then, &first, &error), error);
    assert_ok(generation_raise(fixture->store, "b2", then - 5, &others, &error), error);
    assert_ok(generation_raise(fixture->store, "a1", then - MINUTE, &next, &error), error); /* the clock was set back */
    assert_ok(generation_read(fixture->store, "a1", &read, &error), error);
    g_assert_cmpint(first.count, ==, then);
    g_assert_cmpint(next.count, >, first.count);
    g_assert_cmpint(read.count, ==, next.count);
    g_assert_cmpint(others.count, ==, then - 5);
}

SUITE("host")
{
    g_test_init(&argc, &argv, NULL);
    TEST("/host/lease", test_lease);
    TEST("/host/refused", test_refused);
    TEST("/host/may work", test_may_work);
    TEST("/host/count", test_count);
    TEST("/host/claims", test_claims);
    TEST("/host/removed", test_removed);
    TEST_WITH_LIST("/host/removed digests", test_removed_digests);
    TEST("/host/name used again", test_name_used_again);
    TEST("/host/shares", test_shares);
    TEST("/host/generation", test_generation);
    TEST("/host/share of the dead", test_share_of_the_dead);
    TEST("/host/site", test_site);
    return g_test_run();
}
