/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/program.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/contract.h"
#include "base/fail.h"
#include "base/fs.h"

extern char **environ;

/* A file in memory: nobody has to feed the program while it runs. */
static int memory_file(const void *data, size_t length, GError **error)
{
    auto_fd fd = memfd_create("program", MFD_CLOEXEC);
    if (fd < 0) {
        fail_errno(error, FAIL_LATER, "memory for a program");
        return -1;
    }
    if (length > 0 && !fs_write(fd, data, length, error))
        return -1;
    lseek(fd, 0, SEEK_SET);
    return auto_fd_steal(&fd);
}

bool program_start(const Program *program, int input, int output, pid_t *pid, GError **error)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, defaults;
    sigemptyset(&none);
    sigemptyset(&defaults);
    sigaddset(&defaults, SIGPIPE);
    sigaddset(&defaults, SIGXFSZ);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
    posix_spawn_file_actions_addclosefrom_np(&actions, CHILD_STATUS_FD);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &defaults);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    int code = posix_spawnp(pid, program->words[0], &actions, &attributes, program->words,
                            program->environment ? program->environment : environ);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    errno = code;
    if (code != 0)
        return fail_errno(error, FAIL_LATER, "run %s", program->words[0]);
    const struct rlimit size = {program->output_max, program->output_max}, memory = {program->memory_max,
                                                                                     program->memory_max};
    if (program->output_max > 0)
        prlimit(*pid, RLIMIT_FSIZE, &size, NULL);
    if (program->memory_max > 0)
        prlimit(*pid, RLIMIT_AS, &memory, NULL);
    return true;
}

static bool await(const Program *program, pid_t pid, int *status, GError **error)
{
    int64_t deadline = clock_monotonic() + program->timeout;
    auto_fd watch = (int)syscall(SYS_pidfd_open, pid, 0);
    bool hurried = false;
    while (waitpid(pid, status, WNOHANG) != pid) {
        int64_t now = clock_monotonic();
        if (program->alive && !program->alive(program->data) && !hurried) {
            hurried = true;
            deadline = MIN(deadline, now + PROGRAM_GRACE);
        }
        if (now >= deadline) {
            kill(-pid, SIGKILL);
            waitpid(pid, status, 0);
            return fail(error, FAIL_LATER, "%s took too long and was killed", program->words[0]);
        }
        struct pollfd item = {.fd = watch, .events = POLLIN};
        int64_t pause = MIN(deadline - now, watch >= 0 ? CLOCK_SECOND : CLOCK_SECOND / 50);
        poll(&item, watch >= 0 ? 1 : 0, (int)(pause / 1000) + 1);
    }
    kill(-pid, SIGKILL); /* what it left behind */
    return true;
}

bool program_run(const Program *program, GBytes *input, int *code, GBytes **output, GError **error)
{
    pid_t pid;
    int status = 0;
    size_t length;
    const void *data = g_bytes_get_data(input, &length);
    auto_fd in = memory_file(data, length, error);
    auto_fd out = in < 0 ? -1 : output ? memory_file(NULL, 0, error) : dup(STDERR_FILENO);
    if (out < 0 || !program_start(program, in, out, &pid, error) || !await(program, pid, &status, error))
        return false;
    *code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    if (!output)
        return true;
    *output = NULL;
    struct stat state;
    if (fstat(out, &state) != 0 || (size_t)state.st_size >= program->output_max)
        return fail(error, FAIL_LATER, "%s wrote more than %zu bytes", program->words[0], program->output_max);
    g_autofree char *text = g_malloc((gsize)state.st_size + 1);
    for (ssize_t at = 0, got; at < state.st_size; at += got) {
        got = pread(out, text + at, (size_t)(state.st_size - at), at);
        if (got <= 0)
            return fail_errno(error, FAIL_LATER, "read what %s wrote", program->words[0]);
    }
    *output = g_bytes_new_take(g_steal_pointer(&text), (gsize)state.st_size);
    return true;
}
