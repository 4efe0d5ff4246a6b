/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The disk fails once, at any of the calls by which out keeps its books, while it delivers to a real server: nobody is
 * lost, and no more copies are repeated than were in flight. */
#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "switchboard/entry.h"
#include "t/runners/outgoing/site.h"

#define SESSIONS 2
#define TOGETHER 5
#define RECIPIENTS 40
#define PATIENCE (60 * CLOCK_SECOND)  /* until the call is come to that fails */
#define AFTERWARDS (4 * CLOCK_SECOND) /* for what goes on by itself; what waits for longer is hurried */

static const char *const queues[] = {"notice", "out", "retry"};

static bool refused(size_t number)
{
    return number == 15 || number == 19 || number == 29;
}

static size_t left(const Site *site)
{
    size_t sum = 0;
    for (size_t i = 0; i < G_N_ELEMENTS(queues); i++)
        sum += site_count(site, queues[i], "");
    return sum;
}

/* Make due now what was put off for a minute because of the fault. */
static void hurry(const Site *site)
{
    for (size_t i = 0; i < G_N_ELEMENTS(queues); i++) {
        g_autofree char *place = g_build_filename(spool_path(site->spool), queues[i], NULL);
        g_autoptr(GDir) directory = g_dir_open(place, 0, NULL);
        for (const char *name; directory && (name = g_dir_read_name(directory)) != NULL;) {
            const char *hash = strchr(name, '+');
            if (!hash || !g_str_has_suffix(name, ".msg"))
                continue;
            g_autofree char *from = g_build_filename(place, name, NULL);
            g_autofree char *to = g_strdup_printf("%s/1000000000.000000%s", place, hash);
            g_rename(from, to);
        }
    }
}

/* Until nothing is left, or it ended by itself, or waits too long after the fault, which the mark tells of. */
static void watch(Site *site, const char *mark)
{
    int64_t until = clock_monotonic() + PATIENCE;
    bool failed = false;
    while (left(site) > 0 && clock_monotonic() < until && waitpid(site->out, NULL, WNOHANG) == 0) {
        if (!failed && g_file_test(mark, G_FILE_TEST_EXISTS)) {
            failed = true;
            until = clock_monotonic() + AFTERWARDS;
        }
        g_usleep(20000);
    }
    if (kill(site->out, 0) == 0 && waitpid(site->out, NULL, WNOHANG) == 0)
        site_stop_out(site);
    site->out = 0;
}

static char *bounced(const Site *site)
{
    GString *all = g_string_new(NULL);
    g_autofree char *place = g_build_filename(spool_path(site->spool), "bounces", NULL);
    g_autoptr(GDir) directory = g_dir_open(place, 0, NULL);
    for (const char *name; directory && (name = g_dir_read_name(directory)) != NULL;) {
        g_autofree char *path = g_build_filename(place, name, NULL);
        g_autofree char *text = NULL;
        gsize length;
        bool stored = g_str_has_suffix(name, ".msg") || g_str_has_suffix(name, ".tmp"); /* whole, its name is to come */
        if (stored && g_file_get_contents(path, &text, &length, NULL))
            g_string_append_len(all, text, (gssize)strnlen(text, length));
    }
    return g_string_free(all, FALSE);
}

static void judge(const Site *site, int at)
{
    size_t total = 0, wanted = 0;
    g_autofree unsigned *got = site_received(site, RECIPIENTS, "accepted", &total);
    g_autofree char *failures = bounced(site);
    for (size_t number = 0; number < RECIPIENTS; number++) {
        g_autofree char *address = g_strdup_printf("r%06zu@example.com", number);
        wanted += !refused(number);
        if (refused(number) ? got[number] > 0 || !strstr(failures, address) : got[number] == 0)
            g_error("fault at call %d: %s was lost", at, address);
    }
    g_assert_cmpuint(total - wanted, <=, SESSIONS * TOGETHER);
    g_assert_cmpuint(site_count(site, "shunt", ""), ==, 0);
    g_assert_cmpuint(site_count(site, "corrupt", ""), ==, 0);
    for (size_t i = 0; i < G_N_ELEMENTS(queues); i++)
        g_assert_cmpuint(site_count(site, queues[i], ""), ==, 0);
}

static Site *loaded(void)
{
    Site *site = site_new("concurrency = 2\nrecipients_per_transaction = 5\n"
                          "[out]\nminimal_backoff_time = 1s\nmaximal_backoff_time = 1s\nlog_recipients = no\n");
    site_post(site, &(SitePost){.first = 0, .count = 20});
    site_post(site, &(SitePost){.queue = "retry", .first = 20, .count = 12});
    site_post(site, &(SitePost){.queue = "notice", .first = 32, .count = 8});
    site_start_sink(site, (const char *[]){"--fault=rcpt match=^r00000[37]@ times=2 do 450 4.2.0 later",
                                           "--fault=rcpt match=^r0000(15|19|29)@ do 550 5.1.1 gone", NULL});
    return site;
}

/* False when the fault was never come to. */
static bool survives(int at, int number)
{
    g_autoptr(Site) site = loaded();
    g_autofree char *mark = g_build_filename(site->directory, "failed", NULL);
    g_autofree char *which = g_strdup_printf("%d", at);
    g_autofree char *error = g_strdup_printf("%d", number);
    g_setenv("FAULT_AT", which, TRUE);
    g_setenv("FAULT_ERRNO", error, TRUE);
    g_setenv("FAULT_FILE", mark, TRUE);
    site_start_program(site, "t/runners/outgoing/faulty");
    watch(site, mark);
    g_unsetenv("FAULT_AT");
    if (left(site) > 0) {
        hurry(site);
        site_start_out(site);
        site_wait(site, "notice", "", 0);
        site_wait(site, "retry", "", 0);
        site_wait_empty(site);
        site_wait(site, "retry", "", 0);
    }
    judge(site, at);
    return g_file_test(mark, G_FILE_TEST_EXISTS);
}

static void once(void)
{
    int runs = 0, at = 1;
    for (; survives(at, runs % 2 ? EIO : ENOSPC); runs++)
        at += g_test_thorough() ? 1 : 1 + at / 6;
    g_test_message("%d runs; there are fewer than %d calls", runs, at);
    g_assert_cmpint(runs, >, 10);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/out/disk fails once", once);
    return g_test_run();
}
