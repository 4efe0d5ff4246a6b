/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/child.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/contract.h"
#include "base/fail.h"
#include "base/fs.h"
#include "base/log.h"
#include "t/suite.h"

/* A file that may not grow is a fault like a full disk, not the end: the entry would be blamed for the deaths. */
static void test_file_size(void)
{
    g_autoptr(GError) error = NULL;
    g_assert_nonnull(child_init("test", &error));
    g_assert_no_error(error);
    g_autofree char *path = NULL;
    auto_fd fd = g_file_open_tmp("child-XXXXXX", &path, &error);
    g_assert_no_error(error);
    struct rlimit before;
    g_assert_cmpint(getrlimit(RLIMIT_FSIZE, &before), ==, 0);
    g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &(struct rlimit){4, before.rlim_max}), ==, 0);
    bool written = fs_write(fd, "12345678", 8, &error);
    g_assert_cmpint(setrlimit(RLIMIT_FSIZE, &before), ==, 0);
    g_assert_false(written);
    g_assert_error(error, FAIL, FAIL_LATER);
    g_assert_cmpint(g_unlink(path), ==, 0);
}

/* Return the line that a child says on its status pipe when it cannot go on; it is no longer than the master reads. */
static char *heard_from_child(void (*speak)(void))
{
    int ends[2];
    g_assert_cmpint(pipe(ends), ==, 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], CHILD_STATUS_FD);
        g_setenv(CHILD_ENV_RUNNER, "test", TRUE);
        g_assert_nonnull(child_init("test", NULL));
        speak();
        _exit(0);
    }
    close(ends[1]);
    char text[4 * CHILD_LINE_MAX] = "";
    size_t length = 0;
    for (ssize_t got; (got = read(ends[0], text + length, sizeof text - length - 1)) > 0;)
        length += (size_t)got;
    close(ends[0]);
    g_assert_cmpint(waitpid(pid, NULL, 0), ==, pid);
    return g_strdup(text);
}

static void speak_config(void)
{
    g_autoptr(GError) error = g_error_new(FAIL, FAIL_CONFIG, "one fault\nanother\n");
    g_assert_cmpint(child_cannot_start(error), ==, CHILD_EXIT_CONFIG);
}

static void speak_long(void)
{
    g_autofree char *text = g_strnfill(3000, 'x');
    memcpy(text + CHILD_LINE_MAX - 10, "\303\274\303\274\303\274", 6);
    g_autoptr(GError) error = g_error_new(FAIL, FAIL_MISSING, "a%s", text);
    g_assert_cmpint(child_cannot_start(error), ==, CHILD_EXIT_LATER);
}

static void speak_fatal(void)
{
    log_fatal(CHILD_EXIT_LATER, "commit: %s", "no space");
}

static void test_fault(void)
{
    g_autofree char *config = heard_from_child(speak_config);
    g_assert_cmpstr(config, ==, "fault one fault another \n");
    g_autofree char *fatal = heard_from_child(speak_fatal);
    g_assert_cmpstr(fatal, ==, "fault commit: no space\n");
    g_autofree char *cut = heard_from_child(speak_long);
    g_assert_true(g_str_has_prefix(cut, "fault ax"));
    g_assert_true(g_str_has_suffix(cut, "\n"));
    g_assert_cmpuint(strlen(cut), <=, CHILD_LINE_MAX);
    g_assert_cmpuint(strlen(cut), >, CHILD_LINE_MAX - 4);
    g_assert_true(g_utf8_validate(cut, -1, NULL));
}

static void speak_notice(void)
{
    child_notice(CHILD_NOTICE_WORK, "much\nwaits");
    child_beat(1, 2, 3, 0, NULL);
    child_notice(CHILD_NOTICE_WORK, NULL);
    child_beat(2, 2, 3, 0, NULL);
}

/* It is repeated with each beat, because a line may be lost when the pipe is full; that it is over is said once. */
static void test_notice(void)
{
    g_autofree char *said = heard_from_child(speak_notice);
    g_assert_cmpstr(said, ==,
                    "notice much waits\n"
                    "beat progress=1 done=2 backlog=3 oldest=0.000000 holding=-\nnotice much waits\n"
                    "notice\n"
                    "beat progress=2 done=2 backlog=3 oldest=0.000000 holding=-\n");
}

SUITE("child")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/child/file-size", test_file_size);
    g_test_add_func("/child/fault", test_fault);
    g_test_add_func("/child/notice", test_notice);
    return g_test_run();
}
