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
#include "base/contract.h"
#include "base/fail.h"
#include "cli/admin/status.h"
#include "cli/command.h"
#include "cli/control_client.h"
#include "store/place.h"

#define STATUS_PAUSE (G_USEC_PER_SEC / 10)

static char *log_file, *program;
static int patience = 120; /* seconds */

/* Launch holds the values that the two forks need. They are made before the forks. */
typedef struct Launch {
    const char *program, *config, *log;
    char *notify; /* for NOTIFY_SOCKET */
    int notify_fd, log_fd;
    int life_fd; /* the master keeps the other end open as long as it lives */
} Launch;

/* Directory and file are made for the user that the master will have when root starts it, so that who starts it the
 * next time can write there. The file is made as that user: root would leave one that a later start could not write, or
 * follow what the user has put there. */
static int open_log(const Config *config, const char *path, GError **error)
{
    const char *name = config_string(config, "site", "user");
    const struct passwd *account = geteuid() == 0 && name ? getpwnam(name) : NULL;
    if (account && account->pw_uid == 0)
        account = NULL;
    g_autofree char *directory = g_path_get_dirname(path);
    g_autofree char *above = g_path_get_dirname(directory);
    bool made = g_mkdir_with_parents(above, 0755) == 0 && mkdir(directory, 0750) == 0;
    if (!made && errno != EEXIST) {
        fail_errno(error, FAIL_LATER, "make the directory of the log, %s", directory);
        return -1;
    }
    if (made && account && chown(directory, account->pw_uid, account->pw_gid) != 0) {
        fail_errno(error, FAIL_LATER, "give %s to %s", directory, account->pw_name);
        return -1;
    }
    if (account && (setegid(account->pw_gid) != 0 || seteuid(account->pw_uid) != 0)) {
        fail_errno(error, FAIL_LATER, "act as the user %s", account->pw_name);
        return -1;
    }
    const char *user = account ? account->pw_name : g_get_user_name(); /* which may set errno */
    int fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0640);
    if (fd < 0)
        fail_errno(error, FAIL_LATER, "open the log %s as the user %s, to whom it must belong", path, user);
    if (account && (seteuid(0) != 0 || setegid(0) != 0))
        _exit(TOOL_SOFTWARE);
    return fd;
}

G_NORETURN static void become_master(const Launch *launch, int life)
{
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    setenv("NOTIFY_SOCKET", launch->notify, 1);
    setenv(CHILD_ENV_LOG_FILE, launch->log, 1);
    if (null < 0 || chdir("/") != 0 || dup2(null, STDIN_FILENO) < 0 || dup2(launch->log_fd, STDOUT_FILENO) < 0 ||
        dup2(launch->log_fd, STDERR_FILENO) < 0 || fcntl(life, F_SETFD, 0) != 0)
        _exit(TOOL_LATER);
    execl(launch->program, launch->program, "-c", launch->config, (char *)NULL);
    dprintf(STDERR_FILENO, "run %s: %s\n", launch->program, strerror(errno));
    _exit(TOOL_CONFIG);
}

/* Twice forked, so that the master belongs to no terminal and no shell. We are its parent in the meantime, to learn how
 * it ended if it does. */
static bool launch_master(Launch *launch, GError **error)
{
    int ends[2], status;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    socklen_t length = sizeof address;
    launch->notify_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    /* No name: the kernel picks an abstract one. */
    if (launch->notify_fd < 0 || bind(launch->notify_fd, (struct sockaddr *)&address, sizeof(sa_family_t)) != 0 ||
        getsockname(launch->notify_fd, (struct sockaddr *)&address, &length) != 0)
        return fail_errno(error, FAIL_LATER, "make a notification socket");
    size_t name = length - offsetof(struct sockaddr_un, sun_path) - 1;
    launch->notify = g_strdup_printf("@%.*s", (int)name, address.sun_path + 1);
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
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return status == 0 || fail(error, FAIL_LATER, "fork again");
}

typedef enum StartOutcome { STARTED, ENDED, TOO_LONG } StartOutcome;

