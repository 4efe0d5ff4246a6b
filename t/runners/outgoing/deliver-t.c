/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The runner out against the sink: what arrives, and what becomes of the rest. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "lists/keys.h"
#include "switchboard/entry.h"
#include "t/runners/outgoing/site.h"

static void expect_each(const Site *site, size_t count, const char *result, unsigned times)
{
    g_autofree unsigned *received = site_received(site, count, result, NULL);
    for (size_t i = 0; i < count; i++)
        if (received[i] != times)
            g_error("recipient %zu was received %u times, not %u", i, received[i], times);
}

/* The first entry of queue, opened. */
static Entry *first_entry(Site *site, const char *name)
{
    g_autoptr(GError) error = NULL;
    Queue *queue = spool_queue(site->spool, name, &error);
    g_assert_no_error(error);
    g_autofree char *path = g_build_filename(spool_path(site->spool), name, NULL);
    g_autoptr(GDir) directory = g_dir_open(path, 0, &error);
    g_assert_no_error(error);
    const char *file = g_dir_read_name(directory);
    g_assert_nonnull(file);
    Entry *entry = entry_open(queue, file, &error);
    g_assert_no_error(error);
    return entry;
}

static size_t count_recipients(const Entry *entry, char state)
{
    size_t count = 0;
    Recipient recipient;
    for (size_t offset = 0; entry_next_recipient(entry, offset, &recipient); offset = recipient.next)
        count += recipient.state == state;
    return count;
}

static void delivers(void)
{
    g_autoptr(Site) site = site_new("recipients_per_transaction = 100\n");
    g_autofree char *store = g_build_filename(site->directory, "store", NULL);
    g_autofree char *option = g_strconcat("--store=", store, NULL);
    site_start_sink(site, (const char *[]){option, NULL});
    site_post(site, &(SitePost){.count = 1});
    site_start_out(site);
    site_post(site, &(SitePost){.first = 1, .count = 5});
    site_post(site, &(SitePost){.first = 6, .count = 2500});
    site_wait_empty(site);
    expect_each(site, 2506, "accepted", 1);
    g_assert_cmpint(site_stop_out(site), ==, 0);
    g_autofree char *path = g_build_filename(store, "0000000001.mail", NULL);
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    g_assert_nonnull(strstr(text, "\n\r\n.dots\r\nand text\r\n"));
    g_assert_nonnull(strstr(text, "\"from\":\"test-bounces@example.com\""));
}

static void refuses(void)
{
    g_autoptr(Site) site = site_new("recipients_per_transaction = 10\n");
    site_start_sink(site, (const char *[]){"--fault=rcpt match=r0000.7 do 550 5.1.1 no such user",
                                           "--fault=rcpt match=r0000.3 do 450 4.2.1 busy", NULL});
    site_start_out(site);
    site_post(site, &(SitePost){.count = 20});
    site_wait_empty(site);
    g_assert_cmpuint(site_count(site, "bounces", ".msg"), ==, 2);
    g_assert_cmpuint(site_count(site, "retry", ".msg"), ==, 1);
    g_autoptr(Entry) retry = first_entry(site, "retry");
    g_assert_cmpuint(count_recipients(retry, RECIPIENT_TODO), ==, 2);
    g_assert_cmpint(entry_name(retry)->due, >, entry_arrival(retry) + 250 * G_USEC_PER_SEC);
    g_assert_cmpint(meta_integer(entry_meta(retry), KEY_ATTEMPTS, 0), ==, 1);
    g_assert_nonnull(strstr(meta_string(entry_meta(retry), KEY_LAST_REPLY, ""), "450 4.2.1 busy"));
    g_autoptr(Entry) bounce = first_entry(site, "bounces");
    g_assert_cmpstr(entry_list(bounce), ==, "test.example.com");
    json_t *failure = json_array_get(json_object_get(entry_meta(bounce), KEY_FAILURES), 0);
    g_assert_cmpstr(meta_string(failure, "status", ""), ==, "5.1.1");
    g_assert_cmpstr(meta_string(failure, "reply", ""), ==, "550 5.1.1 no such user");
    g_assert_true(g_str_has_suffix(meta_string(failure, "address", ""), "7@example.com"));
    g_autoptr(GBytes) header = entry_message(bounce);
    const char *octets = g_bytes_get_data(header, NULL);
    g_assert_true(strncmp(octets + g_bytes_get_size(header) - 9, "hello\r\n\r\n", 9) == 0);
    g_autofree unsigned *received = site_received(site, 20, "accepted", NULL);
    for (size_t i = 0; i < 20; i++)
        g_assert_cmpuint(received[i], ==, i % 10 == 7 || i % 10 == 3 ? 0 : 1);
}

