/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/backup_pause.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"

#define LOOK_PAUSE (G_USEC_PER_SEC / 1000)

struct Pause {
    pid_t guard;
    int pipe;        /* closed, it tells the guard to let all go on */
    int64_t begin;   /* us */
    GArray *stopped; /* of pid_t */
};

/* The state and the parent of a process or thread; '\0' when it is gone. */
static char look(const char *path, pid_t *parent)
{
    g_autofree char *text = NULL;
    if (!g_file_get_contents(path, &text, NULL, NULL))
        return '\0';
    const char *after = strrchr(text, ')'); /* the name before it may hold anything */
    if (!after || after[1] != ' ')
        return '\0';
    *parent = (pid_t)strtol(after + 3, NULL, 10);
    return after[2];
}

/* True when no thread of it runs any more. */
static bool stands_still(pid_t pid)
{
    g_autofree char *path = g_strdup_printf("/proc/%d/task", (int)pid);
    g_autoptr(GDir) threads = g_dir_open(path, 0, NULL);
    for (const char *name; threads && (name = g_dir_read_name(threads));) {
        pid_t parent;
        g_autofree char *file = g_build_filename(path, name, "stat", NULL);
        char state = look(file, &parent);
        if (state != '\0' && !strchr("TtZX", state))
            return false;
    }
    return true;
}

static bool is_late(const Pause *pause)
{
    return clock_monotonic() - pause->begin > PAUSE_LIMIT * CLOCK_SECOND;
}

/* The guard hears of it first: it lets go on whatever may have been stopped. */
static bool stop(Pause *pause, pid_t pid, GError **error)
{
    if (write(pause->pipe, &pid, sizeof pid) != sizeof pid)
        return fail_errno(error, FAIL_LATER, "write to the process that ends the pause");
    if (kill(pid, SIGSTOP) != 0)
        return errno == ESRCH || fail_errno(error, FAIL_LATER, "stop the process %d", (int)pid);
    g_array_append_val(pause->stopped, pid);
    while (!stands_still(pid)) {
        if (is_late(pause))
            return fail(error, FAIL_LATER, "the process %d does not stand still", (int)pid);
        g_usleep(LOOK_PAUSE);
    }
    return true;
}

/* The master stands still already, so there will be no more of them. */
static bool stop_children(Pause *pause, pid_t master, GError **error)
{
    g_autoptr(GDir) processes = g_dir_open("/proc", 0, error);
    for (const char *name; processes && (name = g_dir_read_name(processes));) {
        pid_t parent = 0;
        g_autofree char *path = g_build_filename("/proc", name, "stat", NULL);
        if (g_ascii_isdigit(name[0]) && look(path, &parent) != '\0' && parent == master &&
            !stop(pause, (pid_t)strtol(name, NULL, 10), error))
            return false;
    }
    return processes != NULL;
}

/* Signals that end the command do not end this process. */
static void guard(int from)
{
    pid_t stopped[4096];
    size_t got = 0;
    int64_t end = clock_monotonic() + PAUSE_LIMIT * CLOCK_SECOND;
    setsid();
    for (;;) {
        int64_t left = (end - clock_monotonic()) / 1000;
        struct pollfd ready = {.fd = from, .events = POLLIN};
        int result = left > 0 ? poll(&ready, 1, (int)left) : 0;
        if (result < 0 && errno == EINTR)
            continue;
        ssize_t more = result > 0 ? read(from, (char *)stopped + got, sizeof stopped - got) : 0;
        if (more <= 0)
            break;
        got += (size_t)more;
    }
    for (size_t at = 0; at < got / sizeof *stopped; at++)
        kill(stopped[at], SIGCONT);
    _exit(0);
}

static void let_go(Pause *pause)
{
    for (guint at = 0; at < pause->stopped->len; at++)
        kill(g_array_index(pause->stopped, pid_t, at), SIGCONT);
    close(pause->pipe);
    waitpid(pause->guard, NULL, 0);
    g_array_unref(pause->stopped);
    g_free(pause);
}

Pause *pause_begin(pid_t master, GError **error)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        fail_errno(error, FAIL_LATER, "make a pipe");
        return NULL;
    }
    pid_t child = fork();
    if (child == 0) {
        close(ends[1]);
        guard(ends[0]);
    }
    close(ends[0]);
    if (child < 0) {
        fail_errno(error, FAIL_LATER, "fork");
        close(ends[1]);
        return NULL;
    }
    Pause *pause = g_new0(Pause, 1);
    *pause = (Pause){.guard = child,
                     .pipe = ends[1],
                     .begin = clock_monotonic(),
                     .stopped = g_array_new(FALSE, FALSE, sizeof(pid_t))};
    signal(SIGPIPE, SIG_IGN);
    if (stop(pause, master, error) && stop_children(pause, master, error))
        return pause;
    let_go(pause);
    return NULL;
}

bool pause_end(Pause *pause, GError **error)
{
    bool late = is_late(pause);
    let_go(pause);
    return !late || fail(error, FAIL_LATER, "the spool could not be seen within %d s", PAUSE_LIMIT);
}
