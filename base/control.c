/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/control.h"

#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fail.h"

#define BLOCK 65536

bool control_may_command(int fd, GError **error)
{
    struct ucred peer;
    socklen_t length = sizeof peer;
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0)
        return fail_errno(error, FAIL_LATER, "ask who is at the other end of the socket");
    if (peer.uid == 0 || peer.uid == geteuid())
        return true;
    const struct passwd *own = getpwuid(geteuid());
    return fail(error, FAIL_NEVER, "only root and the user %s may do that; others may ask for the status and for "
                "figures", own ? own->pw_name : "that runs Listrunner");
}

int control_connect(const char *directory, const char *name, int seconds, GError **error)
{
    g_autofree char *path = g_build_filename(directory, name, NULL);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (g_strlcpy(address.sun_path, path, sizeof address.sun_path) >= sizeof address.sun_path) {
        fail(error, FAIL_CONFIG, "[master] runtime_directory: %s is too long for a socket", directory);
        return -1;
    }
    const struct timeval patience = {.tv_sec = seconds};
    auto_fd fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    /* The time to send holds for connect() as well, which waits when a process that hangs has its queue full. */
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) != 0 ||
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) != 0 ||
        connect(fd, (struct sockaddr *)&address, sizeof address) != 0) {
        if (errno == ENOENT || errno == ECONNREFUSED)
            fail(error, FAIL_MISSING, "listrunner is not running (nobody answers on %s)", path);
        else if (errno == EAGAIN)
            fail(error, FAIL_LATER, "the process that listens on %s does not answer in time", path);
        else
            fail_errno(error, FAIL_LATER, "connect to %s%s", path,
                       errno == EACCES ? ", which root, the user of [site] user and its group may" : "");
        return -1;
    }
    return auto_fd_steal(&fd);
}

json_t *control_exchange(int fd, json_t *request, GError **error)
{
    char *text = json_dumps(request, JSON_COMPACT);
    g_autofree char *line = g_strconcat(text, "\n", NULL);
    free(text);
    json_decref(request);
    size_t length = strlen(line);
    for (size_t sent = 0; sent < length;) {
        ssize_t some = send(fd, line + sent, length - sent, MSG_NOSIGNAL);
        if (some < 0 && errno != EINTR) {
            fail_errno(error, FAIL_LATER, "talk to the master");
            return NULL;
        }
        sent += some > 0 ? (size_t)some : 0;
    }
    /* Up to the end of the line, or of the connection. */
    g_autoptr(GString) answer = g_string_new(NULL);
    g_autofree char *block = g_malloc(BLOCK);
    ssize_t got;
    do {
        got = recv(fd, block, BLOCK, 0);
        if (got > 0)
            g_string_append_len(answer, block, got);
    } while (got < 0 ? errno == EINTR : got > 0 && block[got - 1] != '\n');
    bool came = got >= 0 || errno != EAGAIN; /* in time */
    json_t *reply = json_loadb(answer->str, answer->len, 0, NULL);
    if (json_is_true(json_object_get(reply, "ok")))
        return reply;
    const char *words = json_string_value(json_object_get(reply, "error"));
    if (!came)
        fail(error, FAIL_LATER, "the process that listens does not answer in time");
    else
        fail(error, reply && !json_is_true(json_object_get(reply, "forbidden")) ? FAIL_NEVER : FAIL_LATER, "%s",
             words ? words : "the process that listens hung up without a sensible answer");
    json_decref(reply);
    return NULL;
}