static void retries(void)
{
    g_autoptr(Site) site = site_new("[out]\nminimal_backoff_time = 1s\nmaximal_backoff_time = 1s\n");
    site_start_sink(site, (const char *[]){"--fault=dot times=1 do 451 4.3.0 disk",
                                          "--fault=rcpt match=r000003 times=2 do 450 x",
                                           NULL});
    site_start_out(site);
    site_post(site, &(SitePost){.count = 5});
    site_wait_empty(site);
    site_wait(site, "retry", "", 0);
    expect_each(site, 5, "accepted", 1);
    g_assert_cmpuint(site_count(site, "bounces", ""), ==, 0);
}

/* Recipients in all entries of bounces. */
static size_t count_failures(Site *site)
{
    size_t count = 0;
    Queue *queue = spool_queue(site->spool, "bounces", NULL);
    g_autofree char *path = g_build_filename(spool_path(site->spool), "bounces", NULL);
    g_autoptr(GDir) directory = g_dir_open(path, 0, NULL);
    for (const char *file; (file = g_dir_read_name(directory)) != NULL;) {
        g_autoptr(Entry) entry = entry_open(queue, file, NULL);
        g_assert_nonnull(entry);
        count += json_array_size(json_object_get(entry_meta(entry), KEY_FAILURES));
    }
    return count;
}

static void expires(void)
{
    g_autoptr(Site) site = site_new("[out]\nmaximal_queue_lifetime = 1h\n");
    site_start_sink(site, (const char *[]){"--fault=rcpt match=r00.... do 450 4.2.1 busy", NULL});
    site_start_out(site);
    site_post(site, &(SitePost){.count = 2500, .age = 3601});
    site_post(site, &(SitePost){.queue = "retry", .first = 3000, .count = 1, .age = 3601});
    site_wait_empty(site);
    site_wait(site, "retry", "", 0);
    g_assert_cmpuint(count_failures(site), ==, 2501);
    g_autoptr(Entry) bounce = first_entry(site, "bounces");
    json_t *failure = json_array_get(json_object_get(entry_meta(bounce), KEY_FAILURES), 0);
    g_assert_cmpstr(meta_string(failure, "status", ""), ==, "4.4.7");
    g_assert_nonnull(strstr(meta_string(failure, "reply", ""), "450 4.2.1 busy"));
}

static void dead_relay(void)
{
    g_autoptr(Site) site = site_new("[out]\nminimal_backoff_time = 1s\nmaximal_backoff_time = 1s\n");
    for (size_t i = 0; i < 50; i++)
        site_post(site, &(SitePost){.first = i, .count = 1});
    site_start_out(site);
    site_wait(site, "retry", ".msg", 5);
    site_start_sink(site, NULL);
    site_wait(site, "retry", "", 0);
    site_wait_empty(site);
    expect_each(site, 50, "accepted", 1);
}

static void greeting_refused(void)
{
    g_autoptr(Site) site = site_new(NULL);
    site_start_sink(site, (const char *[]){"--fault=connect do 554 go away", NULL});
    site_start_out(site);
    site_post(site, &(SitePost){.count = 3});
    site_wait(site, "retry", ".msg", 1);
    g_autoptr(Entry) retry = first_entry(site, "retry");
    g_assert_nonnull(strstr(meta_string(entry_meta(retry), KEY_LAST_REPLY, ""), "554 go away"));
    g_assert_cmpuint(site_count(site, "bounces", ""), ==, 0);
}

static void unknown_transport(void)
{
    g_autoptr(Site) site = site_new(NULL);
    site_start_sink(site, NULL);
    site_start_out(site);
    site_post(site, &(SitePost){.count = 3, .transport = "nowhere"});
    site_wait(site, "retry", ".msg", 1);
    g_autoptr(Entry) retry = first_entry(site, "retry");
    g_assert_cmpstr(meta_string(entry_meta(retry), KEY_LAST_REPLY, ""), ==, "its transport is not configured");
}

/* The table is asked first: where it leads, a lost transport of the list matters to nobody. */
static void unknown_transport_but_routed(void)
{
    g_autoptr(Site) site = site_new("[out]\ntransport_table = example.com:relay\n");
    site_start_sink(site, NULL);
    site_start_out(site);
    site_post(site, &(SitePost){.count = 3, .transport = "nowhere"});
    site_wait_empty(site);
    size_t total = 0;
    g_autofree unsigned *got = site_received(site, 3, "accepted", &total);
    g_assert_cmpuint(total, ==, 3);
    g_assert_cmpuint(site_count(site, "retry", ""), ==, 0);
}

