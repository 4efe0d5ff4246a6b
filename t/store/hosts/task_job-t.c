/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Jobs of the timer, which several processes may take. */
#include "store/hosts/task_job.h"

#include "base/clock.h"
#include "store/hosts/host.h"
#include "t/store/fixture.h"
#include "t/suite.h"

static bool take(Store *store, const char *name, int64_t now, int64_t due_at)
{
    GError *error = NULL;
    bool taken;
    assert_ok(task_job_take(store, name, now, due_at, &taken, &error), error);
    return taken;
}

/* Of two processes one has it, until it is due again or the one that took it did not come back. */
static void test_one_takes(Fixture *fixture, const void *data)
{
    (void)data;
    GError *error = NULL;
    g_autoptr(Store) other = fixture_connect(fixture, &error);
    g_assert_no_error(error);
    g_assert_true(take(fixture->store, "held", 100, 200));
    g_assert_false(take(other, "held", 101, 300));
    g_assert_true(take(other, "digest", 101, 300));
    g_assert_false(take(fixture->store, "digest", 102, 400));
    g_assert_true(take(other, "held", 200, 300));
    TaskJob ended = {
        .name = (char *)"held", .started_at = 200, .ended_at = 210, .due_at = 1000, .done = 3, .fault = (char *)""};
    assert_ok(task_job_end(other, &ended, &error), error);
    g_assert_false(take(fixture->store, "held", 999, 2000));
    g_assert_true(take(fixture->store, "held", 1000, 2000));
    /* The clock was ahead, and is set back by more than the job's interval: its time is not believed. */
    g_assert_false(take(other, "held", 1000, 2000 - 5000000));
    g_assert_true(take(other, "held", 900, 1999 - 5000000));
    g_assert_true(take(other, "held", 1000, 2000));
    g_autoptr(GPtrArray) jobs = task_job_all(other, &error);
    g_assert_no_error(error);
    g_assert_cmpuint(jobs->len, ==, 2);
    const TaskJob *job = jobs->pdata[1];
    g_assert_cmpstr(job->name, ==, "held");
    g_assert_cmpint(job->started_at, ==, 1000);
    g_assert_cmpint(job->runs, ==, 1);
    g_assert_cmpint(job->failures, ==, 0);
}

static void begin_host(Fixture *fixture, const char *name, int64_t lease)
{
    host_free(fixture_host(fixture->store, name, "{}", lease));
}

/* The names of those that nobody has to do, in one line; g_free(). */
static char *nobodys(Fixture *fixture)
{
    GError *error = NULL;
    g_autoptr(GPtrArray) jobs = task_job_all(fixture->store, &error);
    g_autoptr(GString) names = g_string_new(NULL);
    g_assert_no_error(error);
    for (guint at = 0; at < jobs->len; at++) {
        const TaskJob *job = jobs->pdata[at];
        if (job->nobodys)
            g_string_append_printf(names, "%s ", job->name);
    }
    return g_string_free(g_steal_pointer(&names), FALSE);
}

/* Nobody waits for the jobs of a host that does not live, nor, where hosts live, for one of the time before them. */
static void test_nobodys(Fixture *fixture, const void *data)
{
    (void)data;
    GError *error = NULL;
    static const char *const names[] = {"digests", "outbox", "outbox@a", "outbox@b", "outbox@gone", "out"};
    for (size_t at = 0; at < G_N_ELEMENTS(names); at++)
        take(fixture->store, names[at], 100, 200);
    g_autofree char *before = nobodys(fixture);
    g_assert_cmpstr(before, ==, "outbox@a outbox@b outbox@gone ");
    begin_host(fixture, "a", 60 * CLOCK_SECOND);
    begin_host(fixture, "b", -CLOCK_SECOND);
    g_autofree char *one = nobodys(fixture);
    g_assert_cmpstr(one, ==, "outbox outbox@b outbox@gone ");
    assert_ok(task_job_remove(fixture->store, "outbox", &error), error);
    g_autofree char *removed = nobodys(fixture);
    g_assert_cmpstr(removed, ==, "outbox@b outbox@gone ");
}

SUITE("task_job")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/task_job/one takes it", Fixture, NULL, fixture_open, test_one_takes, fixture_close);
    g_test_add("/task_job/nobody's", Fixture, NULL, fixture_open, test_nobodys, fixture_close);
    return g_test_run();
}
