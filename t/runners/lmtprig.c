/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "t/runners/lmtprig.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/contract.h"
#include "store/lists/domain.h"
#include "store/lists/list.h"
#include "store/store.h"

#define PATIENCE_MS 60000

static void make_store(LmtpRig *rig)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Store) store = store_open("sqlite", rig->database, true, &error);
    g_assert_no_error(error);
    g_assert_true(domain_create(store, "example.com", NULL, &error));
    g_autoptr(List) list = list_create(store, "test@example.com", &error);
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

static void bind_sockets(LmtpRig *rig)
{
    struct sockaddr_in ipv4 = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct sockaddr_in6 ipv6 = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    struct sockaddr_un local = {.sun_family = AF_UNIX};
    g_strlcpy(local.sun_path, rig->unix_path, sizeof local.sun_path);
    rig->sockets[SOCKET_IPV4] = bind_socket(AF_INET, (struct sockaddr *)&ipv4, sizeof ipv4);
    rig->sockets[SOCKET_UNIX] = bind_socket(AF_UNIX, (struct sockaddr *)&local, sizeof local);
    g_assert_cmpint(rig->sockets[SOCKET_IPV4], >=, 0);
    g_assert_cmpint(rig->sockets[SOCKET_UNIX], >=, 0);
    rig->sockets[SOCKET_IPV6] = bind_socket(AF_INET6, (struct sockaddr *)&ipv6, sizeof ipv6);
    rig->ipv6 = rig->sockets[SOCKET_IPV6] >= 0;
    if (!rig->ipv6)
        rig->sockets[SOCKET_IPV6] = fcntl(rig->sockets[SOCKET_IPV4], F_DUPFD_CLOEXEC, 0);
}

void rig_configure(LmtpRig *rig, const char *lmtp, const char *spool)
{
    /* Nobody starts the process anew here, as it wants when the database comes back and it is confined. */
    g_autofree char *text = g_strdup_printf(
        "[master]\nconfine = no\n[site]\nhostname = lists.example.com\n[spool]\ndirectory = %s\n%s\n"
        "[store]\npath = %s\n[lmtp]\n%s\n",
        rig->fixture.path, spool, rig->database, lmtp);
    g_assert_true(g_file_set_contents(rig->config, text, -1, NULL));
}

void rig_set_up(LmtpRig *rig, gconstpointer data)
{
    fixture_set_up(&rig->fixture, NULL);
    rig->config = g_strdup_printf("%s.conf", rig->fixture.path);
    rig->database = g_strdup_printf("%s.db", rig->fixture.path);
    rig->unix_path = g_strdup_printf("%s.sock", rig->fixture.path);
    rig->descriptors = 0;
    rig->instances = 0;
    make_store(rig);
    bind_sockets(rig);
    rig_configure(rig, "", "");
}

void rig_tear_down(LmtpRig *rig, gconstpointer data)
{
    for (size_t i = 0; i < SOCKETS; i++)
        close(rig->sockets[i]);
    g_free(rig->config);
    g_free(rig->database);
    g_free(rig->unix_path);
    fixture_tear_down(&rig->fixture, NULL);
}

/* In the child: the descriptors to their places, by way of places that
 * nobody wants. */
static void become_runner(LmtpRig *rig, int status)
{
    const char *top = g_getenv("top_builddir");
    g_autofree char *program = g_build_filename(top ? top : ".", "runners", "lmtp", "lmtp", NULL);
    int high[SOCKETS + 1];
    for (int i = 0; i < SOCKETS; i++)
        high[i] = fcntl(rig->sockets[i], F_DUPFD, 100);
    high[SOCKETS] = fcntl(status, F_DUPFD, 100);
    dup2(high[SOCKETS], CHILD_STATUS_FD);
    for (int i = 0; i < SOCKETS; i++)
        dup2(high[i], CHILD_LISTEN_FD + i);
    close_range(CHILD_LISTEN_FD + SOCKETS, ~0U, 0);
    g_setenv(CHILD_ENV_CONFIG, rig->config, TRUE);
    g_setenv(CHILD_ENV_RUNNER, "lmtp", TRUE);
    g_setenv(CHILD_ENV_LISTEN_FDS, G_STRINGIFY(3), TRUE);
    if (rig->instances) {
        g_autofree char *count = g_strdup_printf("%u", rig->instances);
        g_setenv(CHILD_ENV_INSTANCES, count, TRUE);
        g_setenv(CHILD_ENV_INSTANCE, "0", TRUE);
    }
    if (rig->descriptors)
        setrlimit(RLIMIT_NOFILE, &(struct rlimit){rig->descriptors, rig->descriptors});
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* nothing goes on after a test that failed */
    execl(program, program, NULL);
    _exit(127);
}

char *rig_status(LmtpRig *rig)
{
    char text[4096];
    struct pollfd ready = {.fd = rig->status, .events = POLLIN};
    g_assert_cmpint(poll(&ready, 1, PATIENCE_MS), ==, 1);
    ssize_t length = read(rig->status, text, sizeof text);
    g_assert_cmpint(length, >=, 0);
    return g_strndup(text, (size_t)length);
}

void rig_start(LmtpRig *rig)
{
    int pipe_fds[2];
    g_assert_cmpint(pipe2(pipe_fds, O_CLOEXEC), ==, 0);
    rig->pid = fork();
    g_assert_cmpint(rig->pid, >=, 0);
    if (rig->pid == 0)
        become_runner(rig, pipe_fds[1]);
    close(pipe_fds[1]);
    rig->status = pipe_fds[0];
    g_autofree char *said = rig_status(rig);
    g_assert_true(g_str_has_prefix(said, "ready\n"));
}

void rig_wait_end(LmtpRig *rig)
{
    int status = 0;
    g_assert_cmpint(waitpid(rig->pid, &status, 0), ==, rig->pid);
    g_assert_true(WIFEXITED(status));
    g_assert_cmpint(WEXITSTATUS(status), ==, CHILD_EXIT_OK);
    close(rig->status);
}

void rig_stop(LmtpRig *rig)
{
    kill(rig->pid, SIGTERM);
    rig_wait_end(rig);
}

int rig_dial(LmtpRig *rig, int which)
{
    struct sockaddr_storage address;
    socklen_t length = sizeof address;
    g_assert_cmpint(getsockname(rig->sockets[which], (struct sockaddr *)&address, &length), ==, 0);
    int fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    g_assert_cmpint(connect(fd, (struct sockaddr *)&address, length), ==, 0);
    return fd;
}

void client_say(int fd, const char *text)
{
    size_t length = strlen(text);
    g_assert_cmpint(send(fd, text, length, MSG_NOSIGNAL), ==, (ssize_t)length);
}

/* Reads until a whole line begins with code; returns all that was read. */
char *client_hear(int fd, const char *code)
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

void client_expect(int fd, const char *code)
{
    g_free(client_hear(fd, code));
}

void client_expect_end(int fd)
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

int rig_greet(LmtpRig *rig, int which)
{
    int fd = rig_dial(rig, which);
    client_expect(fd, "220 lists.example.com");
    client_say(fd, "LHLO client.example\r\n");
    client_expect(fd, "250 SIZE");
    return fd;
}
