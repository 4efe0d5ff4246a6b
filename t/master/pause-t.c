/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Test that a pause is told of when every process stands still, and not before. */
#include "master/supervisor.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "master/worker.h"
#include "t/master/timers.h"

static bool deaf; /* a process is told to stop, and takes its time */

int __real_kill(pid_t pid, int number);
int __wrap_kill(pid_t pid, int number);
int __wrap_kill(pid_t pid, int number)
{
    return deaf && number == SIGSTOP ? 0 : __real_kill(pid, number);
}

static void note_done(void *data, const GError *error)
{
    g_assert_no_error(error);
    ++*(unsigned *)data;
}

/* It ends with the test. */
static pid_t start_child(void)
{
    pid_t parent = getpid(), child = fork();
    if (child == 0 && (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent))
        _exit(1);
    while (child == 0)
        pause();
    g_assert_cmpint(child, >, 0);
    return child;
}

static void wait_for(pid_t child, int what)
{
    siginfo_t found = {0};
    g_assert_cmpint(waitid(P_PID, (id_t)child, &found, what | WNOWAIT), ==, 0);
}

static void test_stands_still(void)
{
    GError *error = NULL;
    unsigned done = 0;
    Worker worker = {.state = WORKER_READY, .pid = start_child()};
    Group group = {.workers = g_ptr_array_new()};
    Master master = {.base = event_base_new(), .groups = g_ptr_array_new()};
    g_ptr_array_add(group.workers, &worker);
    g_ptr_array_add(master.groups, &group);
    deaf = true;
    g_assert_true(supervisor_pause(&master, note_done, &done, &error));
    timers_run_out(master.base, 5);
    g_assert_cmpuint(done, ==, 0);
    deaf = false;
    g_assert_cmpint(kill(worker.pid, SIGSTOP), ==, 0);
    wait_for(worker.pid, WSTOPPED);
    timers_run_out(master.base, 5);
    g_assert_cmpuint(done, ==, 1);
    g_assert_false(supervisor_pause(&master, note_done, &worker, NULL));
    g_assert_false(supervisor_go_on(&master, &worker)); /* it is not that one's */
    g_assert_true(supervisor_go_on(&master, &done));
    wait_for(worker.pid, WCONTINUED);
    g_assert_null(master.pause);
    g_assert_cmpint(kill(worker.pid, SIGKILL), ==, 0);
    g_assert_cmpint(waitpid(worker.pid, NULL, 0), ==, worker.pid);
    g_ptr_array_unref(group.workers);
    g_ptr_array_unref(master.groups);
    event_base_free(master.base);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/pause/all stand still", test_stands_still);
    return g_test_run();
}
