/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The limits of the LMTP runner: sessions, memory, descriptors, time, room on the disk. */
#include <inttypes.h>
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

/* The most memory that the runner ever had, in octets. */
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
    g_assert_cmpint(g_get_monotonic_time() - begun, <, 500 * 1000);
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
    int taken = rig_dial(rig, SOCKET_IPV4), refused = rig_dial(rig, SOCKET_UNIX);
    int other = accept(rig->sockets[SOCKET_IPV4], NULL, NULL); /* we are the other instance */
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

static void test_timeout(LmtpRig *rig, gconstpointer data)
{
    rig_configure(rig, "command_timeout = 1s\nsession_timeout = 2s", "");
    rig_start(rig);
    int silent = rig_greet(rig, SOCKET_IPV4), talking = rig_greet(rig, SOCKET_IPV4);
    for (int i = 0; i < 5; i++) {
        client_say(talking, "NOOP\r\n");
        g_usleep(300000);
    }
    client_expect(silent, "421 4.4.2");
    client_expect_end(silent);
    for (int i = 0; i < 3; i++) {
        client_say(talking, "NOOP\r\n");
        g_usleep(300000);
    }
    client_expect(talking, "421 4.4.2");
    client_expect_end(talking);
    rig_stop(rig);
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
    return g_test_run();
}
