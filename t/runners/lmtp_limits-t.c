/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The limits of the LMTP runner: sessions, memory, descriptors, time, room on the disk. */
#include <glib/gstdio.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "t/runners/lmtprig.h"

static void test_disk_full(LmtpRig *rig, gconstpointer data)
{
    rig_configure(rig, "", "min_free = 1000000G");
    rig_start(rig);
    int fd = rig_greet(rig, SOCKET_IPV4);
    client_say(fd, "MAIL FROM:<a@example.org>\r\n");
    client_expect(fd, "452 4.3.1");
    close(fd);
    rig_stop(rig);
}

/* Each recipient's entry has the whole message: room for one is not room for a hundred. */
static void test_room_for_one(LmtpRig *rig, gconstpointer data)
{
    struct statvfs there;
    g_assert_cmpint(statvfs(rig->fixture.path, &there), ==, 0);
    uint64_t room = (uint64_t)there.f_bavail * there.f_frsize;
    if (room < (UINT64_C(1) << 30)) {
        g_test_skip("wants a disk with 1 GiB of free space");
        return;
    }
    g_autofree char *spool = g_strdup_printf("min_free = %" PRIu64, room - (UINT64_C(512) << 20));
    rig_configure(rig, "", spool);
    rig_start(rig);
    int fd = rig_greet(rig, SOCKET_UNIX);
    g_autoptr(GString) text = g_string_new("MAIL FROM:<a@example.org>\r\n");
    for (unsigned i = 0; i < 100; i++)
        g_string_append_printf(text, "RCPT TO:<test+%u@example.com>\r\n", i);
    g_string_append(text, "DATA\r\n");
    while (text->len < 10 * 1024 * 1024)
        g_string_append(text, "X: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n");
    g_string_append(text, ".\r\nNOOP\r\n");
    client_say(fd, text->str);
    g_autofree char *heard = client_hear(fd, "250 2.0.0 Ok");
    g_auto(GStrv) refusals = g_strsplit(heard, "452 4.3.1", -1);
    g_assert_cmpuint(g_strv_length(refusals), ==, 1 + 100);
    g_assert_cmpuint(fixture_count(&rig->fixture, "in", ".msg"), ==, 0);
    client_say(fd, ENVELOPE MESSAGE);
    client_expect(fd, "250 2.0.0 Stored");
    close(fd);
    rig_stop(rig);
}

/* The most memory that the runner ever had, in bytes. */
static size_t peak(const LmtpRig *rig)
{
    g_autofree char *path = g_strdup_printf("/proc/%d/status", (int)rig->pid), *text = NULL;
    g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
    const char *line = strstr(text, "VmHWM:");
    g_assert_nonnull(line);
    return (size_t)g_ascii_strtoull(line + strlen("VmHWM:"), NULL, 10) * 1024;
}

/* Envelopes count in memory_limit, with the entries that are made of them: beyond it recipients are for later. */
static void test_memory_of_envelopes(LmtpRig *rig, gconstpointer data)
{
    enum { RECIPIENTS = 1500, LONG = 1900, LIMIT = 16 << 20 };
    rig_configure(rig, "max_message_size = 1M\nmemory_limit = 16M\nmax_recipients = 10000", "");
    rig_start(rig);
    int fd = rig_greet(rig, SOCKET_UNIX);
    size_t before = peak(rig);
    g_autofree char *padding = g_strnfill(LONG, 'x');
    client_say(fd, "MAIL FROM:<a@example.org>\r\n");
    client_expect(fd, "250 2.1.0");
    unsigned taken = 0;
    for (unsigned i = 0; i < RECIPIENTS; i++) {
        g_autofree char *rcpt = g_strdup_printf("RCPT TO:<test+%u%s@example.com>\r\n", i, padding);
        client_say(fd, rcpt);
        g_autofree char *heard = client_hear(fd, "");
        if (g_str_has_prefix(heard, "250"))
            g_assert_cmpuint(taken++, ==, i);
        else
            g_assert_true(g_str_has_prefix(heard, "452 4.3.1"));
    }
    g_assert_cmpuint(taken, >, 300);
    g_assert_cmpuint(taken, <, RECIPIENTS);
    client_say(fd, "DATA\r\n" MESSAGE "NOOP\r\n");
    g_autofree char *heard = client_hear(fd, "250 2.0.0 Ok");
    g_auto(GStrv) stored = g_strsplit(heard, "250 2.0.0 Stored", -1);
    g_assert_cmpuint(g_strv_length(stored), ==, 1 + taken);
    size_t used = peak(rig) - before;
    g_test_message("%u recipients took %zu octets", taken, used);
    close(fd);
    rig_stop(rig);
#ifndef __SANITIZE_ADDRESS__
    g_assert_cmpuint(used, <, LIMIT);
#endif
}

