/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Start and end a program that serves the sockets which the master bound for it: read the configuration, open the log,
 * take the listening sockets over (base/contract.h), run the event loop, beat, and on SIGTERM let what is in progress
 * end. The caller accepts on the sockets and speaks there: runners/server/listener.h does so in lines,
 * runners/server/http.h in HTTP. Everything runs in one thread.
 */
#include <event2/event.h>
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/child.h"
#include "base/config.h"
#include "base/contract.h"

typedef struct Server Server;
typedef struct ServerSpec {
    const char *name; /* for the log and the usage text */
    /* Get ready to accept. The sockets are SERVER_SOCKET(0 .. child->listen_fds - 1), non-blocking and
     * close-on-exec. */
    bool (*start)(Server *server, GError **error);
    /* Accept from now on: everything is ready, and the master is about to hear so. */
    void (*begin)(Server *server);
    /* Accept nothing more and end what is in progress. Call server_end() when all of it has ended, now or later. */
    void (*leave)(Server *server);
    /* Return the number of things in progress beyond connections, which the master is told as the backlog; may be
     * NULL. */
    size_t (*pending)(Server *server);
    /* Free all that start() made. Not called when start() failed. */
    void (*stop)(Server *server);
} ServerSpec;

/* The process as its functions see it; all is there from start() on. They only read it. */
struct Server {
    const ServerSpec *spec;
    const Child *child;   /* with the name of [runner.NAME], the number of instances, and that of sockets */
    const Config *config;
    struct event_base *base;
    void *data;           /* of server_main() */
    bool leaving;
    /* Only server.c uses these. */
    struct event *wake, *heartbeat;
    uint64_t progress, done;
    bool started;
};

/* Run the program; data is Server.data. Return the exit code. */
int server_main(const ServerSpec *spec, void *data, int argc, char **argv);

#define SERVER_SOCKET(index) (CHILD_LISTEN_FD + (int)(index))
#define SERVER_PEER_SIZE 46 /* INET6_ADDRSTRLEN */
/* Name the client at this address (NULL: not known) in peer: "127.0.0.1", "::1", or "unix". Let a client on a network
 * get each answer without delay (TCP_NODELAY on fd). */
void server_greet_peer(const struct sockaddr *address, int fd, char peer[SERVER_PEER_SIZE]);

/* Note that work made progress, which the next report to the master says. */
void server_progress(Server *server);
/* Note that one session or the like was done, which the next report counts. */
void server_done(Server *server);
/* Leave the event loop. Without effect unless the process is leaving. */
void server_end(Server *server);
