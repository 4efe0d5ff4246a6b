/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "master/plan.h"

#include <glib/gstdio.h>
#include <string.h>

#include "base/fail.h"
#include "t/suite.h"

static char *directory;

static Plan *plan_of(const char *text)
{
    g_autofree char *path = g_build_filename(directory, "l.conf", NULL);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
    g_autoptr(GError) fault = NULL;
    g_autoptr(Config) config = config_load(path, true, &fault);
    g_assert_no_error(fault);
    return plan_new(config);
}

static bool same(const Plan *a, const Plan *b, const char *name)
{
    return plan_runner_equal(plan_find(a, name), plan_find(b, name));
}

static void test_defaults(void)
{
    g_autoptr(Plan) plan = plan_of("[runner.in]\ninstances = 4\n[runner.virgin]\nstart = no\n");
    const PlanRunner *in = plan_find(plan, "in");
    g_assert_cmpuint(in->instances, ==, 4);
    g_assert_cmpstr(in->command, ==, LIBEXECDIR "/in");
    g_assert_cmpstr(in->queue, ==, "in");
    g_assert_null(in->listen[0]);
    g_assert_null(plan_find(plan, "virgin"));
    const PlanRunner *lmtp = plan_find(plan, "lmtp");
    g_assert_cmpstr(lmtp->listen[0], ==, "127.0.0.1:8024");
    g_assert_cmpstr(lmtp->queue, ==, "lmtp");
    g_assert_cmpint(plan->limits.stall_timeout, ==, INT64_C(300000000));
}

static void test_instances(void)
{
    g_assert_true(plan_instances_valid(1));
    g_assert_true(plan_instances_valid(256));
    g_assert_false(plan_instances_valid(0));
    g_assert_false(plan_instances_valid(3));
    g_assert_false(plan_instances_valid(512));
    g_assert_false(plan_instances_valid(-4));
}

/* A change touches those who read the setting, and nobody else. */
static void test_depends(void)
{
    g_autoptr(Plan) old = plan_of("");
    g_autoptr(Plan) again = plan_of("[out]\nrecipients_per_entry = 50000\n"); /* the default, written out */
    g_assert_true(same(old, again, "out"));
    g_autoptr(Plan) out = plan_of("[transport.relay]\nport = 2525\n");
    g_assert_false(same(old, out, "out"));
    g_assert_false(same(old, out, "pipeline"));
    g_assert_false(same(old, out, "in")); /* it makes the entries for out */
    g_assert_true(same(old, out, "lmtp"));
    g_autoptr(Plan) lmtp = plan_of("[lmtp]\nmax_recipients = 5\n");
    g_assert_false(same(old, lmtp, "lmtp"));
    g_assert_true(same(old, lmtp, "out"));
    g_autoptr(Plan) site = plan_of("[site]\nhostname = lists.example.org\n");
    g_assert_false(same(old, site, "in"));
    g_assert_false(same(old, site, "archive"));
    g_autoptr(Plan) master = plan_of("[master]\nstop_timeout = 5s\n");
    g_assert_true(same(old, master, "in"));
    g_assert_false(same(old, master, "out"));
    g_autoptr(Plan) reply = plan_of("[reply.slow]\nmatch = slow\n");
    g_assert_false(same(old, reply, "out"));
    g_assert_true(same(old, reply, "pipeline"));
    g_autoptr(Plan) other = plan_of("[reply.slow]\nmatch = slower\n");
    g_assert_false(same(reply, other, "out"));
    g_autoptr(Plan) verp = plan_of("[lmtp]\nverp_delimiter = -\n");
    g_assert_false(same(old, verp, "lmtp"));
    g_assert_false(same(old, verp, "in"));
    g_assert_false(same(old, verp, "pipeline"));
    g_assert_false(same(old, verp, "bounces"));
    g_assert_true(same(old, verp, "out"));
    g_autoptr(Plan) parts = plan_of("[transport.relay]\ndefragment\n[defragment]\nmax_parts = 5\n");
    g_assert_false(same(old, parts, "lmtp"));
    g_assert_false(same(old, parts, "defragment"));
    g_autoptr(Plan) instances = plan_of("[runner.out]\ninstances = 4\n");
    g_assert_false(same(old, instances, "in"));
    g_assert_false(same(old, instances, "pipeline")); /* makes as many entries of a post */
    g_assert_true(same(old, instances, "lmtp"));
    g_autoptr(Plan) beat = plan_of("[master]\nheartbeat_interval = 5s\n");
    g_assert_false(same(old, beat, "in"));
}

static void test_extra_keys(void)
{
    g_autoptr(Plan) a = plan_of("[runner.count]\ncommand = /bin/true\nx_file = /a\n");
    g_autoptr(Plan) b = plan_of("[runner.count]\ncommand = /bin/true\nx_file = /b\n");
    g_assert_false(same(a, b, "count"));
    g_assert_true(same(a, b, "in"));
    g_autoptr(Plan) secret = plan_of("[runner.count]\ncommand = /bin/true\nx_password = a\n");
    g_autoptr(Plan) other = plan_of("[runner.count]\ncommand = /bin/true\nx_password = b\n");
    g_assert_false(same(secret, other, "count")); /* masked where it is shown, and still a change */
    g_autoptr(PlanRunner) copy = plan_runner_copy(plan_find(a, "count"));
    g_assert_true(plan_runner_equal(copy, plan_find(a, "count")));
    copy->instances = 2;
    g_assert_false(plan_runner_equal(copy, plan_find(a, "count")));
}

static void test_follow(void)
{
    g_autoptr(Plan) old = plan_of("");
    g_autoptr(Plan) next = plan_of("[spool]\ndirectory = /elsewhere\n[site]\nuser = somebody\n");
    g_autoptr(GError) error = NULL;
    g_assert_false(plan_can_follow(old, next, &error));
    g_assert_nonnull(strstr(error->message, "[spool] directory"));
    g_assert_nonnull(strstr(error->message, "[site] user"));
    g_assert_true(plan_can_follow(old, old, NULL));
}

SUITE("plan")
{
    g_test_init(&argc, &argv, NULL);
    directory = g_dir_make_tmp("plan-XXXXXX", NULL);
    g_test_add_func("/plan/defaults", test_defaults);
    g_test_add_func("/plan/instances", test_instances);
    g_test_add_func("/plan/depends", test_depends);
    g_test_add_func("/plan/extra-keys", test_extra_keys);
    g_test_add_func("/plan/follow", test_follow);
    int result = g_test_run();
    g_autofree char *path = g_build_filename(directory, "l.conf", NULL);
    g_unlink(path);
    g_rmdir(directory);
    g_free(directory);
    return result;
}
