/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors
 *
 * main() of a program of suites: see suite.h.
 */
#include "t/suite.h"

#include <errno.h>
#include <glib.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* Names the suite of this process. A test may start its own program again: that process runs the same suite with just
 * the arguments that it got. */
#define ENV_SUITE "LISTRUNNER_SUITE"

/* A suite that runs. */
typedef struct {
    const Suite *suite;
    pid_t pid; /* 0: this place is free */
    FILE *said;
    double began; /* seconds */
} Run;

static Suite *suites; /* in the order of their names */
static unsigned count;
static bool failed;

void suite_add(Suite *suite)
{
    Suite **at = &suites;
    while (*at && strcmp((*at)->name, suite->name) < 0)
        at = &(*at)->next;
    suite->next = *at;
    *at = suite;
}

static const Suite *find(const char *name)
{
    const Suite *suite = suites;
    while (suite && strcmp(suite->name, name) != 0)
        suite = suite->next;
    return suite;
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int run_here(const Suite *suite, int argc, char **argv)
{
    setenv(ENV_SUITE, suite->name, 1);
    return suite->run(argc, argv);
}

static void begin(Run *run, const Suite *suite, int argc, char **argv)
{
    *run = (Run){.suite = suite, .said = tmpfile(), .began = seconds()};
    fflush(stdout); /* or the child would print it again */
    if (!run->said || (run->pid = fork()) < 0) {
        fprintf(stderr, "suite %s cannot start: %s\n", suite->name, strerror(errno));
        exit(99); /* for automake: nothing was tested */
    }
    if (run->pid)
        return;
    if (dup2(fileno(run->said), STDOUT_FILENO) < 0 || dup2(STDOUT_FILENO, STDERR_FILENO) < 0)
        _exit(99);
    exit(run_here(suite, argc, argv));
}

/* One line of a suite: results are counted anew, and its plan is left out, for there is one plan of all. */
static void pass_on(const char *line, bool *said_failed)
{
    bool bad = g_str_has_prefix(line, "not ok ");
    if (!bad && !g_str_has_prefix(line, "ok ")) {
        if (!g_str_has_prefix(line, "1..") && !g_str_has_prefix(line, "TAP version"))
            fputs(line, stdout);
        return;
    }
    const char *name = line + (bad ? 7 : 3);
    printf("%s %u%s", bad ? "not ok" : "ok", ++count, name + strspn(name, "0123456789"));
    *said_failed |= bad && !strstr(name, "# TODO");
}

static void end(Run *run, int status)
{
    char *line = NULL;
    size_t size = 0;
    bool said_failed = false;
    rewind(run->said);
    while (getline(&line, &size, run->said) > 0)
        pass_on(line, &said_failed);
    free(line);
    fclose(run->said);
    if (status != 0 && !said_failed) /* it ended in the middle of a test, or would not begin */
        printf("\nnot ok %u /%s # the suite ended with %s %d\n", ++count, run->suite->name,
               WIFSIGNALED(status) ? "signal" : "status", WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    printf("# suite %s: %.1f s\n", run->suite->name, seconds() - run->began);
    failed |= status != 0;
    run->pid = 0;
}

/* Wait until one of them has ended. Return its place. */
static Run *wait_for_one(Run *runs)
{
    int status;
    pid_t pid = wait(&status);
    while (pid != runs->pid)
        runs++;
    end(runs, status);
    return runs;
}

/* Run all suites with these arguments. Return main()'s result. */
static int run_all(int argc, char **argv)
{
    unsigned places = (unsigned)sysconf(_SC_NPROCESSORS_ONLN), running = 0;
    g_autofree Run *runs = g_new0(Run, places);
    for (const Suite *suite = suites; suite; suite = suite->next)
        begin(running < places ? &runs[running++] : wait_for_one(runs), suite, argc, argv);
    for (; running > 0; running--)
        wait_for_one(runs);
    printf("1..%u\n", count);
    return failed ? 1 : 0;
}

int main(int argc, char **argv)
{
    const char *outer = g_getenv(ENV_SUITE);
    const Suite *suite = outer ? find(outer) : NULL;
    if (suite)
        return suite->run(argc, argv);
    if (argc < 2 || argv[1][0] == '-')
        return run_all(argc, argv);
    suite = find(argv[1]);
    if (suite) {
        argv[1] = argv[0];
        return run_here(suite, argc - 1, argv + 1);
    }
    fprintf(stderr, "%s: there is no suite \"%s\". There are:\n", argv[0], argv[1]);
    for (suite = suites; suite; suite = suite->next)
        fprintf(stderr, "  %s\n", suite->name);
    return 2;
}
