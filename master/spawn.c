/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "master/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/contract.h"
#include "base/fail.h"
#include "base/newest_schema.h"
#include "master/slices.h"

/* All that the child needs, made before the fork. */
typedef struct PreparedChild {
    const SpawnOrder *order;
    char **environment;
    int *sources; /* status pipe, sockets, lock: for CHILD_STATUS_FD and up */
    unsigned count;
} PreparedChild;

static bool inherits(const char *variable)
{
    static const char *const names[] = {"PATH=", "LANG=", "LC_", "TZ=", "LISTRUNNER_"};
    for (size_t i = 0; i < G_N_ELEMENTS(names); i++)
        if (g_str_has_prefix(variable, names[i]))
            return true;
    return false;
}

char **spawn_environment(const SpawnOrder *order, const char *const *inherited)
{
    char **result = g_new0(char *, 1);
    for (; *inherited; inherited++) {
        const char *equals = strchr(*inherited, '=');
        if (!equals || !inherits(*inherited))
            continue;
        g_autofree char *name = g_strndup(*inherited, (size_t)(equals - *inherited));
        result = g_environ_setenv(result, name, equals + 1, TRUE);
    }
    const struct {
        const char *name;
        unsigned value;
    } numbers[] = {
        {CHILD_ENV_INSTANCE, order->instance},
        {CHILD_ENV_INSTANCES, order->instances},
        {CHILD_ENV_LISTEN_FDS, order->listens},
        {CHILD_ENV_LOCK_FD, CHILD_LISTEN_FD + order->listens},
        {CHILD_ENV_OUTSIDE, order->outside},
    };
    result = g_environ_setenv(result, CHILD_ENV_CONFIG, order->config, TRUE);
    result = g_environ_setenv(result, CHILD_ENV_RUNNER, order->runner, TRUE);
    result = g_environ_setenv(result, CHILD_ENV_VERSION, PACKAGE_VERSION, TRUE);
    result = g_environ_setenv(result, CHILD_ENV_SCHEMA, G_STRINGIFY(NEWEST_SCHEMA), TRUE);
    for (size_t i = 0; i < G_N_ELEMENTS(numbers); i++) {
        g_autofree char *text = g_strdup_printf("%u", numbers[i].value);
        result = g_environ_setenv(result, numbers[i].name, text, TRUE);
    }
    return result;
}

/* Sources may lie where targets go, so all move up before any comes down. */
static bool place_descriptors(const PreparedChild *prepared)
{
    int above = CHILD_STATUS_FD + (int)prepared->count;
    for (unsigned i = 0; i < prepared->count; i++) {
        int moved = fcntl(prepared->sources[i], F_DUPFD_CLOEXEC, above);
        if (moved < 0)
            return false;
        prepared->sources[i] = moved;
    }
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
        return false;
    for (unsigned i = 0; i < prepared->count; i++)
        if (dup2(prepared->sources[i], CHILD_STATUS_FD + (int)i) < 0)
            return false;
    return close_range((unsigned)above, ~0U, 0) == 0;
}

/* For the master's log. No allocation: this is between fork and exec. */
static void say(int status, const char *doing, const char *command, int number)
{
    const char *const words[] = {"fault ", doing, " ", command, ": ", strerror(number), "\n"};
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
        ssize_t ignored = write(status, words[i], strlen(words[i]));
        (void)ignored;
    }
}

G_NORETURN static void become(const PreparedChild *prepared)
{
    const SpawnOrder *order = prepared->order;
    /* Handlers, ignored signals and the mask are as a fresh process has them. */
    struct sigaction action = {.sa_handler = SIG_DFL};
    for (int number = 1; number < NSIG; number++)
        sigaction(number, &action, NULL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (!place_descriptors(prepared)) {
        say(prepared->sources[0], "place the descriptors of", order->command, errno);
        _exit(CHILD_EXIT_LATER);
    }
    slices_sign(CHILD_LISTEN_FD + (int)order->listens, order->instance, order->instances);
    char *arguments[] = {(char *)order->command, NULL};
    execve(order->command, arguments, prepared->environment);
    int number = errno;
    say(CHILD_STATUS_FD, "run", order->command, number);
    bool lasting = number == ENOENT || number == EACCES || number == ENOEXEC || number == ENOTDIR || number == ELOOP;
    _exit(lasting ? CHILD_EXIT_CONFIG : CHILD_EXIT_LATER);
}

bool spawn_child(const SpawnOrder *order, pid_t *pid, int *status, GError **error)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return fail_errno(error, FAIL_LATER, "make a status pipe");
    auto_fd reading = ends[0], writing = ends[1];
    fcntl(reading, F_SETFL, O_NONBLOCK);
    PreparedChild prepared = {.order = order, .count = order->listens + 2};
    g_autofree int *sources = prepared.sources = g_new(int, prepared.count);
    sources[0] = writing;
    for (unsigned i = 0; i < order->listens; i++)
        sources[i + 1] = order->listen[i];
    sources[order->listens + 1] = order->lock;
    g_auto(GStrv) environment = prepared.environment = spawn_environment(order, (const char *const *)environ);

    /* No handler of ours may run in the child. */
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid_t child = fork();
    int number = errno;
    if (child == 0)
        become(&prepared);
    sigprocmask(SIG_SETMASK, &before, NULL);
    errno = number;
    if (child < 0)
        return fail_errno(error, FAIL_LATER, "fork");
    *pid = child;
    *status = auto_fd_steal(&reading);
    return true;
}
