/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* kill -9 in the middle of large entries: nobody is forgotten, and no more are
 * served twice than were in flight. */
#include <stdio.h>

#include "base/clock.h"
#include "t/runners/outgoing/site.h"

enum { RECIPIENTS = 10000, SESSIONS = 4, PER_TRANSACTION = 50, KILLS = 8 };

static size_t received(const Site *site)
{
    size_t total;
    g_free(site_received(site, RECIPIENTS, NULL, &total));
    return total;
}

/* Lets the runner get on by some recipients, however slow the machine is. */
static void wait_for_more(const Site *site, size_t before, size_t more)
{
    int64_t until = clock_monotonic() + 60 * CLOCK_SECOND;
    while (received(site) < before + more && site_count(site, "out", "") > 0) {
        g_assert_cmpint(clock_monotonic(), <, until);
        g_usleep(2000);
    }
}

static void check(const Site *site, unsigned kills)
{
    size_t total;
    g_autofree unsigned *times = site_received(site, RECIPIENTS, NULL, &total);
    for (size_t i = 0; i < RECIPIENTS; i++)
        if (times[i] < 1 || times[i] > 1 + kills)
            g_error("recipient %zu was received %u times", i, times[i]);
    size_t repeated = total - RECIPIENTS;
    g_test_message("%u kills, %zu recipients received again, at most %u allowed", kills, repeated,
                   kills * SESSIONS * PER_TRANSACTION);
    g_assert_cmpuint(repeated, <=, kills * SESSIONS * PER_TRANSACTION);
    g_assert_cmpuint(site_count(site, "out", ""), ==, 0);
    g_assert_cmpuint(site_count(site, "retry", ""), ==, 0);
    g_assert_cmpuint(site_count(site, "bounces", ""), ==, 0);
}

static void storm(size_t entries)
{
    g_autofree char *settings = g_strdup_printf("concurrency = %d\nrecipients_per_transaction = %d\n", SESSIONS,
                                                PER_TRANSACTION);
    g_autoptr(Site) site = site_new(settings);
    /* Under valgrind this program is slow, and those that it looks at are not. */
    site_start_sink(site, (const char *[]){g_getenv("LISTRUNNER_VALGRIND") ? "--latency=100" : "--latency=3", NULL});
    size_t each = RECIPIENTS / entries;
    for (size_t i = 0; i < entries; i++)
        site_post(site, &(SitePost){.first = i * each, .count = each});
    unsigned kills = 0;
    while (kills < KILLS) {
        site_start_out(site);
        wait_for_more(site, received(site), (size_t)g_random_int_range(1, RECIPIENTS / KILLS));
        if (site_count(site, "out", "") == 0)
            break;
        g_usleep((gulong)g_random_int_range(0, 5000));
        site_kill_out(site);
        kills++;
    }
    g_assert_cmpuint(kills, >, 2);
    if (!site->out)
        site_start_out(site);
    site_wait_empty(site);
    g_assert_cmpint(site_stop_out(site), ==, 0);
    check(site, kills);
}

static void one_entry(void)
{
    storm(1);
}

static void many_entries(void)
{
    storm(200);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/out/killed in one entry", one_entry);
    g_test_add_func("/out/killed in many entries", many_entries);
    return g_test_run();
}
