/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "master/listen.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fail.h"
#include "t/suite.h"

static char *directory;

static int port_of(int fd)
{
    struct sockaddr_in address;
    socklen_t length = sizeof address;
    g_assert_cmpint(getsockname(fd, (struct sockaddr *)&address, &length), ==, 0);
    return ntohs(address.sin_port);
}

/* -1 when it was never added. */
static int count_fds(const Listen *sockets, const char *address, int *first)
{
    g_autoptr(GArray) fds = g_array_new(FALSE, FALSE, sizeof(int));
    bool known = listen_fds(sockets, address, fds);
    if (first && fds->len > 0)
        *first = g_array_index(fds, int, 0);
    return known ? (int)fds->len : -1;
}

static int only_fd(const Listen *sockets, const char *address)
{
    int fd = -1;
    g_assert_cmpint(count_fds(sockets, address, &fd), ==, 1);
    return fd;
}

/* A port that is free on every address. */
static int free_port(void)
{
    auto_fd probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in any = {.sin_family = AF_INET};
    g_assert_cmpint(bind(probe, (struct sockaddr *)&any, sizeof any), ==, 0);
    return port_of(probe);
}

static bool takes_connections(const char *host, int port)
{
    g_autofree char *service = g_strdup_printf("%d", port);
    struct addrinfo hints = {.ai_flags = AI_NUMERICHOST, .ai_socktype = SOCK_STREAM}, *found = NULL;
    g_assert_cmpint(getaddrinfo(host, service, &hints, &found), ==, 0);
    auto_fd fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool taken = fd >= 0 && connect(fd, found->ai_addr, found->ai_addrlen) == 0;
    freeaddrinfo(found);
    return taken;
}

static bool has_ipv6(void)
{
    auto_fd fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in6 loopback = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    return fd >= 0 && bind(fd, (struct sockaddr *)&loopback, sizeof loopback) == 0;
}

/* Stands before that of the C library, so that there is a name with several addresses on every machine. */
int getaddrinfo(const char *host, const char *port, const struct addrinfo *hints, struct addrinfo **found)
{
    static const char *const several[] = {"127.0.0.1", "127.0.0.2", "127.0.0.1", "::1"};
    typedef int Real(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    Real *real = (Real *)dlsym(RTLD_NEXT, "getaddrinfo");
    if (!host || strcmp(host, "several.test") != 0)
        return real(host, port, hints, found);
    for (size_t i = 0; i < G_N_ELEMENTS(several); i++) {
        g_assert_cmpint(real(several[i], port, hints, found), ==, 0);
        found = &(*found)->ai_next;
    }
    return 0;
}

/* A name listens on all its addresses, each once; one that the machine does not have is left out. */
static void test_name(void)
{
    g_autoptr(Listen) sockets = listen_new(getegid());
    g_autoptr(GError) error = NULL;
    int port = free_port();
    g_autofree char *name = g_strdup_printf("several.test:%d", port);
    g_autofree char *second = g_strdup_printf("127.0.0.2:%d", port);
    g_assert_true(listen_add(sockets, name, 0660, &error));
    g_assert_no_error(error);
    g_assert_cmpint(count_fds(sockets, name, NULL), ==, has_ipv6() ? 3 : 2);
    g_assert_true(takes_connections("127.0.0.1", port));
    g_assert_true(takes_connections("127.0.0.2", port));
    g_assert_cmpint(takes_connections("::1", port), ==, has_ipv6());

    /* One of them by another name is the same socket, and stays when the first name goes. */
    g_assert_true(listen_add(sockets, second, 0660, &error));
    g_autoptr(GArray) fds = g_array_new(FALSE, FALSE, sizeof(int));
    g_assert_true(listen_fds(sockets, name, fds));
    guint all = fds->len;
    g_assert_true(listen_fds(sockets, second, fds));
    g_assert_cmpuint(fds->len, ==, all);
    g_autoptr(GHashTable) wanted = g_hash_table_new(g_str_hash, g_str_equal);
    g_hash_table_add(wanted, second);
    listen_keep(sockets, wanted);
    g_assert_cmpint(count_fds(sockets, name, NULL), ==, -1);
    g_assert_false(takes_connections("127.0.0.1", port));
    g_assert_true(takes_connections("127.0.0.2", port));
}

/* All of a name or none of it. */
static void test_name_in_part(void)
{
    g_autoptr(Listen) others = listen_new(getegid()), sockets = listen_new(getegid());
    g_autoptr(GError) error = NULL;
    int port = free_port();
    g_autofree char *taken = g_strdup_printf("127.0.0.2:%d", port);
    g_autofree char *name = g_strdup_printf("several.test:%d", port);
    g_assert_true(listen_add(others, taken, 0660, &error));
    g_assert_false(listen_add(sockets, name, 0660, &error));
    g_assert_error(error, FAIL, FAIL_CONFIG);
    g_assert_nonnull(strstr(error->message, "127.0.0.2"));
    g_assert_nonnull(strstr(error->message, name));
    g_assert_false(takes_connections("127.0.0.1", port));
}

static void test_everywhere(void)
{
    g_autoptr(Listen) sockets = listen_new(getegid());
    g_autoptr(GError) error = NULL;
    int port = free_port();
    g_autofree char *everywhere = g_strdup_printf("*:%d", port);
    g_autofree char *six = g_strdup_printf("[::]:%d", port);
    g_assert_true(listen_add(sockets, everywhere, 0660, &error));
    g_assert_no_error(error);
    g_assert_true(takes_connections("127.0.0.1", port));
    if (!has_ipv6()) {
        g_test_skip("this machine has no IPv6");
        return;
    }
    g_assert_true(takes_connections("::1", port));
    g_assert_cmpint(count_fds(sockets, everywhere, NULL), ==, 2);
    g_assert_true(listen_add(sockets, six, 0660, &error)); /* who wrote both before may go on to */
    g_assert_no_error(error);
}

static void test_tcp(void)
{
    g_autoptr(Listen) sockets = listen_new(getegid());
    g_autoptr(GError) error = NULL;
    g_assert_cmpint(count_fds(sockets, "127.0.0.1:0", NULL), ==, -1);
    g_assert_true(listen_add(sockets, "127.0.0.1:0", 0660, &error));
    int fd = only_fd(sockets, "127.0.0.1:0");
    g_assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
    g_assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    g_assert_true(listen_add(sockets, "127.0.0.1:0", 0660, &error)); /* again: the same socket */
    g_assert_cmpint(only_fd(sockets, "127.0.0.1:0"), ==, fd);
    g_autofree char *taken = g_strdup_printf("127.0.0.1:%d", port_of(fd));
    g_assert_false(listen_add(sockets, taken, 0660, &error));
    g_assert_error(error, FAIL, FAIL_CONFIG);
    g_assert_nonnull(strstr(error->message, taken));
}

static void test_nonsense(void)
{
    static const char *const bad[] = {"", ":", "localhost", "localhost:", ":25", "::1:25", "[::1:25", "unix:relative",
                                      "unix:", "127.0.0.1:no-such-port"};
    g_autoptr(Listen) sockets = listen_new(getegid());
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) error = NULL;
        g_assert_false(listen_add(sockets, bad[i], 0660, &error));
        g_assert_error(error, FAIL, FAIL_CONFIG);
    }
}

