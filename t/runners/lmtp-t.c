/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Test what the LMTP runner stores, and how it lives and dies; t/runners/lmtp_limits-t.c has its limits. */
#include <errno.h>
#include <glib/gstdio.h>
#include <inttypes.h>
#include <signal.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/contract.h"
#include "lists/keys.h"
#include "mail/message.h"
#include "store/lists/list.h"
#include "store/store.h"
#include "switchboard/entry.h"
#include "t/runners/lmtprig.h"

/* The one entry of queue whose metadata has that value. */
static Entry *find(LmtpRig *rig, const char *queue, const char *key, const char *value)
{
    g_autoptr(GError) error = NULL;
    Queue *directory = spool_queue(rig->fixture.spool, queue, &error);
    g_assert_no_error(error);
    g_autofree char *path = g_build_filename(rig->fixture.path, queue, NULL);
    g_autoptr(GDir) all = g_dir_open(path, 0, NULL);
    Entry *found = NULL;
    const char *file;
    while ((file = g_dir_read_name(all))) {
        Entry *entry = entry_open(directory, file, &error);
        g_assert_no_error(error);
        if (g_strcmp0(meta_string(entry_meta(entry), key, NULL), value) == 0) {
            g_assert_null(found);
            found = entry;
        } else {
            entry_free(entry);
        }
    }
    g_assert_nonnull(found);
    return found;
}

static void test_stores(LmtpRig *rig, gconstpointer data)
{
    static const char *const peers[] = {"127.0.0.1", "::1", "unix"};
    rig_start(rig);
    for (int i = 0; i < SOCKETS; i++) {
        if (i == SOCKET_IPV6 && !rig->ipv6)
            continue;
        int fd = rig_greet(rig, i);
        client_say(fd, "MAIL FROM:<anne@example.org> BODY=8BITMIME\r\nRCPT TO:<Test+2026@Example.com>\r\nDATA\r\n");
        client_expect(fd, "354");
        client_say(fd, MESSAGE "QUIT\r\n");
        client_expect(fd, "221");
        client_expect_end(fd);
        g_autofree char *peer = g_strdup_printf("%s client.example", peers[i]);
        g_autoptr(Entry) entry = find(rig, "in", KEY_PEER, peer);
        g_assert_cmpstr(entry_list(entry), ==, "test.example.com");
        const json_t *meta = entry_meta(entry);
        g_assert_cmpstr(meta_string(meta, KEY_SENDER, NULL), ==, "anne@example.org");
        g_assert_cmpstr(meta_string(meta, KEY_RECIPIENT, NULL), ==, "Test+2026@Example.com");
        g_assert_cmpstr(meta_string(meta, KEY_TO, NULL), ==, TO_POSTING);
        g_assert_cmpstr(meta_string(meta, KEY_DETAIL, NULL), ==, "2026");
        g_assert_cmpstr(meta_string(meta, KEY_MESSAGE_ID, NULL), ==, "1@example.org");
        g_assert_true(meta_bool(meta, KEY_BODY_8BIT));
        g_assert_cmpint(entry_arrival(entry), >, clock_now() - 60 * CLOCK_SECOND);
        g_autoptr(GBytes) message = entry_message(entry);
        static const char wanted[] = "Message-ID: <1@example.org>\r\nSubject: x\r\n\r\n.dot\r\n";
        g_assert_cmpmem(g_bytes_get_data(message, NULL), g_bytes_get_size(message), wanted, strlen(wanted));
    }
    rig_stop(rig);
}