static void test_many_sessions(LmtpRig *rig, gconstpointer data)
{
    enum { SESSIONS = 60, ROUNDS = 5 };
    rig_start(rig);
    int clients[SESSIONS];
    for (int i = 0; i < SESSIONS; i++)
        clients[i] = rig_dial(rig, i % SOCKETS);
    for (int i = 0; i < SESSIONS; i++)
        client_say(clients[i], "LHLO c\r\n");
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < SESSIONS; i++)
            client_say(clients[i], round < ROUNDS - 1 ? ENVELOPE MESSAGE : ENVELOPE MESSAGE "QUIT\r\n");
    for (int i = 0; i < SESSIONS; i++) {
        g_autofree char *heard = client_hear(clients[i], "221");
        g_auto(GStrv) parts = g_strsplit(heard, "250 2.0.0 Stored", -1);
        g_assert_cmpuint(g_strv_length(parts), ==, ROUNDS + 1);
        client_expect_end(clients[i]);
    }
    g_assert_cmpuint(fixture_count(&rig->fixture, "in", ""), ==, SESSIONS * ROUNDS);
    rig_stop(rig);
}

/* More clients than max_sessions: they are told so at once, and others get the room when one leaves. */
static void test_too_many_sessions(LmtpRig *rig, gconstpointer data)
{
    enum { LIMIT = 5 };
    rig_configure(rig, "max_sessions = 5", "");
    rig_start(rig);
    int clients[LIMIT];
    for (int i = 0; i < LIMIT; i++)
        clients[i] = rig_greet(rig, i % SOCKETS);
    int64_t begun = g_get_monotonic_time();
    for (int which = 0; which < SOCKETS; which++) {
        int more = rig_dial(rig, which);
        g_autofree char *heard = client_hear(more, "421 4.3.2");
        g_assert_true(g_str_has_prefix(heard, "421 4.3.2")); /* no greeting before */
        client_expect_end(more);
    }
    g_assert_cmpint(g_get_monotonic_time() - begun, <, 60 * G_USEC_PER_SEC);
    client_say(clients[0], ENVELOPE MESSAGE "QUIT\r\n"); /* those that are there are served */
    client_expect(clients[0], "221");
    client_expect_end(clients[0]);
    clients[0] = rig_greet(rig, SOCKET_IPV4);
    for (int i = 0; i < LIMIT; i++)
        close(clients[i]);
    rig_stop(rig);
}

/* Beside other instances on the same sockets a client waits a moment, so that one with room can take it. */
static void test_too_many_sessions_here(LmtpRig *rig, gconstpointer data)
{
    rig_configure(rig, "max_sessions = 1", "");
    rig->instances = 2;
    rig_start(rig);
    int first = rig_greet(rig, SOCKET_IPV4);
    int taken = -1, other = -1, refused = -1;
    for (int tries = 0; tries < 100; tries++) { /* the moment is short for a slow machine */
        taken = rig_dial(rig, SOCKET_IPV4);
        refused = rig_dial(rig, SOCKET_UNIX);
        other = accept(rig->sockets[SOCKET_IPV4], NULL, NULL); /* we are the other instance */
        if (other >= 0)
            break;
        client_expect(taken, "421 4.3.2");
        client_expect(refused, "421 4.3.2");
        close(taken);
        close(refused);
    }
    g_assert_cmpint(other, >=, 0);
    client_say(other, "220 from the other\r\n");
    client_expect(taken, "220 from the other");
    client_expect(refused, "421 4.3.2");
    client_expect_end(refused);
    close(other);
    close(taken);
    close(first);
    rig_stop(rig);
}