static void test_unix(void)
{
    g_autofree char *path = g_build_filename(directory, "sock", NULL);
    g_autofree char *address = g_strconcat("unix:", path, NULL);
    g_autoptr(GError) error = NULL;
    mode_t before = umask(0077);
    auto_fd open_to_all = listen_unix(path, 0666, &error);
    struct stat wide;
    g_assert_cmpint(stat(path, &wide), ==, 0);
    g_assert_cmpint(wide.st_mode & 0777, ==, 0666); /* whatever the umask */
    g_assert_cmpint(umask(before), ==, 0077);
    auto_fd_close(&open_to_all);
    open_to_all = -1;
    auto_fd stale = listen_unix(path, 0600, &error);
    g_assert_no_error(error);
    struct stat status;
    g_assert_cmpint(stat(path, &status), ==, 0);
    g_assert_cmpint(status.st_mode & 0777, ==, 0600);
    Listen *sockets = listen_new(getegid());
    g_assert_false(listen_add(sockets, address, 0660, &error)); /* somebody listens */
    g_assert_error(error, FAIL, FAIL_CONFIG);
    g_clear_error(&error);
    auto_fd_close(&stale);
    stale = -1;
    g_assert_true(listen_add(sockets, address, 0660, &error)); /* its file is left behind, and replaced */
    g_assert_no_error(error);
    g_autoptr(GHashTable) wanted = g_hash_table_new(g_str_hash, g_str_equal);
    g_hash_table_add(wanted, address);
    listen_keep(sockets, wanted);
    g_assert_cmpint(only_fd(sockets, address), >=, 0);
    g_assert_cmpint(stat(path, &status), ==, 0);
    g_assert_cmpint(status.st_mode & 0777, ==, 0660);
    g_assert_cmpint(status.st_gid, ==, getegid());
    listen_free(sockets);
    g_assert_cmpint(access(path, F_OK), !=, 0);
}

/* Root's socket has the group that was asked for, and one whose file was removed has it again; the process keeps its
 * own. */
static void test_group(void)
{
    if (geteuid() != 0) {
        g_test_skip("root alone gives files to other groups");
        return;
    }
    g_autofree char *path = g_build_filename(directory, "grouped", NULL), *address = g_strconcat("unix:", path, NULL);
    g_autoptr(GError) error = NULL;
    g_autoptr(Listen) sockets = listen_new(12345);
    gid_t before = getegid();
    g_assert_true(listen_add(sockets, address, 0666, &error));
    for (int times = 0; times < 2; times++) {
        bool renewed;
        struct stat status;
        g_assert_cmpint(stat(path, &status), ==, 0);
        g_assert_cmpint(status.st_gid, ==, 12345);
        g_assert_cmpint(status.st_mode & 0777, ==, times == 0 ? 0666 : 0600);
        g_assert_cmpint(getegid(), ==, before);
        g_unlink(path);
        g_assert_true(listen_renew(sockets, address, 0600, &renewed, &error) && renewed);
    }
}

/* A file that is no socket is not ours to remove. */
static void test_precious_file(void)
{
    g_autofree char *path = g_build_filename(directory, "precious", NULL);
    g_assert_true(g_file_set_contents(path, "x", 1, NULL));
    g_autoptr(GError) error = NULL;
    g_assert_cmpint(listen_unix(path, 0600, &error), ==, -1);
    g_assert_error(error, FAIL, FAIL_CONFIG);
    g_assert_cmpint(g_unlink(path), ==, 0);
}

SUITE("listen")
{
    g_test_init(&argc, &argv, NULL);
    directory = g_dir_make_tmp("listen-XXXXXX", NULL);
    g_test_add_func("/listen/tcp", test_tcp);
    g_test_add_func("/listen/name", test_name);
    g_test_add_func("/listen/name-in-part", test_name_in_part);
    g_test_add_func("/listen/everywhere", test_everywhere);
    g_test_add_func("/listen/nonsense", test_nonsense);
    g_test_add_func("/listen/unix", test_unix);
    g_test_add_func("/listen/group", test_group);
    g_test_add_func("/listen/precious-file", test_precious_file);
    int result = g_test_run();
    g_rmdir(directory);
    g_free(directory);
    return result;
}
