/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "net/line.h"

#include <fcntl.h>
#include <openssl/pem.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "t/doubling.h"
#include "t/suite.h"

#define ROOM 1000 /* bytes of output that wait before the protocol reads no further */

/* A protocol whose commands are single bytes: '.' gets a long reply at once, 'w' gets one later (nothing else is read
 * until then), 'q' ends. The peer's bytes are in the socket before the loop begins. */
typedef struct World {
    struct event_base *base;
    GString *output;
    Line *line;
    struct event *later;
    int fd, peer;
    unsigned commands;
    bool waiting, closed;
} World;

static void reply(World *world)
{
    world->commands++;
    g_string_append(world->output, "a reply longer than what it answers\n");
}

static size_t receive(Line *line, const char *octets, size_t length, void *data)
{
    World *world = data;
    size_t used = 0;
    while (used < length && !world->waiting && world->output->len < ROOM) {
        char octet = octets[used++];
        if (octet == '.')
            reply(world);
        else if (octet == 'q')
            line_finish(line);
        world->waiting = octet == 'w';
    }
    if (world->waiting)
        event_add(world->later, &(struct timeval){.tv_usec = 1000});
    return used;
}

static void on_later(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    (void)what;
    World *world = data;
    world->waiting = false;
    reply(world);
    line_resume(world->line);
}

static void expired(Line *line, LineTime which, void *data)
{
    (void)which;
    (void)data;
    line_finish(line);
}

static bool awaited(Line *line, void *data)
{
    (void)line;
    return ((World *)data)->waiting;
}

static void closed(Line *line, void *data)
{
    World *world = data;
    world->closed = true;
    line_free(line);
    event_base_loopbreak(world->base);
}

static const LineEvents events = {.receive = receive, .expired = expired, .awaited = awaited, .closed = closed};

static World *world_new(void)
{
    int pair[2];
    World *world = g_new0(World, 1);
    g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), ==, 0);
    fcntl(pair[0], F_SETFL, O_NONBLOCK);
    world->fd = pair[0];
    world->peer = pair[1];
    world->base = event_base_new();
    world->output = g_string_new(NULL);
    world->line = line_new(world->base, pair[0], world->output, &events, world);
    world->later = evtimer_new(world->base, on_later, world);
    return world;
}

static void world_free(World *world)
{
    g_assert_true(world->closed);
    event_free(world->later);
    event_base_free(world->base);
    g_string_free(world->output, TRUE);
    if (world->peer >= 0)
        close(world->peer);
    g_free(world);
}

static void say(World *world, const char *octets)
{
    size_t length = strlen(octets);
    g_assert_cmpint(write(world->peer, octets, length), ==, (gssize)length);
}

/* Serves until the line is closed; what the peer read, in lines. idle_us bounds a line that stands still. */
static unsigned serve(World *world, int64_t idle_us)
{
    line_set_idle(world->line, idle_us);
    line_resume(world->line);
    event_base_dispatch(world->base);
    unsigned lines = 0;
    char octets[4096];
    for (ssize_t got; (got = read(world->peer, octets, sizeof octets)) > 0;)
        for (ssize_t at = 0; at < got; at++)
            lines += octets[at] == '\n';
    return lines;
}

/* The protocol stops reading when much output waits: when that is sent, what came with it has its turn, though no
 * further byte comes. */
static void goes_on_after_output(void)
{
    World *world = world_new();
    g_autofree char *commands = g_strnfill(1000, '.');
    say(world, commands);
    say(world, "q");
    g_assert_cmpuint(serve(world, 10 * 1000000), ==, 1000);
    g_assert_cmpuint(world->commands, ==, 1000);
    world_free(world);
}

/* A peer that says a text, reads and forgets what it is told, and goes. */
typedef struct Talker {
    World *world;
    const char *text;
    size_t left;
} Talker;

static void on_peer(evutil_socket_t fd, short what, void *data)
{
    Talker *talker = data;
    char octets[4096];
    if (what & EV_READ)
        while (read(fd, octets, sizeof octets) > 0)
            ;
    if (!(what & EV_WRITE) || talker->left == 0)
        return;
    ssize_t sent = send(fd, talker->text, MIN(talker->left, sizeof octets), MSG_NOSIGNAL);
    if (sent > 0) {
        talker->text += sent;
        talker->left -= (size_t)sent;
    }
    if (talker->left == 0)
        shutdown(fd, SHUT_WR);
}

static void listen_to(const char *text, size_t length, void *data)
{
    (void)data;
    World *world = world_new();
    Talker talker = {world, text, length};
    fcntl(world->peer, F_SETFL, O_NONBLOCK);
    struct event *peer = event_new(world->base, world->peer, EV_READ | EV_WRITE | EV_PERSIST, on_peer, &talker);
    event_add(peer, NULL);
    line_resume(world->line);
    event_base_dispatch(world->base);
    event_free(peer);
    world_free(world);
}

/* Many commands at once, few, and none. */
static void hostile(void)
{
    static const Doubling inputs[] = {
        {.unit = "."}, {.unit = "x"}, {.unit = ".", .next = "x"}, {.unit = "xxxxxxxxxxxxxxx."}};
    doubling_check_all(inputs, G_N_ELEMENTS(inputs), listen_to, NULL);
}

