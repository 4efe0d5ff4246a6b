/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * listrunner start: the master in the background, for sites without a
 * service manager. We play the service manager until it is ready: it tells
 * us over a notification socket, or its standard error tells why not.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pwd.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fail.h"
#include "cli/command.h"
#include "cli/control_client.h"

static char *log_file, *program;
static int patience = 120; /* seconds */

/* What the two forks need, made before them. */
typedef struct Launch {
    const char *program, *config;
    char *notify; /* for NOTIFY_SOCKET */
    int notify_fd, log_fd;
    int life_fd; /* the master keeps the other end open as long as it lives */
} Launch;

static bool bind_notify(Launch *launch, GError **error)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    socklen_t length = sizeof address;
    launch->notify_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    /* No name: the kernel picks an abstract one. */
    if (launch->notify_fd < 0 || bind(launch->notify_fd, (struct sockaddr *)&address, sizeof(sa_family_t)) != 0 ||
        getsockname(launch->notify_fd, (struct sockaddr *)&address, &length) != 0)
        return fail_errno(error, FAIL_LATER, "make a notification socket");
    size_t name = length - offsetof(struct sockaddr_un, sun_path) - 1;
    launch->notify = g_strdup_printf("@%.*s", (int)name, address.sun_path + 1);
    return true;
}

/* The runtime directory may not be there yet; the master would make it for
 * its user, and so do we. */
static int open_log(const Config *config, GError **error)
{
    const char *directory = config_string(config, "master", "runtime_directory");
    const char *user = config_string(config, "site", "user");
    g_autofree char *path = log_file ? g_strdup(log_file) : g_build_filename(directory, "master.log", NULL);
    if (!log_file && mkdir(directory, 0755) == 0 && geteuid() == 0) {
        const struct passwd *entry = user ? getpwnam(user) : NULL;
        if (entry && chown(directory, entry->pw_uid, entry->pw_gid) != 0) {
            fail_errno(error, FAIL_LATER, "give %s to %s", directory, user);
            return -1;
        }
    }
    int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0640);
    if (fd < 0)
        fail_errno(error, FAIL_LATER, "open %s", path);
    return fd;
}

G_NORETURN static void become_master(const Launch *launch, int life)
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    setenv("NOTIFY_SOCKET", launch->notify, 1);
    if (null < 0 || chdir("/") != 0 || dup2(null, STDIN_FILENO) < 0 || dup2(launch->log_fd, STDOUT_FILENO) < 0 ||
        dup2(launch->log_fd, STDERR_FILENO) < 0 || fcntl(life, F_SETFD, 0) != 0)
        _exit(TOOL_LATER);
    execl(launch->program, launch->program, "-c", launch->config, (char *)NULL);
    dprintf(STDERR_FILENO, "run %s: %s\n", launch->program, strerror(errno));
    _exit(TOOL_CONFIG);
}

/* Twice forked, so that the master belongs to no terminal and no shell. We
 * are its parent in the meantime, to learn how it ended if it does. */
static bool launch_master(Launch *launch, GError **error)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0 || prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0)
        return fail_errno(error, FAIL_LATER, "prepare");
    launch->life_fd = ends[0];
    auto_fd life = ends[1];
    pid_t child = fork();
    if (child < 0)
        return fail_errno(error, FAIL_LATER, "fork");
    if (child == 0) {
        setsid();
        pid_t grandchild = fork();
        if (grandchild == 0)
            become_master(launch, life);
        _exit(grandchild < 0 ? TOOL_LATER : 0);
    }
    int status;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return status == 0 || fail(error, FAIL_LATER, "fork again");
}

/* Copies what the master has said since `from`. */
static void print_log(int fd, off_t from)
{
    char text[4096];
    ssize_t got;
    while ((got = pread(fd, text, sizeof text, from)) > 0) {
        fwrite(text, 1, (size_t)got, stderr);
        from += got;
    }
}

typedef enum Outcome { STARTED, ENDED, TOO_LONG } Outcome;

