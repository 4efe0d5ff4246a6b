/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Test the door's database while it cannot be used: it is tried once a second, and the log is told once why. */
#include "runners/server/lists.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <glib/gstdio.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "store/lists/domain.h"
#include "store/lists/list.h"
#include "t/config_text.h"
#include "t/lists/places.h"

#define LIST "test@example.com"

static int64_t now = 1000 * CLOCK_SECOND;

int64_t __wrap_clock_monotonic(void);
int64_t __wrap_clock_monotonic(void)
{
    return now;
}

typedef struct Table {
    char *directory, *spool, *database, *log;
    Config *config;
    Lists *lists;
    int output, errors; /* where this process wrote before */
} Table;

static void set_up(Table *table, const void *data)
{
    GError *error = NULL;
    (void)data;
    table->directory = g_dir_make_tmp("lists-XXXXXX", NULL);
    table->spool = g_build_filename(table->directory, "spool", NULL);
    table->database = g_build_filename(table->directory, "db", NULL);
    table->log = g_build_filename(table->directory, "log", NULL);
    g_autoptr(Store) store = store_open("sqlite", table->database, true, &error);
    g_assert_no_error(error);
    g_assert_true(domain_create(store, "example.com", NULL, NULL));
    list_free(list_create(store, LIST, NULL));
    g_autofree char *text = g_strdup_printf(
        "[site]\nhostname = lists.example.com\nsite_owner = root@example.com\n[spool]\ndirectory = %s\n"
        "[store]\npath = %s\n",
        table->spool, table->database);
    table->config = config_from_text(text);
    table->lists = lists_new(table->config);
    table->output = dup(STDOUT_FILENO);
    table->errors = dup(STDERR_FILENO);
    g_assert_true(log_to_file(table->log, NULL));
}

static void tear_down(Table *table, const void *data)
{
    (void)data;
    lists_free(table->lists);
    config_free(table->config);
    g_autofree char *remove = g_strdup_printf("rm -r %s", table->directory);
    g_assert_true(g_spawn_command_line_sync(remove, NULL, NULL, NULL, NULL));
    g_free(table->directory);
    g_free(table->spool);
    g_free(table->database);
    g_free(table->log);
}

/* The lines of the log, which goes back where it went. */
static unsigned end_log(Table *table, const char *part)
{
    g_autofree char *text = NULL;
    unsigned lines = 0;
    dup2(table->output, STDOUT_FILENO);
    dup2(table->errors, STDERR_FILENO);
    close(table->output);
    close(table->errors);
    g_assert_true(g_file_get_contents(table->log, &text, NULL, NULL));
    g_auto(GStrv) split = g_strsplit(text, "\n", -1);
    for (char **line = split; *line; line++) {
        g_assert_true(**line == '\0' || strstr(*line, part));
        lines += **line != '\0';
    }
    return lines;
}

static bool finds(Table *table)
{
    g_autoptr(GError) error = NULL;
    lists_keep(table->lists);
    g_autoptr(ListAddress) found = lists_find(table->lists, LIST, &error);
    g_assert_true(found || g_error_matches(error, FAIL, FAIL_LATER));
    return found != NULL;
}

/* Each request of a busy site would ask the disk, and the log would say nothing of all the mail that is put off. */
static void test_no_spool(Table *table, const void *data)
{
    (void)data;
    bool early = finds(table);
    now += 2 * CLOCK_SECOND;
    early |= finds(table);
    g_assert_cmpint(g_mkdir(table->spool, 0700), ==, 0);
    early |= finds(table);
    now += 2 * CLOCK_SECOND;
    bool found = finds(table);
    unsigned lines = end_log(table, "all mail is put off: spool: ");
    g_assert_false(early);
    g_assert_true(found);
    g_assert_cmpuint(lines, ==, 1);
}

static void test_no_database(Table *table, const void *data)
{
    (void)data;
    g_autofree char *other = g_strconcat(table->database, "-away", NULL);
    g_assert_cmpint(g_mkdir(table->spool, 0700), ==, 0);
    g_assert_cmpint(g_rename(table->database, other), ==, 0);
    bool early = finds(table);
    now += 2 * CLOCK_SECOND;
    early |= finds(table);
    g_assert_cmpint(g_rename(other, table->database), ==, 0);
    early |= finds(table);
    now += 2 * CLOCK_SECOND;
    bool found = finds(table);
    unsigned lines = end_log(table, "all mail is put off: ");
    g_assert_false(early);
    g_assert_true(found);
    g_assert_cmpuint(lines, ==, 1);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add("/lists/no-spool", Table, NULL, set_up, test_no_spool, tear_down);
    g_test_add("/lists/no-database", Table, NULL, set_up, test_no_database, tear_down);
    return g_test_run();
}
