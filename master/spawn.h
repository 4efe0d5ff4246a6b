/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Fork and exec of a child with exactly the descriptors, environment and
 * signal state of base/contract.h.
 */
#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

typedef struct SpawnOrder {
    const char *command; /* absolute */
    const char *runner;
    const char *config;
    unsigned instance, instances;
    const int *listen; /* descriptors, in the order of the setting */
    unsigned listens;
    int lock; /* of slices_take() */
    bool outside; /* its predecessor was ended from outside (base/contract.h) */
} SpawnOrder;

/* On success *status is the reading end of its status pipe (non-blocking). A
 * command that cannot be run shows as a child that says "fault ..." and leaves
 * with CHILD_EXIT_CONFIG or CHILD_EXIT_LATER. */
bool spawn_child(const SpawnOrder *order, pid_t *pid, int *status, GError **error);

/* The child's environment; g_strfreev(). `inherited` is ours ("NAME=VALUE"). */
char **spawn_environment(const SpawnOrder *order, const char *const *inherited);
