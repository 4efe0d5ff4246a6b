/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/control_client.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/config.h"
#include "base/control.h"
#include "base/fail.h"
#include "cli/backup/spool_served.h"
#include "cli/exit.h"

#define SETTLE_STEP (G_USEC_PER_SEC / 5)
#define ANSWER_SECONDS 15

struct ControlClient {
    int fd;
    int pidfd; /* of the master; -1 when it cannot be had */
    int pid;
};

/* [master] runtime_directory of a file that has faults elsewhere; NULL when it cannot be read; g_free(). */
static char *find_directory(const char *file)
{
    g_autofree char *text = NULL;
    if (!g_file_get_contents(file, &text, NULL, NULL))
        return NULL;
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    bool inside = false;
    for (char **line = lines; *line; line++) {
        g_strstrip(*line);
        char *equals = strchr(*line, '=');
        if (**line == '[')
            inside = g_str_has_prefix(*line, "[master]");
        else if (inside && equals && g_str_has_prefix(*line, "runtime_directory")) {
            char *value = equals + 1, *comment = value;
            while (*comment && (*comment != ';' || (comment > value && !g_ascii_isspace(comment[-1]))))
                comment++;
            *comment = '\0';
            return g_strdup(g_strstrip(value));
        }
    }
    return config_default("master", "runtime_directory");
}

static ControlClient *open_socket(Site *site, const char *name, GError **error)
{
    g_autoptr(GError) fault = NULL;
    const Config *config = site_config(site, &fault);
    g_autofree char *directory = config ? g_strdup(config_string(config, "master", "runtime_directory"))
                                        : find_directory(site_config_path(site));
    if (!directory && fault)
        g_propagate_error(error, g_steal_pointer(&fault));
    int fd = directory ? control_connect(directory, name, ANSWER_SECONDS, error) : -1;
    if (fd < 0)
        return NULL;
    ControlClient *client = g_new0(ControlClient, 1);
    *client = (ControlClient){.fd = fd, .pidfd = -1};
    return client;
}

ControlClient *control_client_open(Site *site, GError **error)
{
    struct ucred peer;
    socklen_t length = sizeof peer;
    g_autoptr(GError) fault = NULL;
    ControlClient *client = open_socket(site, CONTROL_SOCKET, &fault);
    if (client) {
        /* The master is the process that called listen() on the socket. */
        if (getsockopt(client->fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) == 0) {
            client->pid = peer.pid;
            client->pidfd = pidfd_open(peer.pid, 0);
        }
        return client;
    }
    /* site_spool() will not do, because it becomes the site's user, and root who starts a master is still needed. */
    const Config *config = g_error_matches(fault, FAIL, FAIL_MISSING) ? site_config(site, NULL) : NULL;
    g_autoptr(Spool) spool = config ? spool_open(config_string(config, "spool", "directory"), NULL) : NULL;
    if (spool && spool_has_master(spool))
        fail(error, FAIL_MISSING, "a master works %s, but nobody answers on its socket: it begins or ends just now, or "
             "[master] runtime_directory was removed and it may not make it again, as its log says then",
             spool_path(spool));
    else
        g_propagate_error(error, g_steal_pointer(&fault));
    return NULL;
}

ControlClient *control_client_open_runner(Site *site, const char *runner, unsigned instance, GError **error)
{
    g_autofree char *name = g_strdup_printf("%s-%u.sock", runner, instance);
    return open_socket(site, name, error);
}

void control_client_free(ControlClient *client)
{
    close(client->fd);
    auto_fd_close(&client->pidfd);
    g_free(client);
}

json_t *control_client_ask(ControlClient *client, json_t *request, GError **error)
{
    return control_exchange(client->fd, request, error);
}

int control_client_pid(const ControlClient *client)
{
    return client->pid;
}

void control_client_patient(ControlClient *client)
{
    setsockopt(client->fd, SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){0}, sizeof(struct timeval));
}

void control_client_wait_end(ControlClient *client)
{
    control_client_patient(client);
    for (char byte; recv(client->fd, &byte, 1, 0) > 0;)
        continue;
    /* It hangs up a moment before it is gone; who starts another wants it gone. */
    struct pollfd process = {client->pidfd, POLLIN, 0};
    while (client->pidfd >= 0 && poll(&process, 1, -1) < 0 && errno == EINTR)
        continue;
}

static bool settled(const json_t *status, const char *runner)
{
    size_t i, j;
    json_t *group, *child;
    json_array_foreach(json_object_get(status, "runners"), i, group) {
        if (runner && g_strcmp0(runner, json_string_value(json_object_get(group, "runner"))) != 0)
            continue;
        if (g_strcmp0(json_string_value(json_object_get(group, "state")), "running") != 0)
            return false;
        json_array_foreach(json_object_get(group, "children"), j, child)
            if (g_strcmp0(json_string_value(json_object_get(child, "state")), "ready") != 0)
                return false;
    }
    return true;
}

bool control_client_settle(ControlClient *client, const char *runner, int seconds, GError **error)
{
    int64_t until = g_get_monotonic_time() + (int64_t)seconds * G_USEC_PER_SEC;
    for (;;) {
        json_t *status = control_client_ask(client, json_pack("{s:s}", "verb", "status"), error);
        bool done = settled(status, runner);
        json_decref(status);
        if (!status || done)
            return status != NULL;
        if (g_get_monotonic_time() > until)
            return fail(error, FAIL_LATER, "not every child is ready after %d s; see listrunner status", seconds);
        g_usleep(SETTLE_STEP);
    }
}

int control_client_refused(GError **cause, GError **error)
{
    if (!g_error_matches(*cause, FAIL, FAIL_MISSING)) {
        g_propagate_error(error, g_steal_pointer(cause));
        return TOOL_LATER; /* the tool takes the code from the error */
    }
    fprintf(stderr, "%s\n", (*cause)->message);
    return TOOL_NOT_RUNNING;
}
