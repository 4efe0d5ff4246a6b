/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Test that the claims of the runner handover last: it sends what it has claimed to another host, and after a power cut
 * must know that it may have. */
#include "runners/runner.h"

int handover_main(int argc, char **argv);

static const RunnerSpec *taken;

int __wrap_runner_main(const RunnerSpec *spec, int argc, char **argv);
int __wrap_runner_main(const RunnerSpec *spec, int argc, char **argv)
{
    (void)argc;
    (void)argv;
    taken = spec;
    return 0;
}

static void test_durable(void)
{
    handover_main(0, NULL);
    g_assert_nonnull(taken);
    g_assert_cmpstr(taken->queue, ==, "handover");
    g_assert_true(taken->durable_claim);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/handover/claims last", test_durable);
    return g_test_run();
}