/* Few descriptors: everybody is served, if later. */
static void test_descriptors(LmtpRig *rig, gconstpointer data)
{
    enum { SESSIONS = 40 };
    rig->descriptors = 40;
    rig_start(rig);
    int clients[SESSIONS];
    for (int i = 0; i < SESSIONS; i++) {
        clients[i] = rig_dial(rig, SOCKET_IPV4);
        client_say(clients[i], "LHLO c\r\nQUIT\r\n");
    }
    for (int i = 0; i < SESSIONS; i++) {
        client_expect(clients[i], "221");
        client_expect_end(clients[i]);
    }
    rig_stop(rig);
}

/* Silence ends a session, and so does its age, however much its client says. */
static void test_timeout(LmtpRig *rig, gconstpointer data)
{
    rig_configure(rig, "command_timeout = 2s\nsession_timeout = 4s", "");
    rig_start(rig);
    int silent = rig_greet(rig, SOCKET_IPV4), talking = rig_greet(rig, SOCKET_IPV4);
    g_autoptr(GString) heard = g_string_new(NULL);
    while (!strstr(heard->str, "421 4.4.2")) {
        client_say(talking, "NOOP\r\n");
        g_usleep(300000);
        char text[4096];
        ssize_t length = recv(talking, text, sizeof text, MSG_DONTWAIT);
        g_string_append_len(heard, text, MAX(length, 0));
    }
    client_expect_end(talking);
    client_expect(silent, "421 4.4.2");
    client_expect_end(silent);
    rig_stop(rig);
}

/* As many entries as these wait in a queue, if only by their names. */
static void let_wait(LmtpRig *rig, const char *queue, unsigned count)
{
    g_assert_nonnull(spool_queue(rig->fixture.spool, queue, NULL)); /* made if it is not there */
    for (unsigned i = 0; i < count; i++) {
        g_autofree char *file = g_strdup_printf("1700000000.%06u+%040x.msg", i, i);
        g_autofree char *path = fixture_file_path(&rig->fixture, queue, file);
        g_assert_true(g_file_set_contents(path, "", 0, NULL));
    }
}

static void hear_status(LmtpRig *rig, const char *wanted)
{
    g_autoptr(GString) heard = g_string_new(NULL);
    int64_t until = g_get_monotonic_time() + 60 * G_USEC_PER_SEC;
    while (!strstr(heard->str, wanted)) {
        g_assert_cmpint(g_get_monotonic_time(), <, until);
        g_autofree char *more = rig_status(rig);
        g_assert_cmpstr(more, !=, "");
        g_string_append(heard, more);
    }
}

/* Hands in a message for the address; returns how long the answer to it took, in seconds. */
static double hand_in(int fd, const char *to)
{
    g_autofree char *envelope = g_strdup_printf("MAIL FROM:<a@example.org>\r\nRCPT TO:<%s>\r\nDATA\r\n", to);
    client_say(fd, envelope);
    client_expect(fd, "354");
    int64_t begun = g_get_monotonic_time();
    client_say(fd, MESSAGE);
    client_expect(fd, "250 2.0.0 Stored");
    return (double)(g_get_monotonic_time() - begun) / G_USEC_PER_SEC;
}

/* Is not delayed by in_flow_delay. A busy machine may be slow with one answer, but not with each. */
static void hand_in_undelayed(int fd, const char *to)
{
    int64_t until = g_get_monotonic_time() + 60 * G_USEC_PER_SEC;
    while (hand_in(fd, to) > 0.6)
        g_assert_cmpint(g_get_monotonic_time(), <, until);
}

