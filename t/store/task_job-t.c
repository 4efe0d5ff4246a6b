/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Jobs of the timer, which several processes may take. */
#include "store/task_job.h"

#include "t/store/fixture.h"

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
    TaskJob *job = NULL;
    assert_ok(task_job_find(other, "held", &job, &error), error);
    g_assert_cmpint(job->started_at, ==, 1000);
    g_assert_cmpint(job->runs, ==, 1);
    g_assert_cmpint(job->failures, ==, 0);
    task_job_free(job);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/task_job/one takes it", Fixture, NULL, fixture_open, test_one_takes, fixture_close);
    return g_test_run();
}
