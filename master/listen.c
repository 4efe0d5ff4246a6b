/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "master/listen.h"

#include <errno.h>
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fail.h"

#define BACKLOG 1024
#define UNIX_MODE 0666
#define UNIX_PREFIX "unix:"

struct Listen {
    GHashTable *sockets; /* address -> fd + 1 */
};

static void close_socket(const char *address, int fd)
{
    close(fd);
    if (g_str_has_prefix(address, UNIX_PREFIX))
        unlink(address + strlen(UNIX_PREFIX));
}

Listen *listen_new(void)
{
    Listen *sockets = g_new0(Listen, 1);
    sockets->sockets = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    return sockets;
}

void listen_free(Listen *sockets)
{
    listen_keep(sockets, NULL);
    g_hash_table_unref(sockets->sockets);
    g_free(sockets);
}

/* True when the file may be bound: there is none, or nobody listened. */
static bool clear_stale(const struct sockaddr_un *address, GError **error)
{
    struct stat status;
    if (lstat(address->sun_path, &status) != 0)
        return true;
    if (!S_ISSOCK(status.st_mode))
        return fail(error, FAIL_CONFIG, "%s exists and is no socket", address->sun_path);
    auto_fd probe = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (probe < 0)
        return fail_errno(error, FAIL_LATER, "make a socket");
    if (connect(probe, (const struct sockaddr *)address, sizeof *address) == 0 || errno == EAGAIN)
        return fail(error, FAIL_CONFIG, "another process listens on %s", address->sun_path);
    if (errno != ECONNREFUSED)
        return fail_errno(error, FAIL_CONFIG, "try %s", address->sun_path);
    return unlink(address->sun_path) == 0 || fail_errno(error, FAIL_CONFIG, "remove %s", address->sun_path);
}

/* The file has its mode from the first moment. A chmod by its name might meet another file, put there meanwhile. */
static bool bind_unix(int fd, const struct sockaddr_un *address, mode_t mode)
{
    mode_t before = umask(0777 & ~mode);
    bool bound = bind(fd, (const struct sockaddr *)address, sizeof *address) == 0;
    umask(before);
    return bound;
}

int listen_unix(const char *path, mode_t mode, GError **error)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (*path != '/' || strlen(path) >= sizeof address.sun_path) {
        fail(error, FAIL_CONFIG, "\"%s\" is no absolute path of at most %zu octets", path, sizeof address.sun_path - 1);
        return -1;
    }
    g_strlcpy(address.sun_path, path, sizeof address.sun_path);
    if (!clear_stale(&address, error))
        return -1;
    auto_fd fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || !bind_unix(fd, &address, mode) || listen(fd, BACKLOG) != 0) {
        fail_errno(error, FAIL_CONFIG, "bind %s", path);
        return -1;
    }
    return auto_fd_steal(&fd);
}

/* Splits "HOST:PORT" and "[v6]:PORT" in place. */
static bool split(char *text, char **host, char **port)
{
    char *colon = strrchr(text, ':');
    if (!colon || colon == text || colon[1] == '\0')
        return false;
    *colon = '\0';
    *port = colon + 1;
    *host = text;
    if (*text == '[') {
        if (colon[-1] != ']')
            return false;
        colon[-1] = '\0';
        *host = text + 1;
    } else if (strchr(text, ':')) {
        return false; /* a bare IPv6 address: which colon is the port's? */
    }
    return true;
}

static int bind_tcp(const struct addrinfo *found)
{
    auto_fd fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int yes = 1;
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0)
        return -1;
    if (found->ai_family == AF_INET6 && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes) != 0)
        return -1;
    if (bind(fd, found->ai_addr, found->ai_addrlen) != 0 || listen(fd, BACKLOG) != 0)
        return -1;
    return auto_fd_steal(&fd);
}

static int open_tcp(const char *address, GError **error)
{
    g_autofree char *text = g_strdup(address);
    char *host, *port;
    if (!split(text, &host, &port)) {
        fail(error, FAIL_CONFIG, "\"%s\" is not HOST:PORT, [v6]:PORT or unix:PATH", address);
        return -1;
    }
    struct addrinfo hints = {.ai_flags = AI_PASSIVE, .ai_socktype = SOCK_STREAM}, *found = NULL;
    int result = getaddrinfo(strcmp(host, "*") == 0 ? "0.0.0.0" : host, port, &hints, &found);
    if (result != 0) {
        fail(error, FAIL_CONFIG, "%s: %s", address, gai_strerror(result));
        return -1;
    }
    int fd = bind_tcp(found);
    if (fd < 0)
        fail_errno(error, FAIL_CONFIG, "bind %s", address);
    freeaddrinfo(found);
    return fd;
}

bool listen_add(Listen *sockets, const char *address, GError **error)
{
    if (g_hash_table_contains(sockets->sockets, address))
        return true;
    int fd = g_str_has_prefix(address, UNIX_PREFIX) ? listen_unix(address + strlen(UNIX_PREFIX), UNIX_MODE, error)
                                                    : open_tcp(address, error);
    if (fd < 0)
        return false;
    g_hash_table_insert(sockets->sockets, g_strdup(address), GINT_TO_POINTER(fd + 1));
    return true;
}

int listen_fd(const Listen *sockets, const char *address)
{
    return GPOINTER_TO_INT(g_hash_table_lookup(sockets->sockets, address)) - 1;
}

void listen_keep(Listen *sockets, GHashTable *wanted)
{
    GHashTableIter iter;
    gpointer address, fd;
    g_hash_table_iter_init(&iter, sockets->sockets);
    while (g_hash_table_iter_next(&iter, &address, &fd))
        if (!wanted || !g_hash_table_contains(wanted, address)) {
            close_socket(address, GPOINTER_TO_INT(fd) - 1);
            g_hash_table_iter_remove(&iter);
        }
}
