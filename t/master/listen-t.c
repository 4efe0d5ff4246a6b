/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "master/listen.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fail.h"

static char *directory;

static int port_of(int fd)
{
    struct sockaddr_in address;
    socklen_t length = sizeof address;
    g_assert_cmpint(getsockname(fd, (struct sockaddr *)&address, &length), ==, 0);
    return ntohs(address.sin_port);
}

static void test_tcp(void)
{
    g_autoptr(Listen) sockets = listen_new();
    g_autoptr(GError) error = NULL;
    g_assert_cmpint(listen_fd(sockets, "127.0.0.1:0"), ==, -1);
    g_assert_true(listen_add(sockets, "127.0.0.1:0", &error));
    int fd = listen_fd(sockets, "127.0.0.1:0");
    g_assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
    g_assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
    g_assert_true(listen_add(sockets, "127.0.0.1:0", &error)); /* again: the same socket */
    g_assert_cmpint(listen_fd(sockets, "127.0.0.1:0"), ==, fd);
    g_autofree char *taken = g_strdup_printf("127.0.0.1:%d", port_of(fd));
    g_assert_false(listen_add(sockets, taken, &error));
    g_assert_error(error, FAIL, FAIL_CONFIG);
    g_assert_nonnull(strstr(error->message, taken));
}

static void test_nonsense(void)
{
    static const char *const bad[] = {"", ":", "localhost", "localhost:", ":25", "::1:25", "[::1:25", "unix:relative",
                                      "unix:", "127.0.0.1:no-such-port"};
    g_autoptr(Listen) sockets = listen_new();
    for (size_t i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(GError) error = NULL;
        g_assert_false(listen_add(sockets, bad[i], &error));
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
    Listen *sockets = listen_new();
    g_assert_false(listen_add(sockets, address, &error)); /* somebody listens */
    g_assert_error(error, FAIL, FAIL_CONFIG);
    g_clear_error(&error);
    auto_fd_close(&stale);
    stale = -1;
    g_assert_true(listen_add(sockets, address, &error)); /* its file is left behind, and replaced */
    g_assert_no_error(error);
    g_autoptr(GHashTable) wanted = g_hash_table_new(g_str_hash, g_str_equal);
    g_hash_table_add(wanted, address);
    listen_keep(sockets, wanted);
    g_assert_cmpint(listen_fd(sockets, address), >=, 0);
    listen_free(sockets);
    g_assert_cmpint(access(path, F_OK), !=, 0);
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

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    directory = g_dir_make_tmp("listen-XXXXXX", NULL);
    g_test_add_func("/listen/tcp", test_tcp);
    g_test_add_func("/listen/nonsense", test_nonsense);
    g_test_add_func("/listen/unix", test_unix);
    g_test_add_func("/listen/precious-file", test_precious_file);
    int result = g_test_run();
    g_rmdir(directory);
    g_free(directory);
    return result;
}