/* More than in_flow_limit wait in the three queues together: each session waits for its own answer, and the master is
 * told. Bounces do not wait. When little is left it ends. */
static void test_in_flow(LmtpRig *rig, gconstpointer data)
{
    rig_configure(rig, "in_flow_limit = 100\nin_flow_delay = 700ms", "");
    rig_start(rig);
    int fd = rig_greet(rig, SOCKET_UNIX), other = rig_greet(rig, SOCKET_UNIX);
    let_wait(rig, "in", 30);
    let_wait(rig, "pipeline", 30);
    let_wait(rig, "out", 60);
    let_wait(rig, "bounces", 1000);
    for (int i = 0; i < 5; i++) { /* a second look comes only if there is mail after the first */
        hand_in(fd, "test@example.com");
        g_usleep(G_USEC_PER_SEC / 2);
    }
    hear_status(rig, "notice mail comes in faster than it leaves: 12");
    unsigned stored = fixture_count(&rig->fixture, "in", ".msg");
    int64_t begun = g_get_monotonic_time();
    client_say(other, ENVELOPE MESSAGE);
    hand_in_undelayed(fd, "test-bounces@example.com");
    while (fixture_count(&rig->fixture, "in", ".msg") == stored) /* it is stored before it is answered */
        g_usleep(1000);
    client_expect(other, "250 2.0.0 Stored");
    /* The runner's timer counts from the time at which its loop last looked at the clock, which is a little earlier. */
    g_assert_cmpint(g_get_monotonic_time() - begun, >=, 350 * 1000);
    client_say(other, ENVELOPE MESSAGE);
    client_expect(other, "354");
    close(other); /* who is gone is not waited for */
    g_autofree char *out = g_build_filename(rig->fixture.path, "out", NULL);
    g_autofree char *away = g_build_filename(rig->fixture.path, "archive", NULL);
    g_assert_cmpint(rename(out, away), ==, 0);
    hear_status(rig, "notice\n");
    hand_in_undelayed(fd, "test@example.com");
    close(fd);
    rig_stop(rig);
}

/* A process that leaves gives the answers that it holds at once. */
static void test_in_flow_leaving(LmtpRig *rig, gconstpointer data)
{
    rig_configure(rig, "in_flow_limit = 100\nin_flow_delay = 50s", "");
    rig_start(rig);
    int fd = rig_greet(rig, SOCKET_IPV4), held = rig_greet(rig, SOCKET_IPV4);
    let_wait(rig, "in", 150);
    for (int i = 0; i < 4; i++) { /* on a slow machine the last one may be held already */
        hand_in(fd, "test@example.com");
        g_usleep(G_USEC_PER_SEC / 2);
    }
    hear_status(rig, "notice mail comes in faster");
    client_say(held, ENVELOPE MESSAGE);
    client_expect(held, "354");
    while (fixture_count(&rig->fixture, "in", ".msg") < 150 + 5)
        g_usleep(1000);
    int64_t begun = g_get_monotonic_time();
    kill(rig->pid, SIGTERM);
    client_expect(held, "250 2.0.0 Stored");
    client_expect_end(held);
    client_expect_end(fd);
    rig_wait_end(rig);
    g_assert_cmpint(g_get_monotonic_time() - begun, <, 40 * G_USEC_PER_SEC);
}

#define ADD(name) g_test_add("/lmtp limits/" #name, LmtpRig, NULL, rig_set_up, test_##name, rig_tear_down)

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ADD(disk_full);
    ADD(room_for_one);
    ADD(memory_of_envelopes);
    ADD(many_sessions);
    ADD(too_many_sessions);
    ADD(too_many_sessions_here);
    ADD(descriptors);
    ADD(timeout);
    ADD(in_flow);
    ADD(in_flow_leaving);
    return g_test_run();
}