static void test_recipients(LmtpRig *rig, gconstpointer data)
{
    static const struct { const char *address, *queue, *to, *detail; } cases[] = {
        {"test@example.com", "in", TO_POSTING, NULL},
        {"test-owner@example.com", "in", TO_OWNER, NULL},
        {"test-bounces+bart=example.net@example.com", "bounces", TO_BOUNCES, "bart=example.net"},
        {"test-join@example.com", "command", TO_JOIN, NULL},
        {"test-unsubscribe@example.com", "command", TO_LEAVE, NULL},
        {"test-confirm+1f@example.com", "command", TO_CONFIRM, "1f"},
        {"test-request@example.com", "command", TO_REQUEST, NULL},
    };
    rig_start(rig);
    int fd = rig_greet(rig, SOCKET_IPV4);
    client_say(fd, "MAIL FROM:<>\r\nRCPT TO:<other@example.com>\r\n");
    client_expect(fd, "550 5.1.1");
    client_say(fd, "RCPT TO:<test@example.net>\r\n");
    client_expect(fd, "550 5.1.1");
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *line = g_strdup_printf("RCPT TO:<%s>\r\n", cases[i].address);
        client_say(fd, line);
        client_expect(fd, "250 2.1.5");
    }
    client_say(fd, "RCPT TO:<TEST@example.com>\r\nDATA\r\nSubject: no id\r\n\r\nx\r\n.\r\nNOOP\r\n");
    g_autofree char *heard = client_hear(fd, "250 2.0.0 Ok");
    g_auto(GStrv) lines = g_strsplit(heard, "250 2.0.0 Stored as ", -1);
    g_assert_cmpuint(g_strv_length(lines), ==, 1 + G_N_ELEMENTS(cases) + 1);
    g_assert_cmpint(strncmp(lines[1], lines[G_N_ELEMENTS(cases) + 1], 12), ==, 0); /* one entry, named twice */
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(Entry) entry = find(rig, cases[i].queue, KEY_RECIPIENT, cases[i].address);
        g_assert_cmpstr(meta_string(entry_meta(entry), KEY_TO, NULL), ==, cases[i].to);
        g_assert_cmpstr(meta_string(entry_meta(entry), KEY_DETAIL, NULL), ==, cases[i].detail);
        g_assert_cmpstr(meta_string(entry_meta(entry), KEY_SENDER, NULL), ==, "");
        g_assert_cmpint(strncmp(lines[i + 1], entry_trace(entry), 12), ==, 0);
        g_autoptr(GBytes) octets = entry_message(entry);
        g_autoptr(Message) message = message_new(octets);
        g_autofree char *id = message_id(message);
        g_assert_nonnull(id);
        g_assert_cmpstr(id, ==, meta_string(entry_meta(entry), KEY_MESSAGE_ID, NULL));
        g_assert_true(g_str_has_suffix(id, "@lists.example.com"));
    }
    g_assert_cmpuint(fixture_count(&rig->fixture, "in", ".msg"), ==, 2);
    close(fd);
    rig_stop(rig);
}

/* Mail that passed 120 hosts is taken, and no more; the session goes on. */
static void test_mail_in_circles(LmtpRig *rig, gconstpointer data)
{
    rig_start(rig);
    int fd = rig_greet(rig, SOCKET_IPV4);
    for (unsigned hops = 120; hops <= 121; hops++) {
        g_autoptr(GString) text = g_string_new("MAIL FROM:<>\r\nRCPT TO:<test@example.com>\r\n"
                                               "RCPT TO:<test-owner@example.com>\r\nDATA\r\n");
        for (unsigned hop = 0; hop < hops; hop++)
            g_string_append_printf(text, "%s: from a.example by b.example;\r\n Sun, 22 Nov 2026 10:00:00 +0000\r\n",
                                   hop % 2 ? "Received" : "received");
        g_string_append(text, "X-Received: by c.example\r\nSubject: x\r\n\r\nReceived: text\r\n.\r\nNOOP\r\n");
        client_say(fd, text->str);
        g_autofree char *heard = client_hear(fd, "250 2.0.0 Ok");
        g_auto(GStrv) stored = g_strsplit(heard, "250 2.0.0 Stored as ", -1);
        g_auto(GStrv) refused = g_strsplit(heard, "554 5.4.6 ", -1);
        g_assert_cmpuint(g_strv_length(stored) - 1, ==, hops == 120 ? 2 : 0);
        g_assert_cmpuint(g_strv_length(refused) - 1, ==, hops == 120 ? 0 : 2);
    }
    g_assert_cmpuint(fixture_count(&rig->fixture, "in", ".msg"), ==, 2);
    close(fd);
    rig_stop(rig);
}

