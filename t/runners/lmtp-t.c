/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The LMTP runner as the master starts it: a process of its own with
 * inherited sockets, talked to through TCP, IPv6 and a UNIX socket. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/contract.h"
#include "mail/message.h"
#include "runners/keys.h"
#include "store/store.h"
#include "switchboard/entry.h"
#include "t/switchboard/fixture.h"

#define PATIENCE_MS 10000
#define ENVELOPE "MAIL FROM:<anne@example.org>\r\nRCPT TO:<test@example.com>\r\nDATA\r\n"
#define MESSAGE "Message-ID: <1@example.org>\r\nSubject: x\r\n\r\n..dot\r\n.\r\n"

enum { SOCKET_IPV4, SOCKET_IPV6, SOCKET_UNIX, SOCKETS };

typedef struct Test {
    Fixture fixture;
    char *config, *database, *unix_path;
    int sockets[SOCKETS];
    int status; /* our end of the status pipe */
    rlim_t descriptors; /* 0: as we have them */
    bool ipv6; /* this host has it */
    pid_t pid;
} Test;

static void make_store(Test *test)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Store) store = store_open("sqlite", test->database, true, &error);
    g_assert_no_error(error);
    g_assert_true(domain_create(store, "example.com", NULL, &error));
    g_autoptr(List) list = list_create(store, "test@example.com", "discussion", &error);
    g_assert_no_error(error);
}

static int bind_socket(int family, const struct sockaddr *address, socklen_t length)
{
    int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && (bind(fd, address, length) != 0 || listen(fd, 128) != 0)) {
        close(fd);
        return -1;
    }
    return fd;
}

static void bind_sockets(Test *test)
{
    struct sockaddr_in ipv4 = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_in6 ipv6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    g_strlcpy(local.sun_path, test->unix_path, sizeof local.sun_path);
    test->sockets[SOCKET_IPV4] = bind_socket(AF_INET, (struct sockaddr *)&ipv4, sizeof ipv4);
    test->sockets[SOCKET_UNIX] = bind_socket(AF_UNIX, (struct sockaddr *)&local, sizeof local);
    g_assert_cmpint(test->sockets[SOCKET_IPV4], >=, 0);
    g_assert_cmpint(test->sockets[SOCKET_UNIX], >=, 0);
    test->sockets[SOCKET_IPV6] = bind_socket(AF_INET6, (struct sockaddr *)&ipv6, sizeof ipv6);
    test->ipv6 = test->sockets[SOCKET_IPV6] >= 0;
    if (!test->ipv6)
        test->sockets[SOCKET_IPV6] = fcntl(test->sockets[SOCKET_IPV4], F_DUPFD_CLOEXEC, 0);
}

static void configure(Test *test, const char *lmtp, const char *spool)
{
    g_autofree char *text = g_strdup_printf("[site]\nhostname = lists.example.com\n[spool]\ndirectory = %s\n%s\n"
                                            "[store]\npath = %s\n[lmtp]\n%s\n",
                                            test->fixture.path, spool, test->database, lmtp);
    g_assert_true(g_file_set_contents(test->config, text, -1, NULL));
}

static void set_up(Test *test, gconstpointer data)
{
    fixture_set_up(&test->fixture, NULL);
    test->config = g_strdup_printf("%s.conf", test->fixture.path);
    test->database = g_strdup_printf("%s.db", test->fixture.path);
    test->unix_path = g_strdup_printf("%s.sock", test->fixture.path);
    test->descriptors = 0;
    make_store(test);
    bind_sockets(test);
    configure(test, "", "");
}

static void tear_down(Test *test, gconstpointer data)
{
    static const char *const suffixes[] = {".conf", ".db", ".db-wal", ".db-shm", ".sock"};
    for (size_t i = 0; i < G_N_ELEMENTS(suffixes); i++) {
        g_autofree char *path = g_strconcat(test->fixture.path, suffixes[i], NULL);
        unlink(path);
    }
    for (size_t i = 0; i < SOCKETS; i++)
        close(test->sockets[i]);
    g_free(test->config);
    g_free(test->database);
    g_free(test->unix_path);
    fixture_tear_down(&test->fixture, NULL);
}

/* In the child: the descriptors to their places, by way of places that
 * nobody wants. */
