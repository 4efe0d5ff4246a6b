/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "master/worker.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/contract.h"
#include "t/suite.h"

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
    SpawnOrder order = {.command = command, .runner = "in", .config = "/c", .instance = 3, .instances = 4, .lock = lock,
                        .listen = sockets, .listens = listens};
    pid_t pid;
    g_assert_true(worker_spawn(&order, &pid, &status, &error));
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

/* A program that tells its variables on the status pipe, a line each. */
static void test_environment(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *program = NULL;
    int file = g_file_open_tmp("tell-XXXXXX", &program, &error);
    static const char script[] = "#!/bin/sh\n/usr/bin/env >&3\n";
    g_assert_no_error(error);
    g_assert_cmpint(write(file, script, strlen(script)), ==, (ssize_t)strlen(script));
    g_assert_cmpint(fchmod(file, 0700), ==, 0);
    close(file);
    g_setenv("LC_ALL", "C", true);
    g_setenv("TZ", "UTC", true);
    g_setenv("LISTRUNNER_TEST", "2", true);
    g_setenv(CHILD_ENV_INSTANCE, "99", true);
    g_setenv("SECRET", "1", true);
    g_setenv("LANGUAGE", "x", true);
    g_setenv("NOTIFY_SOCKET", "/x", true);
    int result;
    g_autofree char *said = run_listening(program, 2, &result);
    g_unlink(program);
    g_auto(GStrv) theirs = g_strsplit(said, "\n", -1);
    g_assert_cmpstr(g_environ_getenv(theirs, "PATH"), ==, g_getenv("PATH"));
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

SUITE("worker")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/worker/environment", test_environment);
    g_test_add_func("/worker/no-program", test_no_program);
    g_test_add_func("/worker/no-descriptors", test_no_descriptors);
    return g_test_run();
}