/* A list that is made while the runner runs is there at once. */
static void test_new_list(LmtpRig *rig, gconstpointer data)
{
    rig_start(rig);
    int fd = rig_greet(rig, SOCKET_IPV4);
    client_say(fd, "MAIL FROM:<a@example.org>\r\nRCPT TO:<new@example.com>\r\n");
    client_expect(fd, "550 5.1.1");
    g_autoptr(Store) store = store_open("sqlite", rig->database, false, NULL);
    g_autoptr(List) list = list_create(store, "new@example.com", NULL);
    client_say(fd, "RCPT TO:<new@example.com>\r\n");
    client_expect(fd, "250 2.1.5");
    g_assert_true(list_remove(store, "new.example.com", NULL));
    g_usleep(5000);
    client_say(fd, "RCPT TO:<new@example.com>\r\n");
    client_expect(fd, "550 5.1.1");
    close(fd);
    rig_stop(rig);
}

static void test_database_down(LmtpRig *rig, gconstpointer data)
{
    g_autofree char *away = g_strconcat(rig->database, "-away", NULL);
    g_assert_cmpint(g_rename(rig->database, away), ==, 0);
    rig_start(rig);
    int fd = rig_greet(rig, SOCKET_IPV4);
    client_say(fd, "MAIL FROM:<a@example.org>\r\nRCPT TO:<test@example.com>\r\n");
    client_expect(fd, "451 4.3.0");
    client_say(fd, "RCPT TO:<test@example.com>\r\n");
    client_expect(fd, "451 4.3.0");
    g_assert_cmpint(g_rename(away, rig->database), ==, 0);
    g_usleep(1200000);
    client_say(fd, "RCPT TO:<test@example.com>\r\n");
    client_expect(fd, "250 2.1.5");
    close(fd);
    rig_stop(rig);
}

/* A spool that cannot be written is a fault of ours: 4xx, and the session goes
 * on. */
static void test_spool_broken(LmtpRig *rig, gconstpointer data)
{
    rig_start(rig);
    g_autofree char *in = g_build_filename(rig->fixture.path, "in", NULL);
    g_rmdir(in);
    g_assert_true(g_file_set_contents(in, "no directory", -1, NULL));
    int fd = rig_greet(rig, SOCKET_IPV4);
    client_say(fd, ENVELOPE MESSAGE);
    client_expect(fd, "451 4.3.0");
    g_assert_cmpint(g_unlink(in), ==, 0);
    client_say(fd, ENVELOPE MESSAGE);
    client_expect(fd, "250 2.0.0 Stored");
    close(fd);
    rig_stop(rig);
}

static void test_terminate(LmtpRig *rig, gconstpointer data)
{
    rig_start(rig);
    int idle = rig_greet(rig, SOCKET_IPV4), busy = rig_greet(rig, SOCKET_UNIX);
    client_say(busy, ENVELOPE);
    client_expect(busy, "354");
    kill(rig->pid, SIGTERM);
    client_expect(idle, "421 4.3.2");
    client_expect_end(idle);
    client_say(busy, MESSAGE);
    g_autofree char *heard = client_hear(busy, "421 4.3.2");
    g_assert_nonnull(strstr(heard, "250 2.0.0 Stored"));
    client_expect_end(busy);
    rig_wait_end(rig);
    g_assert_cmpuint(fixture_count(&rig->fixture, "in", ".msg"), ==, 1);
}

/* Check that all that was acknowledged before a kill -9 is there, whole. */
static void test_killed(LmtpRig *rig, gconstpointer data)
{
    enum { SESSIONS = 20, MESSAGES = 50 };
    rig_start(rig);
    int clients[SESSIONS];
    for (int i = 0; i < SESSIONS; i++) {
        clients[i] = rig_greet(rig, SOCKET_IPV4);
        for (int j = 0; j < MESSAGES; j++)
            client_say(clients[i], ENVELOPE MESSAGE);
    }
    client_expect(clients[0], "250 2.0.0 Stored");
    g_usleep(30000);
    kill(rig->pid, SIGKILL);
    waitpid(rig->pid, NULL, 0);
    close(rig->status);
    unsigned acknowledged = 1;
    for (int i = 0; i < SESSIONS; i++) {
        char text[65536];
        ssize_t length;
        while ((length = recv(clients[i], text, sizeof text - 1, 0)) > 0) {
            text[length] = '\0';
            for (const char *at = text; (at = strstr(at, "Stored as")); at++)
                acknowledged++;
        }
        close(clients[i]);
    }
    unsigned stored = fixture_count(&rig->fixture, "in", ".msg");
    g_test_message("%u acknowledged, %u stored", acknowledged, stored);
    g_assert_cmpuint(stored, >=, acknowledged);
    g_autofree char *path = g_build_filename(rig->fixture.path, "in", NULL);
    g_autoptr(GDir) all = g_dir_open(path, 0, NULL);
    const char *file;
    while ((file = g_dir_read_name(all)))
        if (g_str_has_suffix(file, ".msg")) {
            g_autoptr(Entry) entry = entry_open(spool_queue(rig->fixture.spool, "in", NULL), file, NULL);
            g_assert_nonnull(entry);
        }
}