static void become_runner(Test *test, int status)
{
    const char *top = g_getenv("top_builddir");
    g_autofree char *program = g_build_filename(top ? top : ".", "runners", "lmtp", "lmtp", NULL);
    int high[SOCKETS + 1];
    for (int i = 0; i < SOCKETS; i++)
        high[i] = fcntl(test->sockets[i], F_DUPFD, 100);
    high[SOCKETS] = fcntl(status, F_DUPFD, 100);
    dup2(high[SOCKETS], CHILD_STATUS_FD);
    for (int i = 0; i < SOCKETS; i++)
        dup2(high[i], CHILD_LISTEN_FD + i);
    close_range(CHILD_LISTEN_FD + SOCKETS, ~0U, 0);
    g_setenv(CHILD_ENV_CONFIG, test->config, TRUE);
    g_setenv(CHILD_ENV_RUNNER, "lmtp", TRUE);
    g_setenv(CHILD_ENV_LISTEN_FDS, G_STRINGIFY(3), TRUE);
    if (test->descriptors)
        setrlimit(RLIMIT_NOFILE, &(struct rlimit){test->descriptors, test->descriptors});
    execl(program, program, NULL);
    _exit(127);
}

static char *read_status(Test *test)
{
    char text[4096];
    struct pollfd ready = {.fd = test->status, .events = POLLIN};
    g_assert_cmpint(poll(&ready, 1, PATIENCE_MS), ==, 1);
    ssize_t length = read(test->status, text, sizeof text);
    g_assert_cmpint(length, >=, 0);
    return g_strndup(text, (size_t)length);
}

static void start(Test *test)
{
    int pipe_fds[2];
    g_assert_cmpint(pipe2(pipe_fds, O_CLOEXEC), ==, 0);
    test->pid = fork();
    g_assert_cmpint(test->pid, >=, 0);
    if (test->pid == 0)
        become_runner(test, pipe_fds[1]);
    close(pipe_fds[1]);
    test->status = pipe_fds[0];
    g_autofree char *said = read_status(test);
    g_assert_true(g_str_has_prefix(said, "ready\n"));
}

static void wait_end(Test *test)
{
    int status = 0;
    g_assert_cmpint(waitpid(test->pid, &status, 0), ==, test->pid);
    g_assert_true(WIFEXITED(status));
    g_assert_cmpint(WEXITSTATUS(status), ==, CHILD_EXIT_OK);
    close(test->status);
}

static void stop(Test *test)
{
    kill(test->pid, SIGTERM);
    wait_end(test);
}

/* A client. */
static int dial(Test *test, int which)
{
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    g_assert_cmpint(getsockname(test->sockets[which], (struct sockaddr *)&address, &length), ==, 0);
    int fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    g_assert_cmpint(connect(fd, (struct sockaddr *)&address, length), ==, 0);
    return fd;
}

static void say(int fd, const char *text)
{
    size_t length = strlen(text);
    g_assert_cmpint(send(fd, text, length, MSG_NOSIGNAL), ==, (ssize_t)length);
}

/* Reads until a whole line begins with code; returns all that was read. */
static char *hear(int fd, const char *code)
{
    g_autoptr(GString) heard = g_string_new(NULL);
    g_autofree char *line = g_strconcat("\n", code, NULL);
    for (;;) {
        char text[4096];
        struct pollfd ready = {.fd = fd, .events = POLLIN};
        g_assert_cmpint(poll(&ready, 1, PATIENCE_MS), ==, 1);
        ssize_t length = recv(fd, text, sizeof text, 0);
        if (length <= 0)
            g_test_message("the end, after: %s", heard->str);
        g_assert_cmpint(length, >, 0);
        g_string_append_len(heard, text, length);
        if (g_str_has_suffix(heard->str, "\r\n") && (g_str_has_prefix(heard->str, code) || strstr(heard->str, line)))
            return g_string_free(g_steal_pointer(&heard), FALSE);
    }
}

static void expect(int fd, const char *code)
{
    g_free(hear(fd, code));
}

static void expect_end(int fd)
{
    char text[512];
    struct pollfd ready = {.fd = fd, .events = POLLIN};
    ssize_t length;
    do {
        g_assert_cmpint(poll(&ready, 1, PATIENCE_MS), ==, 1);
        length = recv(fd, text, sizeof text, 0);
    } while (length > 0);
    close(fd);
}

static int greet(Test *test, int which)
{
    int fd = dial(test, which);
    expect(fd, "220 lists.example.com");
    say(fd, "LHLO client.example\r\n");
    expect(fd, "250 SIZE");
    return fd;
}

