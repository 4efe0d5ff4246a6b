/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "master/listen.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fail.h"
#include "base/log.h"

#define BACKLOG 1024
#define UNIX_PREFIX "unix:"

/* Counted: texts that mean the same address share it. */
typedef struct Socket {
    int fd;
    struct sockaddr_storage address;
    socklen_t length; /* 0: never shared */
    char *path;       /* its file */
} Socket;

struct Listen {
    GHashTable *bound; /* text -> GPtrArray of Socket */
    gid_t group;       /* of the files of UNIX sockets */
};

static void close_socket(void *data)
{
    Socket *own = data;
    close(own->fd);
    if (own->path)
        unlink(own->path);
    g_free(own->path);
}

static void release_socket(void *data)
{
    g_rc_box_release_full(data, close_socket);
}

Listen *listen_new(gid_t group)
{
    Listen *sockets = g_new0(Listen, 1);
    sockets->bound = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_ptr_array_unref);
    sockets->group = group;
    return sockets;
}

void listen_free(Listen *sockets)
{
    g_hash_table_unref(sockets->bound);
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
    /* The file has its mode from the first moment. A chmod by its name might meet another file, put there meanwhile. */
    mode_t before = umask(0777 & ~mode);
    bool bound = fd >= 0 && bind(fd, (const struct sockaddr *)&address, sizeof address) == 0;
    int number = errno;
    umask(before);
    errno = number;
    if (!bound || listen(fd, BACKLOG) != 0) {
        fail_errno(error, FAIL_CONFIG, "bind %s", path);
        return -1;
    }
    return auto_fd_steal(&fd);
}

static Socket *socket_at(const GPtrArray *among, const struct addrinfo *found)
{
    for (guint i = 0; i < among->len; i++) {
        Socket *each = among->pdata[i];
        if (each->length == found->ai_addrlen && memcmp(&each->address, found->ai_addr, found->ai_addrlen) == 0)
            return each;
    }
    return NULL;
}

static Socket *bind_new(const struct addrinfo *found)
{
    int yes = 1;
    bool six = found->ai_family == AF_INET6;
    auto_fd fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
        (six && setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &yes, sizeof yes) != 0) ||
        bind(fd, found->ai_addr, found->ai_addrlen) != 0 || listen(fd, BACKLOG) != 0)
        return NULL;
    in_port_t port = six ? ((const struct sockaddr_in6 *)(const void *)found->ai_addr)->sin6_port
                         : ((const struct sockaddr_in *)(const void *)found->ai_addr)->sin_port;
    Socket *own = g_rc_box_new0(Socket);
    own->fd = auto_fd_steal(&fd);
    own->length = port != 0 ? found->ai_addrlen : 0; /* the system chose one: it is nobody else's */
    memcpy(&own->address, found->ai_addr, found->ai_addrlen);
    return own;
}

/* Each address once; those of a family that the machine lacks are left out if there are others. A socket that another
 * text bound already is shared. */
static bool bind_all(const Listen *sockets, const char *text, const struct addrinfo *first, GPtrArray *own,
                     GError **error)
{
    for (const struct addrinfo *found = first; found; found = found->ai_next) {
        if (socket_at(own, found))
            continue;
        GHashTableIter iter;
        gpointer among;
        Socket *one = NULL;
        g_hash_table_iter_init(&iter, sockets->bound);
        while (!one && g_hash_table_iter_next(&iter, NULL, &among))
            one = socket_at(among, found);
        one = one ? g_rc_box_acquire(one) : bind_new(found);
        if (one) {
            g_ptr_array_add(own, one);
            continue;
        }
        /* A kernel without IPv6, or with none on its interfaces, while names still have such addresses. */
        int number = errno;
        bool others = own->len > 0 || found->ai_next;
        bool lacks = number == EAFNOSUPPORT || (number == EADDRNOTAVAIL && found->ai_family == AF_INET6);
        char numeric[NI_MAXHOST] = "?";
        getnameinfo(found->ai_addr, found->ai_addrlen, numeric, sizeof numeric, NULL, 0, NI_NUMERICHOST);
        errno = number;
        if (!others || !lacks)
            return fail_errno(error, FAIL_CONFIG, "bind %s (%s)", text, numeric);
        log_warn("%s: %s is left out: %s", text, numeric, g_strerror(number));
    }
    return true;
}

