/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "master/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/contract.h"
#include "t/suite.h"

static void test_environment(void)
{
    static const char *const ours[] = {"PATH=/bin", "LC_ALL=C", "SECRET=1", "LISTRUNNER_TEST=2", "LANGUAGE=x", "TZ=UTC",
                                 "NOTIFY_SOCKET=/x", "LISTRUNNER_INSTANCE=99", NULL};
    SpawnOrder order = {.command = "/x", .runner = "in", .config = "/c", .instance = 3, .instances = 4, .listens = 2};
    g_auto(GStrv) theirs = spawn_environment(&order, ours);
    g_assert_cmpstr(g_environ_getenv(theirs, "PATH"), ==, "/bin");
    g_assert_cmpstr(g_environ_getenv(theirs, "LC_ALL"), ==, "C");
    g_assert_cmpstr(g_environ_getenv(theirs, "TZ"), ==, "UTC");
    g_assert_cmpstr(g_environ_getenv(theirs, "LISTRUNNER_TEST"), ==, "2");
    g_assert_cmpstr(g_environ_getenv(theirs, CHILD_ENV_INSTANCE), ==, "3");
    g_assert_cmpstr(g_environ_getenv(theirs, CHILD_ENV_INSTANCES), ==, "4");
    g_assert_cmpstr(g_environ_getenv(theirs, CHILD_ENV_LISTEN_FDS), ==, "2");
    g_assert_cmpstr(g_environ_getenv(theirs, CHILD_ENV_LOCK_FD), ==, "6");
    g_assert_cmpstr(g_environ_getenv(theirs, CHILD_ENV_RUNNER), ==, "in");
    g_assert_null(g_environ_getenv(theirs, "SECRET"));
    g_assert_null(g_environ_getenv(theirs, "LANGUAGE"));
    g_assert_null(g_environ_getenv(theirs, "NOTIFY_SOCKET"));
}

#define LISTENS 40

/* Runs a command to its end, with so many sockets; returns what it said on the status pipe. */
static char *run_listening(const char *command, unsigned listens, int *result)
{
    g_autoptr(GError) error = NULL;
    auto_fd lock = open("/dev/null", O_RDWR | O_CLOEXEC);
    auto_fd status = -1;
    int sockets[LISTENS];
    for (unsigned i = 0; i < LISTENS; i++)
        sockets[i] = lock;
    SpawnOrder order = {.command = command, .runner = "in", .config = "/c", .instances = 1, .lock = lock,
                        .listen = sockets, .listens = listens};
    pid_t pid;
    g_assert_true(spawn_child(&order, &pid, &status, &error));
    g_assert_cmpint(waitpid(pid, result, 0), ==, pid);
    char text[4096];
    ssize_t got = read(status, text, sizeof text - 1);
    text[MAX(got, 0)] = '\0';
    return g_strdup(text);
}

static char *run(const char *command, int *result)
{
    return run_listening(command, 0, result);
}

/* The child may not have as many descriptors as it is to get: it says so. */
static void test_no_descriptors(void)
{
    struct rlimit before, few;
    g_assert_cmpint(getrlimit(RLIMIT_NOFILE, &before), ==, 0);
    for (rlim_t limit = 20; limit <= LISTENS + 20; limit += 10) {
        few = (struct rlimit){limit, before.rlim_max};
        g_assert_cmpint(setrlimit(RLIMIT_NOFILE, &few), ==, 0);
        int result;
        g_autofree char *said = run_listening("/bin/true", LISTENS, &result);
        g_assert_cmpint(setrlimit(RLIMIT_NOFILE, &before), ==, 0);
        g_assert_true(WIFEXITED(result) && WEXITSTATUS(result) == CHILD_EXIT_LATER);
        g_assert_true(g_str_has_prefix(said, "fault place the descriptors of /bin/true: "));
        g_assert_true(g_str_has_suffix(said, "\n"));
    }
}

static void test_no_program(void)
{
    int result;
    g_autofree char *said = run("/nowhere/at/all", &result);
    g_assert_true(WIFEXITED(result) && WEXITSTATUS(result) == CHILD_EXIT_CONFIG);
    g_assert_cmpstr(said, ==, "fault run /nowhere/at/all: No such file or directory\n");
}

SUITE("spawn")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/spawn/environment", test_environment);
    g_test_add_func("/spawn/no-program", test_no_program);
    g_test_add_func("/spawn/no-descriptors", test_no_descriptors);
    return g_test_run();
}