/* The one entry of queue whose metadata has that value. */
static Entry *find(Test *test, const char *queue, const char *key, const char *value)
{
    g_autoptr(GError) error = NULL;
    Queue *directory = spool_queue(test->fixture.spool, queue, &error);
    g_assert_no_error(error);
    g_autofree char *path = g_build_filename(test->fixture.path, queue, NULL);
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

static void test_stores(Test *test, gconstpointer data)
{
    static const char *const peers[] = {"127.0.0.1", "::1", "unix"};
    start(test);
    for (int i = 0; i < SOCKETS; i++) {
        if (i == SOCKET_IPV6 && !test->ipv6)
            continue;
        int fd = greet(test, i);
        say(fd, "MAIL FROM:<anne@example.org> BODY=8BITMIME\r\nRCPT TO:<Test+2026@Example.com>\r\nDATA\r\n");
        expect(fd, "354");
        say(fd, MESSAGE "QUIT\r\n");
        expect(fd, "221");
        expect_end(fd);
        g_autofree char *peer = g_strdup_printf("%s client.example", peers[i]);
        g_autoptr(Entry) entry = find(test, "in", KEY_PEER, peer);
        g_assert_cmpstr(entry_list(entry), ==, "test.example.com");
        const json_t *meta = entry_meta(entry);
        g_assert_cmpstr(meta_string(meta, KEY_SENDER, NULL), ==, "anne@example.org");
        g_assert_cmpstr(meta_string(meta, KEY_RECIPIENT, NULL), ==, "Test+2026@Example.com");
        g_assert_cmpstr(meta_string(meta, KEY_TO, NULL), ==, TO_POSTING);
        g_assert_cmpstr(meta_string(meta, KEY_DETAIL, NULL), ==, "2026");
        g_assert_cmpstr(meta_string(meta, KEY_MESSAGE_ID, NULL), ==, "1@example.org");
        g_assert_true(meta_bool(meta, KEY_BODY_8BIT, false));
        g_assert_cmpint(entry_arrival(entry), >, clock_now() - 60 * CLOCK_SECOND);
        g_autoptr(GBytes) message = entry_message(entry);
        static const char wanted[] = "Message-ID: <1@example.org>\r\nSubject: x\r\n\r\n.dot\r\n";
        g_assert_cmpmem(g_bytes_get_data(message, NULL), g_bytes_get_size(message), wanted, strlen(wanted));
    }
    stop(test);
}

static void test_recipients(Test *test, gconstpointer data)
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
    start(test);
    int fd = greet(test, SOCKET_IPV4);
    say(fd, "MAIL FROM:<>\r\nRCPT TO:<other@example.com>\r\n");
    expect(fd, "550 5.1.1");
    say(fd, "RCPT TO:<test@example.net>\r\n");
    expect(fd, "550 5.1.1");
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *line = g_strdup_printf("RCPT TO:<%s>\r\n", cases[i].address);
        say(fd, line);
        expect(fd, "250 2.1.5");
    }
    say(fd, "RCPT TO:<TEST@example.com>\r\nDATA\r\nSubject: no id\r\n\r\nx\r\n.\r\nNOOP\r\n");
    g_autofree char *heard = hear(fd, "250 2.0.0 Ok");
    g_auto(GStrv) lines = g_strsplit(heard, "250 2.0.0 Stored as ", -1);
    g_assert_cmpuint(g_strv_length(lines), ==, 1 + G_N_ELEMENTS(cases) + 1);
    g_assert_cmpint(strncmp(lines[1], lines[G_N_ELEMENTS(cases) + 1], 12), ==, 0); /* one entry, named twice */
    for (size_t i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(Entry) entry = find(test, cases[i].queue, KEY_RECIPIENT, cases[i].address);
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
    g_assert_cmpuint(fixture_count(&test->fixture, "in", ".msg"), ==, 2);
    close(fd);
    stop(test);
}

/* A list that is made while the runner runs is there at once. */
static void test_new_list(Test *test, gconstpointer data)
{
    start(test);
    int fd = greet(test, SOCKET_IPV4);
    say(fd, "MAIL FROM:<a@example.org>\r\nRCPT TO:<new@example.com>\r\n");
    expect(fd, "550 5.1.1");
    g_autoptr(Store) store = store_open("sqlite", test->database, false, NULL);
    g_autoptr(List) list = list_create(store, "new@example.com", "discussion", NULL);
    say(fd, "RCPT TO:<new@example.com>\r\n");
    expect(fd, "250 2.1.5");
    g_assert_true(list_remove(store, "new.example.com", NULL));
    g_usleep(5000);
    say(fd, "RCPT TO:<new@example.com>\r\n");
    expect(fd, "550 5.1.1");
    close(fd);
    stop(test);
}