/* The peer's side of the connection is closed for writing; it still reads. */
static void half_closed(void)
{
    World *world = world_new();
    say(world, ".w..w.");
    shutdown(world->peer, SHUT_WR);
    g_assert_cmpuint(serve(world, 10 * 1000000), ==, 6);
    world_free(world);
}

static void closed_while_waiting(void)
{
    World *world = world_new();
    say(world, "w");
    close(world->peer);
    world->peer = -1;
    line_resume(world->line);
    event_base_dispatch(world->base);
    g_assert_cmpuint(world->commands, ==, 1); /* what was begun is done, then nobody is there to hear of it */
    world_free(world);
}

static void nothing_to_say(void)
{
    World *world = world_new();
    shutdown(world->peer, SHUT_WR);
    g_assert_cmpuint(serve(world, 0), ==, 0);
    world_free(world);
}

static void idle(void)
{
    World *world = world_new();
    say(world, ".");
    g_assert_cmpuint(serve(world, 10000), ==, 1);
    world_free(world);
}

/* The loop goes on for ever when a line is never closed: it ends here, and world_free() says that. */
static void serve_silent(World *world)
{
    event_base_loopexit(world->base, &(struct timeval){.tv_sec = 60});
    line_resume(world->line);
    event_base_dispatch(world->base);
}

/* The peer asks and never reads. At the deadline the line is closed with what the socket did not take, and nobody waits
 * until the idle time is over, too. */
static void never_reads(void)
{
    World *world = world_new();
    g_autofree char *commands = g_strnfill(100, '.');
    line_set_idle(world->line, INT64_C(1000) * 1000000);
    line_set_deadline(world->line, 100000);
    fcntl(world->peer, F_SETFL, O_NONBLOCK);
    do { /* until the socket takes no more, and replies wait here */
        send(world->peer, commands, strlen(commands), MSG_NOSIGNAL);
        line_resume(world->line);
        event_base_loop(world->base, EVLOOP_NONBLOCK);
    } while (!world->closed && world->output->len == 0);
    g_assert_false(world->closed);
    serve_silent(world);
    world_free(world);
}

/* A door whose certificate is its own authority. */
static TlsDoor *open_door(const char *path)
{
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *certificate = X509_new();
    X509_gmtime_adj(X509_getm_notBefore(certificate), 0);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 3600);
    X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_ASC, (const unsigned char *)"test",
                               -1, -1, 0);
    X509_set_issuer_name(certificate, X509_get_subject_name(certificate));
    X509_set_pubkey(certificate, key);
    g_assert_cmpint(X509_sign(certificate, key, EVP_sha256()), >, 0);
    FILE *file = fopen(path, "w");
    g_assert_true(file && PEM_write_PrivateKey(file, key, NULL, NULL, 0, NULL, NULL) == 1 &&
                  PEM_write_X509(file, certificate) == 1 && fclose(file) == 0);
    X509_free(certificate);
    EVP_PKEY_free(key);
    g_autoptr(GError) error = NULL;
    TlsDoor *door = tls_door_new(&(TlsFiles){path, path, path}, &error);
    g_assert_no_error(error);
    return door;
}

static void on_leave(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    (void)what;
    const World *world = data;
    line_finish(world->line);
    line_resume(world->line);
}

/* The peer says nothing at all, or a part of a handshake: the line ends when its time is over, or when the protocol
 * leaves, though its last words cannot be sent. */
static void silent_in_handshake(void)
{
    static const char *const said[] = {"", "\x16\x03\x01"};
    g_autofree char *path = g_strdup_printf("%s/line-t-%d.pem", g_get_tmp_dir(), (int)getpid());
    g_autoptr(TlsDoor) door = open_door(path);
    unlink(path);
    for (unsigned at = 0; at < 2 * G_N_ELEMENTS(said); at++) {
        bool leaves = at >= G_N_ELEMENTS(said);
        World *world = world_new();
        line_set_tls(world->line, tls_session_new(door, world->fd));
        say(world, said[at % G_N_ELEMENTS(said)]);
        reply(world); /* the greeting */
        line_set_idle(world->line, leaves ? INT64_C(1000) * 1000000 : 10000);
        if (leaves)
            event_base_once(world->base, -1, EV_TIMEOUT, on_leave, world, &(struct timeval){.tv_usec = 10000});
        serve_silent(world);
        g_assert_cmpuint(world->commands, ==, 1);
        world_free(world);
    }
}

SUITE("line")
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/line/goes-on-after-output", goes_on_after_output);
    g_test_add_func("/line/half-closed", half_closed);
    g_test_add_func("/line/hostile", hostile);
    g_test_add_func("/line/closed-while-waiting", closed_while_waiting);
    g_test_add_func("/line/nothing-to-say", nothing_to_say);
    g_test_add_func("/line/idle", idle);
    g_test_add_func("/line/never-reads", never_reads);
    g_test_add_func("/line/silent-in-handshake", silent_in_handshake);
    return g_test_run();
}