static void without_sender(void)
{
    g_autoptr(Site) site = site_new(NULL);
    site_start_sink(site, NULL);
    site_start_out(site);
    site_post(site, &(SitePost){.count = 2, .no_sender = true});
    site_post(site, &(SitePost){.count = 0});
    site_wait(site, "shunt", ".msg", 1);
    site_wait_empty(site);
    g_autoptr(Entry) shunted = first_entry(site, "shunt");
    g_assert_cmpuint(count_recipients(shunted, RECIPIENT_TODO), ==, 2);
    json_t *fault = json_object_get(entry_meta(shunted), META_FAULT);
    g_assert_cmpstr(meta_string(fault, "queue", ""), ==, "out");
    g_assert_nonnull(strstr(meta_string(fault, "reason", ""), "envelope sender"));
}

/* A server that is away costs four entries until it counts as dead (a fifth, a quarter, a third and a half of a
 * window), then one an attempt; the others stay where they are. */
#define BULK 60
#define NOTICES 240
#define PLACES 10

static Site *backlog(size_t bulk, size_t notices)
{
    Site *site = site_new("concurrency = 1\n[out]\nmessage_active_limit = 10\nlog_recipients = no\n");
    for (size_t i = 0; i < bulk; i++)
        site_post(site, &(SitePost){.first = i, .count = 1});
    for (size_t i = 0; i < notices; i++)
        site_post(site, &(SitePost){.queue = "notice", .first = BULK + i, .count = 1});
    site_start_sink(site, NULL);
    site_start_out(site);
    site_wait(site, "notice", "", 0);
    site_wait_empty(site);
    return site;
}

/* Mail of our own that came last goes before a backlog that is far larger than what is held. */
static void notice_before_backlog(void)
{
    g_autoptr(Site) site = backlog(BULK, 2);
    g_autoptr(GArray) order = site_order(site);
    g_assert_cmpuint(order->len, ==, BULK + 2);
    for (guint i = 0; i < order->len; i++)
        if (g_array_index(order, size_t, i) >= BULK)
            g_assert_cmpuint(i, <, PLACES);
}

/* And a flood of it leaves a fifth to the rest, from the first moment to the last. */
static void notices_leave_a_share(void)
{
    g_autoptr(Site) site = backlog(BULK, NOTICES);
    g_autoptr(GArray) order = site_order(site);
    g_assert_cmpuint(order->len, ==, BULK + NOTICES);
    guint bulk = 0;
    for (guint i = 0; i < order->len; i++) {
        bulk += g_array_index(order, size_t, i) < BULK;
        g_assert_cmpuint(bulk + 3, >=, MIN(i / 5, BULK));
        g_assert_cmpuint(i + 1 - bulk + PLACES, >=, MIN(i / 2, NOTICES));
    }
}

/* A child whose parent is nowhere is found when there is nothing else to do, and shown to a person. */
static void stray(void)
{
    g_autoptr(Site) site = site_new(NULL);
    site_post(site, &(SitePost){.queue = "bounces", .count = 1});
    g_autofree char *place = g_build_filename(spool_path(site->spool), "bounces", NULL);
    g_autoptr(GDir) directory = g_dir_open(place, 0, NULL);
    const char *file = g_dir_read_name(directory);
    g_autofree char *from = g_build_filename(place, file, NULL);
    g_autofree char *name = g_strndup(file, strlen(file) - strlen(".msg"));
    g_autofree char *to = g_strdup_printf("%s/%s.out-0100000000000000000000000000000000000000.tmp", place, name);
    g_assert_cmpint(rename(from, to), ==, 0);
    site_start_sink(site, NULL);
    site_start_out(site);
    site_wait(site, "shunt", "", 1);
    site_wait(site, "bounces", "", 0);
}

static void keeps_away(void)
{
    g_autoptr(Site) site = site_new(NULL);
    for (size_t i = 0; i < 200; i++)
        site_post(site, &(SitePost){.first = i, .count = 1});
    site_start_out(site);
    while (site_count(site, "retry", ".msg") == 0 || site_count(site, "out", ".bak") > 0)
        g_usleep(5000);
    g_assert_cmpuint(site_count(site, "retry", ".msg"), <, 20); /* tried; the others are put off untried */
    site_start_sink(site, NULL);
    site_wait_empty(site);
    site_wait(site, "retry", "", 0);
    expect_each(site, 200, "accepted", 1);
}