static Outcome wait_ready(const Launch *launch)
{
    int64_t until = g_get_monotonic_time() + (int64_t)patience * G_USEC_PER_SEC;
    for (;;) {
        struct pollfd polled[] = {{launch->notify_fd, POLLIN, 0}, {launch->life_fd, POLLIN, 0}};
        int64_t left = (until - g_get_monotonic_time()) / 1000;
        if (left <= 0)
            return TOO_LONG;
        if (poll(polled, G_N_ELEMENTS(polled), (int)MIN(left, G_MAXINT)) < 0)
            continue;
        char message[1024];
        ssize_t got = polled[0].revents ? recv(launch->notify_fd, message, sizeof message - 1, MSG_DONTWAIT) : 0;
        message[MAX(got, 0)] = '\0';
        if (g_str_has_prefix(message, "READY=1\n") || strstr(message, "\nREADY=1\n"))
            return STARTED;
        if (got <= 0 && polled[1].revents)
            return ENDED;
    }
}

static int report(const Launch *launch, Outcome outcome, off_t log_start, Site *site)
{
    if (outcome == STARTED) {
        g_autoptr(ControlClient) client = control_client_open(site, NULL);
        printf("Listrunner has started, master pid %d.\n", client ? control_client_pid(client) : 0);
        return TOOL_OK;
    }
    if (outcome == TOO_LONG) {
        fprintf(stderr, "The master is not ready after %d s; it goes on starting. See listrunner status.\n", patience);
        return TOOL_LATER;
    }
    int status = 0;
    waitpid(-1, &status, 0);
    fputs("The master could not start:\n", stderr);
    print_log(launch->log_fd, log_start);
    return WIFEXITED(status) && WEXITSTATUS(status) ? WEXITSTATUS(status) : TOOL_LATER;
}

static int run(Site *site, int argc, char **argv, GError **error)
{
    const Config *config = site_config(site, error);
    if (!config)
        return TOOL_CONFIG;
    g_autoptr(ControlClient) running = control_client_open(site, NULL);
    if (running) {
        fprintf(stderr, "Listrunner is running already, master pid %d.\n", control_client_pid(running));
        return TOOL_NOT_SO;
    }
    g_autofree char *path = g_canonicalize_filename(site_config_path(site), NULL);
    g_autofree char *master = g_canonicalize_filename(program ? program : SBINDIR "/listrunner-master", NULL);
    Launch launch = {.program = master, .config = path, .notify_fd = -1, .life_fd = -1};
    int code = TOOL_LATER;
    auto_fd log_fd = launch.log_fd = open_log(config, error);
    if (log_fd >= 0 && bind_notify(&launch, error)) {
        off_t log_start = lseek(log_fd, 0, SEEK_END);
        if (launch_master(&launch, error))
            code = report(&launch, wait_ready(&launch), log_start, site);
    }
    auto_fd_close(&launch.notify_fd);
    auto_fd_close(&launch.life_fd);
    g_free(launch.notify);
    return code;
}

static const GOptionEntry options[] = {
    {"log", 0, 0, G_OPTION_ARG_FILENAME, &log_file,
     "standard error of the master and the runners (default: master.log in [master] runtime_directory)", "FILE"},
    {"timeout", 0, 0, G_OPTION_ARG_INT, &patience, "how long to wait until it is ready (default 120)", "SECONDS"},
    {"program", 0, 0, G_OPTION_ARG_FILENAME, &program,
     "the master (default " SBINDIR "/listrunner-master)", "FILE"},
    G_OPTION_ENTRY_NULL,
};

const Command cmd_start = {
    .name = "start",
    .arguments = "",
    .summary = "Start the master in the background and wait until the runners are ready",
    .details = "For sites without a service manager. With [site] log = syslog the file holds only what happens before\n"
               "the configuration is read. Exit codes: 1 running already; 75, 78 why it could not start is printed.",
    .options = options,
    .run = run,
};
