/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/log.h"
#include "t/suite.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef void Speaker(void);

/* Runs speak in a child and returns what it wrote to standard error. */
static char *heard(Speaker *speak, int *status)
{
    int ends[2];
    g_assert_cmpint(pipe(ends), ==, 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        close(ends[1]);
        speak();
        _exit(0);
    }
    close(ends[1]);
    g_autoptr(GString) text = g_string_new(NULL);
    char buffer[4096];
    for (ssize_t got; (got = read(ends[0], buffer, sizeof buffer)) > 0;)
        g_string_append_len(text, buffer, got);
    close(ends[0]);
    g_assert_cmpint(waitpid(child, status, 0), ==, child);
    return g_string_free(g_steal_pointer(&text), FALSE);
}

static void speak_grades(void)
{
    log_info("before");
    log_open("in[3]", LOG_TARGET_STDERR);
    log_debug("unseen");
    log_info("list=%s", "x");
    log_warn("w");
    log_error("e");
    log_set_verbose(true);
    log_debug("seen");
    log_set_verbose(false);
    log_debug("unseen");
}

static void test_grades(void)
{
    int status;
    g_autofree char *text = heard(speak_grades, &status);
    static const char *const expected[] = {"listrunner: before", "in[3]: list=x",     "in[3]: warning: w",
                                           "in[3]: error: e",    "in[3]: debug: seen"};
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    g_assert_cmpuint(g_strv_length(lines), ==, G_N_ELEMENTS(expected) + 1);
    for (size_t i = 0; i < G_N_ELEMENTS(expected); i++) {
        g_assert_true(g_regex_match_simple("^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z ", lines[i], 0, 0));
        g_assert_cmpstr(strchr(lines[i], ' ') + 1, ==, expected[i]);
    }
}

static void speak_control(void)
{
    log_open("x", LOG_TARGET_STDERR);
    log_info("from=%s", "a\nfatal: forged\r\x1b[31m\t\x7f \xc2\x9b" "31m \xc3\xa9");
}

/* Check that text from a peer can neither begin a line of its own nor colour the terminal. */
static void test_control(void)
{
    int status;
    g_autofree char *text = heard(speak_control, &status);
    g_assert_nonnull(strstr(text, " x: from=a?fatal: forged??[31m?? ??31m \xc3\xa9\n"));
    g_assert_true(strchr(text, '\n') == text + strlen(text) - 1);
}

static void speak_long(void)
{
    log_open("x", LOG_TARGET_STDERR);
    g_autofree char *text = g_strnfill(200000, 'y');
    log_info("%s", text);
}

static void test_long(void)
{
    int status;
    g_autofree char *text = heard(speak_long, &status);
    g_assert_cmpuint(strlen(text), ==, strlen("2026-11-20T13:30:25.000Z x: \n") + 200000);
}

static void speak_glib(void)
{
    log_open("x", LOG_TARGET_STDERR);
    log_open("y", LOG_TARGET_STDERR); /* a second time is allowed */
    g_message("unseen");
    g_warning("odd\nthing");
}

#define SPEAK_GLIB "speak-glib"

/* In a program of its own, because GTest makes warnings fatal and may write what GLib says itself. */
static void start_speak_glib(void)
{
    execl("/proc/self/exe", "log-t", SPEAK_GLIB, NULL);
}

static void test_glib(void)
{
    int status;
    g_autofree char *text = heard(start_speak_glib, &status);
    g_assert_cmpint(status, ==, 0);
    g_assert_nonnull(strstr(text, " y: warning: odd?thing\n"));
    g_assert_null(strstr(text, "unseen"));
}

static void speak_fatal(void)
{
    log_open("x", LOG_TARGET_STDERR);
    log_fatal(78, "no %s", "way");
}

static void speak_panic(void)
{
    log_open("x", LOG_TARGET_STDERR);
    log_panic("bug");
}

static void test_ends(void)
{
    int status;
    g_autofree char *fatal = heard(speak_fatal, &status);
    g_assert_true(WIFEXITED(status));
    g_assert_cmpint(WEXITSTATUS(status), ==, 78);
    g_assert_nonnull(strstr(fatal, " x: fatal: no way\n"));
    g_autofree char *panic = heard(speak_panic, &status);
    g_assert_true(WIFSIGNALED(status));
    g_assert_cmpint(WTERMSIG(status), ==, SIGABRT);
    g_assert_nonnull(strstr(panic, " x: panic: bug\n"));
}

static char *log_place; /* a directory */

static void speak_to_files(void)
{
    g_autofree char *path = g_build_filename(log_place, "l.log", NULL);
    g_autofree char *rotated = g_build_filename(log_place, "l.log.1", NULL);
    g_autofree char *nowhere = g_build_filename(log_place, "none", "l.log", NULL);
    g_autoptr(GError) error = NULL;
    log_open("p", LOG_TARGET_STDERR);
    log_reopen(); /* there is none yet */
    g_assert_false(log_to_file(nowhere, &error));
    log_info("to the pipe");
    g_assert_true(log_to_file(path, NULL));
    log_info("first");
    g_rename(path, rotated);
    log_info("second");
    log_reopen();
    log_info("third");
    g_remove(path);
    g_mkdir(path, 0700); /* it cannot be opened: the log goes on where it was */
    log_reopen();
    g_rmdir(path);
}

static void test_file(void)
{
    int status;
    log_place = g_dir_make_tmp("log-XXXXXX", NULL);
    g_autofree char *text = heard(speak_to_files, &status);
    g_assert_cmpint(status, ==, 0);
    g_assert_nonnull(strstr(text, "to the pipe"));
    g_assert_null(strstr(text, "first"));
    g_autofree char *path = g_build_filename(log_place, "l.log.1", NULL);
    g_autofree char *rotated = NULL;
    g_assert_true(g_file_get_contents(path, &rotated, NULL, NULL));
    g_assert_nonnull(strstr(rotated, "first"));
    g_assert_nonnull(strstr(rotated, "second"));
    g_assert_null(strstr(rotated, "third"));
    g_remove(path);
    g_rmdir(log_place);
    g_free(log_place);
}

SUITE("log")
{
    if (argc == 2 && g_str_equal(argv[1], SPEAK_GLIB)) {
        speak_glib();
        return 0;
    }
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/log/grades", test_grades);
    g_test_add_func("/log/control", test_control);
    g_test_add_func("/log/long", test_long);
    g_test_add_func("/log/glib", test_glib);
    g_test_add_func("/log/ends", test_ends);
    g_test_add_func("/log/file", test_file);
    return g_test_run();
}