static void test_database_down(Test *test, gconstpointer data)
{
    g_autofree char *away = g_strconcat(test->database, "-away", NULL);
    g_assert_cmpint(g_rename(test->database, away), ==, 0);
    start(test);
    int fd = greet(test, SOCKET_IPV4);
    say(fd, "MAIL FROM:<a@example.org>\r\nRCPT TO:<test@example.com>\r\n");
    expect(fd, "451 4.3.0");
    say(fd, "RCPT TO:<test@example.com>\r\n");
    expect(fd, "451 4.3.0");
    g_assert_cmpint(g_rename(away, test->database), ==, 0);
    g_usleep(1200000);
    say(fd, "RCPT TO:<test@example.com>\r\n");
    expect(fd, "250 2.1.5");
    close(fd);
    stop(test);
}

static void test_disk_full(Test *test, gconstpointer data)
{
    configure(test, "", "min_free = 1000000G");
    start(test);
    int fd = greet(test, SOCKET_IPV4);
    say(fd, "MAIL FROM:<a@example.org>\r\n");
    expect(fd, "452 4.3.1");
    close(fd);
    stop(test);
}

/* Each recipient's entry has the whole message: room for one is not room for a hundred. */
static void test_room_for_one(Test *test, gconstpointer data)
{
    struct statvfs there;
    g_assert_cmpint(statvfs(test->fixture.path, &there), ==, 0);
    uint64_t room = (uint64_t)there.f_bavail * there.f_frsize;
    if (room < (UINT64_C(1) << 30)) {
        g_test_skip("wants a disk with 1 GiB of free space");
        return;
    }
    g_autofree char *spool = g_strdup_printf("min_free = %" PRIu64, room - (UINT64_C(512) << 20));
    configure(test, "", spool);
    start(test);
    int fd = greet(test, SOCKET_UNIX);
    g_autoptr(GString) text = g_string_new("MAIL FROM:<a@example.org>\r\n");
    for (unsigned i = 0; i < 100; i++)
        g_string_append_printf(text, "RCPT TO:<test+%u@example.com>\r\n", i);
    g_string_append(text, "DATA\r\n");
    while (text->len < 10 * 1024 * 1024)
        g_string_append(text, "X: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n");
    g_string_append(text, ".\r\nNOOP\r\n");
    say(fd, text->str);
    g_autofree char *heard = hear(fd, "250 2.0.0 Ok");
    g_auto(GStrv) refusals = g_strsplit(heard, "452 4.3.1", -1);
    g_assert_cmpuint(g_strv_length(refusals), ==, 1 + 100);
    g_assert_cmpuint(fixture_count(&test->fixture, "in", ".msg"), ==, 0);
    say(fd, ENVELOPE MESSAGE);
    expect(fd, "250 2.0.0 Stored");
    close(fd);
    stop(test);
}

/* A spool that cannot be written is a fault of ours: 4xx, and the session goes
 * on. */
static void test_spool_broken(Test *test, gconstpointer data)
{
    start(test);
    g_autofree char *in = g_build_filename(test->fixture.path, "in", NULL);
    g_rmdir(in);
    g_assert_true(g_file_set_contents(in, "no directory", -1, NULL));
    int fd = greet(test, SOCKET_IPV4);
    say(fd, ENVELOPE MESSAGE);
    expect(fd, "451 4.3.0");
    g_assert_cmpint(g_unlink(in), ==, 0);
    say(fd, ENVELOPE MESSAGE);
    expect(fd, "250 2.0.0 Stored");
    close(fd);
    stop(test);
}

static void test_many_sessions(Test *test, gconstpointer data)
{
    enum { SESSIONS = 60, ROUNDS = 5 };
    configure(test, "max_sessions = 50", "");
    start(test);
    int clients[SESSIONS];
    for (int i = 0; i < SESSIONS; i++)
        clients[i] = dial(test, i % SOCKETS);
    for (int i = 0; i < SESSIONS; i++) /* ten of them wait for their turn */
        say(clients[i], "LHLO c\r\n");
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < SESSIONS; i++)
            say(clients[i], round < ROUNDS - 1 ? ENVELOPE MESSAGE : ENVELOPE MESSAGE "QUIT\r\n");
    for (int i = 0; i < SESSIONS; i++) {
        g_autofree char *heard = hear(clients[i], "221");
        g_auto(GStrv) parts = g_strsplit(heard, "250 2.0.0 Stored", -1);
        g_assert_cmpuint(g_strv_length(parts), ==, ROUNDS + 1);
        expect_end(clients[i]);
    }
    g_assert_cmpuint(fixture_count(&test->fixture, "in", ""), ==, SESSIONS * ROUNDS);
    stop(test);
}

