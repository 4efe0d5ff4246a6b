/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/server/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "runners/process.h"

void server_greet_peer(const struct sockaddr *address, int fd, char peer[SERVER_PEER_SIZE])
{
    const void *host = NULL;
    if (address && address->sa_family == AF_INET)
        host = &((const struct sockaddr_in *)(const void *)address)->sin_addr;
    else if (address && address->sa_family == AF_INET6)
        host = &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr;
    if (host)
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    if (!host || !inet_ntop(address->sa_family, host, peer, SERVER_PEER_SIZE))
        g_strlcpy(peer, "unix", SERVER_PEER_SIZE);
}

void server_progress(Server *server)
{
    server->progress++;
}

void server_done(Server *server)
{
    server->done++;
    server->progress++;
}

void server_end(Server *server)
{
    if (server->leaving)
        event_base_loopbreak(server->base);
}

static void beat(Server *server)
{
    size_t pending = server->spec->pending ? server->spec->pending(server) : 0;
    child_beat(server->progress, server->done, pending, 0, NULL);
}

static void leave(Server *server)
{
    if (server->leaving)
        return;
    server->leaving = true;
    event_del(server->wake); /* stays readable from now on */
    server->spec->leave(server);
}

static void on_wake(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    (void)what;
    child_reopen(); /* nothing is kept open by name */
    if (child_stopping())
        leave(data);
}

static void on_heartbeat(evutil_socket_t fd, short what, void *data)
{
    (void)fd;
    (void)what;
    beat(data);
    if (child_stopping()) /* the master died */
        leave(data);
}

static bool start(void *data, const Process *process, GError **error)
{
    Server *server = data;
    server->child = process->child;
    server->config = process->config;
    struct event_config *settings = event_config_new();
    event_config_set_flag(settings, EVENT_BASE_FLAG_NOLOCK);
    server->base = event_base_new_with_config(settings);
    event_config_free(settings);
    server->wake = event_new(server->base, server->child->wake_fd, EV_READ | EV_PERSIST, on_wake, server);
    server->heartbeat = event_new(server->base, -1, EV_PERSIST, on_heartbeat, server);
    if (server->child->listen_fds == 0)
        return fail(error, FAIL_CONFIG,
                    "no listening socket was handed over: [runner.%s] listen is empty, or this was "
                    "not started by listrunner-master",
                    server->child->runner);
    for (unsigned i = 0; i < server->child->listen_fds; i++) {
        int fd = SERVER_SOCKET(i);
        int listens = 0;
        if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &(socklen_t){sizeof listens}) != 0 || !listens)
            return fail(error, FAIL_CONFIG, "descriptor %d is no listening socket", fd);
        fcntl(fd, F_SETFD, FD_CLOEXEC);
        fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
    }
    server->started = server->spec->start(server, error);
    if (server->started)
        server->spec->begin(server);
    return server->started;
}

static void serve(void *data)
{
    Server *server = data;
    int64_t interval = config_duration(server->config, "master", "heartbeat_interval");
    event_add(server->heartbeat, &(struct timeval){interval / CLOCK_SECOND, interval % CLOCK_SECOND});
    event_add(server->wake, NULL);
    beat(server);
    event_base_dispatch(server->base);
    beat(server);
}

static void stop(void *data)
{
    Server *server = data;
    if (server->started)
        server->spec->stop(server);
    event_free(server->wake);
    event_free(server->heartbeat);
    event_base_free(server->base);
}

int server_main(const ServerSpec *spec, void *data, int argc, char **argv)
{
    const ProcessSpec process = {.name = spec->name, .start = start, .work = serve, .stop = stop};
    Server server = {.spec = spec, .data = data};
    return process_main(&process, &server, argc, argv);
}