/* A sink with these further arguments, which writes its figures to the file that is returned; g_free(). */
static char *start_counting(Site *site, const char *fault, const char *latency)
{
    char *stats = g_build_filename(site->directory, "stats", NULL);
    g_autofree char *option = g_strconcat("--stats=", stats, NULL);
    site_start_sink(site, (const char *[]){option, fault, latency, NULL});
    return stats;
}

static unsigned connections_of(const Site *site, const char *stats)
{
    kill(site->sink, SIGUSR1);
    g_autofree char *text = NULL;
    while (!g_file_get_contents(stats, &text, NULL, NULL))
        g_usleep(5000);
    unsigned connections;
    g_assert_cmpint(sscanf(text, "{\"connections\":%u", &connections), ==, 1);
    return connections;
}

/* The server takes fewer connections than we would make: the work is done over
 * those, and the others are not tried over and over. */
static void connection_limit(void)
{
    g_autoptr(Site) site = site_new("concurrency = 10\nrecipients_per_transaction = 10\n");
    g_autofree char *stats = start_counting(site, "--fault=connect skip=3 do 421 too many", "--latency=2");
    site_post(site, &(SitePost){.count = 2000});
    site_start_out(site);
    site_wait_empty(site);
    expect_each(site, 2000, "accepted", 1);
    g_assert_cmpuint(connections_of(site, stats), <, 60);
}

/* "Too many messages in this session" is answered by another connection, not by asking again over the same. */
static void session_limit(void)
{
    g_autoptr(Site) site = site_new("concurrency = 1\npipelining = no\n");
    static const char fault[] = "--fault=mail skip=1 times=1 do 451 4.7.1 too many messages in this session";
    g_autofree char *stats = start_counting(site, fault, NULL);
    for (size_t i = 0; i < 3; i++)
        site_post(site, &(SitePost){.first = i, .count = 1});
    site_start_out(site);
    site_wait_empty(site);
    expect_each(site, 3, "accepted", 1);
    g_assert_cmpuint(connections_of(site, stats), ==, 3); /* one message each, from then on */
}

static void stops(void)
{
    g_autoptr(Site) site = site_new("recipients_per_transaction = 50\nconcurrency = 4\n");
    site_start_sink(site, (const char *[]){"--latency=60", NULL});
    site_post(site, &(SitePost){.count = 5000});
    site_start_out(site);
    for (size_t total = 0; total == 0;)
        g_free(site_received(site, 5000, NULL, &total));
    g_assert_cmpint(site_stop_out(site), ==, 0);
    g_assert_cmpuint(site_count(site, "out", ".msg"), ==, 1);
    g_autoptr(Entry) rest = first_entry(site, "out");
    size_t total;
    g_free(site_received(site, 5000, NULL, &total));
    g_assert_cmpuint(total, <, 5000);
    g_assert_cmpuint(count_recipients(rest, RECIPIENT_DONE), ==, total);
    site_start_out(site);
    site_wait_empty(site);
    expect_each(site, 5000, NULL, 1);
}

static void lost_reply(void)
{
    /* The sink takes the message and never says so: deferred, sent again. */
    g_autoptr(Site) site = site_new("[out]\nminimal_backoff_time = 1s\nmaximal_backoff_time = 1s\n");
    site_start_sink(site, (const char *[]){"--fault=dot times=1 do close", NULL});
    site_start_out(site);
    site_post(site, &(SitePost){.count = 4});
    site_wait_empty(site);
    site_wait(site, "retry", "", 0);
    expect_each(site, 4, "silent", 1);
    expect_each(site, 4, "accepted", 1);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/out/delivers", delivers);
    g_test_add_func("/out/refuses", refuses);
    g_test_add_func("/out/retries", retries);
    g_test_add_func("/out/expires", expires);
    g_test_add_func("/out/dead relay", dead_relay);
    g_test_add_func("/out/greeting refused", greeting_refused);
    g_test_add_func("/out/unknown transport", unknown_transport);
    g_test_add_func("/out/unknown transport but routed", unknown_transport_but_routed);
    g_test_add_func("/out/without sender", without_sender);
    g_test_add_func("/out/notice before backlog", notice_before_backlog);
    g_test_add_func("/out/notices leave a share", notices_leave_a_share);
    g_test_add_func("/out/stray", stray);
    g_test_add_func("/out/keeps away", keeps_away);
    g_test_add_func("/out/connection limit", connection_limit);
    g_test_add_func("/out/session limit", session_limit);
    g_test_add_func("/out/stops", stops);
    g_test_add_func("/out/lost reply", lost_reply);
    return g_test_run();
}
