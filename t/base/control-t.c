/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/control.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fail.h"
#include "t/suite.h"

#define NAME "out-0.sock"

typedef struct Listener {
    char *directory, *path;
    int fd;
} Listener;

static void set_up(Listener *listener, gconstpointer data)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    listener->directory = g_dir_make_tmp("control-XXXXXX", NULL);
    listener->path = g_build_filename(listener->directory, NAME, NULL);
    g_strlcpy(address.sun_path, listener->path, sizeof address.sun_path);
    listener->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    g_assert_cmpint(bind(listener->fd, (struct sockaddr *)&address, sizeof address), ==, 0);
    g_assert_cmpint(listen(listener->fd, 0), ==, 0);
}

static void tear_down(Listener *listener, gconstpointer data)
{
    close(listener->fd);
    g_unlink(listener->path);
    g_rmdir(listener->directory);
    g_free(listener->path);
    g_free(listener->directory);
}

static void assert_refused(const Listener *listener, int code)
{
    g_autoptr(GError) error = NULL;
    g_assert_cmpint(control_connect(listener->directory, NAME, 1, &error), ==, -1);
    g_assert_error(error, FAIL, code);
    g_assert_nonnull(strstr(error->message, listener->path));
}

/* A process that hangs takes no connections; those that its queue has no place for wait no longer than they want. */
static void test_full(Listener *listener, gconstpointer data)
{
    GError *error = NULL;
    auto_fd first = control_connect(listener->directory, NAME, 1, &error);
    g_assert_no_error(error);
    g_assert_cmpint(first, >=, 0);
    json_auto_t *reply = control_exchange(first, json_pack("{s:s}", "verb", "status"), &error);
    g_assert_null(reply);
    g_assert_error(error, FAIL, FAIL_LATER);
    g_error_free(error);
    assert_refused(listener, FAIL_LATER);
}

static void test_nobody(Listener *listener, gconstpointer data)
{
    close(listener->fd);
    listener->fd = -1;
    assert_refused(listener, FAIL_MISSING);
}

SUITE("control")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/control/full", Listener, NULL, set_up, test_full, tear_down);
    g_test_add("/control/nobody", Listener, NULL, set_up, test_nobody, tear_down);
    return g_test_run();
}