/* Few descriptors: everybody is served, if later. */
static void test_descriptors(Test *test, gconstpointer data)
{
    enum { SESSIONS = 40 };
    test->descriptors = 40;
    start(test);
    int clients[SESSIONS];
    for (int i = 0; i < SESSIONS; i++) {
        clients[i] = dial(test, SOCKET_IPV4);
        say(clients[i], "LHLO c\r\nQUIT\r\n");
    }
    for (int i = 0; i < SESSIONS; i++) {
        expect(clients[i], "221");
        expect_end(clients[i]);
    }
    stop(test);
}

static void test_terminate(Test *test, gconstpointer data)
{
    start(test);
    int idle = greet(test, SOCKET_IPV4), busy = greet(test, SOCKET_UNIX);
    say(busy, ENVELOPE);
    expect(busy, "354");
    kill(test->pid, SIGTERM);
    expect(idle, "421 4.3.2");
    expect_end(idle);
    say(busy, MESSAGE);
    g_autofree char *heard = hear(busy, "421 4.3.2");
    g_assert_nonnull(strstr(heard, "250 2.0.0 Stored"));
    expect_end(busy);
    wait_end(test);
    g_assert_cmpuint(fixture_count(&test->fixture, "in", ".msg"), ==, 1);
}

static void test_timeout(Test *test, gconstpointer data)
{
    configure(test, "command_timeout = 1s\nsession_timeout = 2s", "");
    start(test);
    int silent = greet(test, SOCKET_IPV4), talking = greet(test, SOCKET_IPV4);
    for (int i = 0; i < 5; i++) {
        say(talking, "NOOP\r\n");
        g_usleep(300000);
    }
    expect(silent, "421 4.4.2");
    expect_end(silent);
    for (int i = 0; i < 3; i++) {
        say(talking, "NOOP\r\n");
        g_usleep(300000);
    }
    expect(talking, "421 4.4.2");
    expect_end(talking);
    stop(test);
}

/* What was acknowledged before a kill -9 is there, whole. */
static void test_killed(Test *test, gconstpointer data)
{
    enum { SESSIONS = 20, MESSAGES = 50 };
    start(test);
    int clients[SESSIONS];
    for (int i = 0; i < SESSIONS; i++) {
        clients[i] = greet(test, SOCKET_IPV4);
        for (int j = 0; j < MESSAGES; j++)
            say(clients[i], ENVELOPE MESSAGE);
    }
    expect(clients[0], "250 2.0.0 Stored");
    g_usleep(30000);
    kill(test->pid, SIGKILL);
    waitpid(test->pid, NULL, 0);
    close(test->status);
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
    unsigned stored = fixture_count(&test->fixture, "in", ".msg");
    g_test_message("%u acknowledged, %u stored", acknowledged, stored);
    g_assert_cmpuint(stored, >=, acknowledged);
    g_autofree char *path = g_build_filename(test->fixture.path, "in", NULL);
    g_autoptr(GDir) all = g_dir_open(path, 0, NULL);
    const char *file;
    while ((file = g_dir_read_name(all)))
        if (g_str_has_suffix(file, ".msg")) {
            g_autoptr(Entry) entry = entry_open(spool_queue(test->fixture.spool, "in", NULL), file, NULL);
            g_assert_nonnull(entry);
        }
}

static void test_beats(Test *test, gconstpointer data)
{
    start(test);
    int fd = greet(test, SOCKET_IPV4);
    say(fd, "QUIT\r\n");
    expect_end(fd);
    kill(test->pid, SIGTERM);
    g_autoptr(GString) said = g_string_new(NULL);
    for (;;) {
        g_autofree char *more = read_status(test);
        if (!*more)
            break;
        g_string_append(said, more);
    }
    g_assert_nonnull(strstr(said->str, " done=1 backlog=0 oldest=0.000000 holding=-\n"));
    wait_end(test);
}

#define ADD(name) g_test_add("/lmtp/" #name, Test, NULL, set_up, test_##name, tear_down)

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ADD(stores);
    ADD(recipients);
    ADD(new_list);
    ADD(database_down);
    ADD(disk_full);
    ADD(room_for_one);
    ADD(spool_broken);
    ADD(many_sessions);
    ADD(descriptors);
    ADD(terminate);
    ADD(timeout);
    ADD(killed);
    ADD(beats);
    return g_test_run();
}