static StartOutcome wait_ready(const Launch *launch, int64_t until)
{
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

typedef enum Readiness { READY, STARTING, FAILING, FAILED } Readiness;

/* Of the worst child but one that may still become ready: then there is something to wait for. A child that has died
 * twice would have to be lucky the third time; one that wants its configuration mended does not even try. */
static Readiness readiness_of_all(const json_t *status)
{
    size_t i, j;
    json_t *group, *child;
    Readiness worst = READY;
    bool starting = false;
    json_array_foreach(json_object_get(status, "runners"), i, group)
        json_array_foreach(json_object_get(group, "children"), j, child) {
            const char *state = json_string_value(json_object_get(child, "state"));
            bool dies = json_integer_value(json_object_get(child, "restarts")) >= 2 ||
                        g_strcmp0(state, "throttled") == 0;
            Readiness one = g_strcmp0(state, "ready") == 0           ? READY
                            : g_strcmp0(state, "failed config") == 0 ? FAILED
                            : dies                                   ? FAILING
                                                                     : STARTING;
            starting |= one == STARTING;
            worst = MAX(worst, one);
        }
    return starting ? STARTING : worst;
}

/* Wait until each child is ready or known to fail, and say which are. */
static int report_runners(Site *site, int64_t until, GError **error)
{
    Readiness readiness = STARTING;
    g_autoptr(ControlClient) client = control_client_open(site, error);
    json_t *status = client ? control_client_ask(client, json_pack("{s:s}", "verb", "status"), error) : NULL;
    while (status && (readiness = readiness_of_all(status)) == STARTING && g_get_monotonic_time() <= until) {
        json_decref(status);
        g_usleep(STATUS_PAUSE);
        status = control_client_ask(client, json_pack("{s:s}", "verb", "status"), error);
    }
    if (!status) {
        g_prefix_error(error, "the master has started, but does not say whether the runners are ready: ");
        return TOOL_LATER;
    }
    int pid = control_client_pid(client);
    if (readiness == READY) {
        printf("Listrunner has started, master pid %d: all runners are ready.\n", pid);
    } else {
        fprintf(stderr, "Listrunner has started, master pid %d, but these runners are not ready:\n", pid);
        status_unwell(stderr, status);
        fputs("The others work, and these are tried again; nothing that arrived is lost. When the cause is mended,\n"
              "listrunner reload tries at once, and listrunner status tells whether it helped.\n", stderr);
    }
    json_decref(status);
    return readiness == READY ? TOOL_OK : readiness == FAILED ? TOOL_CONFIG : TOOL_LATER;
}

static int launch_and_wait(Launch *launch, Site *site, GError **error)
{
    int status = 0;
    char text[4096];
    ssize_t got;
    int64_t until = g_get_monotonic_time() + (int64_t)patience * G_USEC_PER_SEC;
    off_t said = lseek(launch->log_fd, 0, SEEK_END);
    if (!launch_master(launch, error))
        return TOOL_LATER;
    switch (wait_ready(launch, until)) {
    case STARTED:
        return report_runners(site, until, error);
    case TOO_LONG:
        fprintf(stderr, "The master is not ready after %d s; it goes on starting. See listrunner status.\n", patience);
        return TOOL_LATER;
    case ENDED:
        break;
    }
    waitpid(-1, &status, 0);
    fputs("The master could not start:\n", stderr);
    for (; (got = pread(launch->log_fd, text, sizeof text, said)) > 0; said += got)
        fwrite(text, 1, (size_t)got, stderr);
    return WIFEXITED(status) && WEXITSTATUS(status) ? WEXITSTATUS(status) : TOOL_LATER;
}

/* As the user, since a file of SQLite may be opened by nobody else. Our own user must stay. */
static void announce_upgrade(Site *site, const StorePlace *place)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        g_autofree char *sentence = site_become_user(site, NULL) ? store_upgrade_sentence(place) : NULL;
        if (sentence)
            printf("%s\n", sentence);
        fflush(NULL);
        _exit(0);
    }
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        continue;
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
    g_autoptr(GError) absent = NULL; /* other faults are told better by who opens it */
    g_auto(StorePlace) place = {0};
    if (store_place_read(config, &place, &absent) && !store_find(place.driver, place.where, &absent) &&
        g_error_matches(absent, FAIL, FAIL_MISSING)) {
        g_propagate_prefixed_error(error, g_steal_pointer(&absent), "nothing was started: ");
        return TOOL_MISSING;
    }
    const char *log = log_file ? log_file : config_string(config, "master", "log_file");
    g_autofree char *log_path = g_canonicalize_filename(log, NULL);
    g_autofree char *path = g_canonicalize_filename(site_config_path(site), NULL);
    g_autofree char *master = g_canonicalize_filename(program ? program : SBINDIR "/listrunner-master", NULL);
    auto_fd log_fd = open_log(config, log_path, error);
    if (log_fd < 0)
        return TOOL_LATER;
    if (place.where)
        announce_upgrade(site, &place);
    Launch launch = {.program = master, .config = path, .log = log_path, .log_fd = log_fd, .notify_fd = -1,
                     .life_fd = -1};
    int code = launch_and_wait(&launch, site, error);
    auto_fd_close(&launch.notify_fd);
    auto_fd_close(&launch.life_fd);
    g_free(launch.notify);
    return code;
}

static const GOptionEntry options[] = {
    {"log", 0, 0, G_OPTION_ARG_FILENAME, &log_file,
     "standard error of the master and the runners (default: [master] log_file)", "FILE"},
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
               "the configuration is read. Exit codes: 1 running already; 66 the database is missing; 75, 78 it could\n"
               "not start, or not every runner is ready (78: before a person has mended something): why is printed.",
    .options = options,
    .run = run,
};