static bool open_tcp(const Listen *sockets, const char *address, GPtrArray *own, GError **error)
{
    g_autofree char *text = g_strdup(address);
    char *host = text, *colon = strrchr(text, ':');
    bool good = colon && colon != text && colon[1];
    if (good)
        *colon = '\0';
    if (good && *host == '[') {
        good = colon[-1] == ']';
        colon[-1] = '\0';
        host++;
    } else if (good && strchr(host, ':')) {
        good = false; /* a bare IPv6 address: which colon is the port's? */
    }
    if (!good)
        return fail(error, FAIL_CONFIG, "\"%s\" is not HOST:PORT, [v6]:PORT or unix:PATH", address);
    struct addrinfo hints = {.ai_flags = AI_PASSIVE, .ai_socktype = SOCK_STREAM}, *found = NULL;
    int result = getaddrinfo(strcmp(host, "*") == 0 ? NULL : host, colon + 1, &hints, &found);
    if (result != 0)
        return fail(error, FAIL_CONFIG, "%s: %s", address, gai_strerror(result));
    bool sound = bind_all(sockets, address, found, own, error);
    freeaddrinfo(found);
    return sound;
}

/* The file has its group from the first moment, as it has its mode. */
static bool open_unix(const Listen *sockets, const char *path, mode_t mode, GPtrArray *own, GError **error)
{
    gid_t before = getegid(), group = geteuid() == 0 ? sockets->group : before;
    if (group != before && setegid(group) != 0)
        return fail_errno(error, FAIL_CONFIG, "bind %s for the group %u", path, group);
    int fd = listen_unix(path, mode, error);
    if (group != before && setegid(before) != 0)
        g_error("the group of the process stays another one: %s", g_strerror(errno));
    if (fd < 0)
        return false;
    Socket *one = g_rc_box_new0(Socket);
    one->fd = fd;
    one->path = g_strdup(path);
    g_ptr_array_add(own, one);
    return true;
}

bool listen_add(Listen *sockets, const char *address, mode_t mode, GError **error)
{
    if (g_hash_table_contains(sockets->bound, address))
        return true;
    g_autoptr(GPtrArray) own = g_ptr_array_new_with_free_func(release_socket);
    bool sound = g_str_has_prefix(address, UNIX_PREFIX)
                     ? open_unix(sockets, address + strlen(UNIX_PREFIX), mode, own, error)
                     : open_tcp(sockets, address, own, error);
    if (!sound)
        return false;
    g_hash_table_insert(sockets->bound, g_strdup(address), g_steal_pointer(&own));
    return true;
}

bool listen_renew(Listen *sockets, const char *address, mode_t mode, bool *renewed, GError **error)
{
    struct stat status;
    const char *path = g_str_has_prefix(address, UNIX_PREFIX) ? address + strlen(UNIX_PREFIX) : NULL;
    *renewed = false;
    if (!path || lstat(path, &status) == 0 || errno != ENOENT)
        return true;
    g_autoptr(GPtrArray) own = g_ptr_array_new_with_free_func(release_socket);
    GPtrArray *before = g_hash_table_lookup(sockets->bound, address);
    if (!open_unix(sockets, path, mode, own, error))
        return false;
    for (guint i = 0; before && i < before->len; i++)
        g_clear_pointer(&((Socket *)before->pdata[i])->path, g_free); /* the file is not its own any more */
    g_hash_table_insert(sockets->bound, g_strdup(address), g_steal_pointer(&own));
    *renewed = true;
    return true;
}

bool listen_fds(const Listen *sockets, const char *address, GArray *fds)
{
    const GPtrArray *own = g_hash_table_lookup(sockets->bound, address);
    for (guint i = 0; own && i < own->len; i++) {
        int fd = ((const Socket *)own->pdata[i])->fd;
        bool known = false;
        for (guint j = 0; j < fds->len && !known; j++)
            known = g_array_index(fds, int, j) == fd;
        if (!known)
            g_array_append_val(fds, fd);
    }
    return own != NULL;
}

void listen_keep(Listen *sockets, GHashTable *wanted)
{
    GHashTableIter iter;
    gpointer address;
    g_hash_table_iter_init(&iter, sockets->bound);
    while (g_hash_table_iter_next(&iter, &address, NULL))
        if (!g_hash_table_contains(wanted, address))
            g_hash_table_iter_remove(&iter);
}
