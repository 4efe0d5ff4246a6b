/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Start a child (fork and exec) with exactly the descriptors, environment and signal state of base/contract.h. */
#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

/* The child to be started. All is borrowed; the descriptors stay open here. */
typedef struct SpawnOrder {
    const char *command; /* absolute path */
    const char *runner;  /* NAME of [runner.NAME] */
    const char *config;  /* path of the configuration */
    unsigned instance, instances;
    const int *listen; /* descriptors of listening sockets, in the order of the setting */
    unsigned listens;
    int lock;     /* descriptor of slices_take() (master/slices.h) */
    bool outside; /* its predecessor was ended from outside (base/contract.h) */
} SpawnOrder;

/* Start the child, and set *pid, which the caller waits for, and *status, the reading end of its status pipe
 * (non-blocking), which the caller closes. FAIL_LATER: there is no child. A command that cannot be run shows as a child
 * that says "fault ..." and leaves with CHILD_EXIT_CONFIG or CHILD_EXIT_LATER. */
bool spawn_child(const SpawnOrder *order, pid_t *pid, int *status, GError **error);

/* Return the child's environment: what base/contract.h asks for, and of `inherited` ("NAME=VALUE", ended by NULL) a few
 * variables such as PATH and TZ. g_strfreev() */
char **spawn_environment(const SpawnOrder *order, const char *const *inherited);