static void change(LmtpRig *rig, const char *sql)
{
    sqlite3 *database;
    g_assert_cmpint(sqlite3_open(rig->database, &database), ==, SQLITE_OK);
    g_assert_cmpint(sqlite3_exec(database, sql, NULL, NULL, NULL), ==, SQLITE_OK);
    sqlite3_close(database);
}

/* Nobody can say how many parts wait: one more is to come again. */
static void test_parts_uncounted(LmtpRig *rig, gconstpointer data)
{
    static const char part[] = "Message-ID: <p@example.org>\r\nSubject: x\r\nMIME-Version: 1.0\r\n"
                               "Content-Type: message/partial; id=\"i\"; number=1; total=2\r\n\r\nbody\r\n.\r\n";
    g_autoptr(Store) store = store_open("sqlite", rig->database, false, NULL);
    g_assert_true(list_set(store, "test.example.com", "defragment", "on", NULL));
    change(rig, "ALTER TABLE fragment_waiting RENAME TO elsewhere");
    rig_start(rig);
    int fd = rig_greet(rig, SOCKET_UNIX);
    client_say(fd, ENVELOPE);
    client_expect(fd, "354");
    client_say(fd, part);
    client_expect(fd, "451");
    g_assert_cmpuint(fixture_count(&rig->fixture, "defragment", ""), ==, 0);
    change(rig, "ALTER TABLE elsewhere RENAME TO fragment_waiting");
    for (bool stored = false; !stored;) { /* the database is opened anew after a moment */
        client_say(fd, "RSET\r\nMAIL FROM:<anne@example.org>\r\nRCPT TO:<test@example.com>\r\nNOOP\r\n");
        g_autofree char *heard = client_hear(fd, "250 2.0.0 Ok");
        stored = strstr(heard, "250 2.1.5") != NULL;
        if (!stored)
            g_usleep(50000);
    }
    client_say(fd, "DATA\r\n");
    client_expect(fd, "354");
    client_say(fd, part);
    client_expect(fd, "250 2.0.0 Stored");
    g_assert_cmpuint(fixture_count(&rig->fixture, "defragment", ".msg"), ==, 1);
    close(fd);
    rig_stop(rig);
}

static void test_beats(LmtpRig *rig, gconstpointer data)
{
    rig_start(rig);
    int fd = rig_greet(rig, SOCKET_IPV4);
    client_say(fd, "QUIT\r\n");
    client_expect_end(fd);
    kill(rig->pid, SIGTERM);
    g_autoptr(GString) said = g_string_new(NULL);
    for (;;) {
        g_autofree char *more = rig_status(rig);
        if (!*more)
            break;
        g_string_append(said, more);
    }
    g_assert_nonnull(strstr(said->str, " done=1 backlog=0 oldest=0.000000 holding=-\n"));
    rig_wait_end(rig);
}



#define ADD(name) g_test_add("/lmtp/" #name, LmtpRig, NULL, rig_set_up, test_##name, rig_tear_down)

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ADD(stores);
    ADD(recipients);
    ADD(mail_in_circles);
    ADD(new_list);
    ADD(database_down);
    ADD(spool_broken);
    ADD(terminate);
    ADD(killed);
    ADD(parts_uncounted);
    ADD(beats);
    return g_test_run();
}
