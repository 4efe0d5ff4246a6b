/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Run a listener: a program that serves the sockets which the master bound for it, and speaks in lines. Its main is
 *
 *   int main(int argc, char **argv) { return listener_main(&spec, argc, argv); }
 *
 * The skeleton starts and ends as runners/server/server.h says, accepts up to max_sessions clients, and keeps the
 * time-outs. On SIGTERM it stops accepting, lets the sessions end, and leaves. Beyond max_sessions a client hears the
 * spec's busy line and is closed; with TLS, the client that has been silent for the longest time since it came gives
 * its place to the next one instead. Where there are other instances, they first have a tenth of a second to take the
 * client. When the process is out of descriptors, clients wait in the kernel's queue until there is room.
 *
 * The keys max_sessions, command_timeout and session_timeout are read from the section that the spec names. Everything
 * runs in one thread.
 */
#include <event2/event.h>
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/config.h"
#include "net/line.h"

typedef struct Listener Listener;
typedef struct Connection Connection;

typedef struct ListenerSpec {
    const char *name;    /* for the log and the usage text */
    const char *section; /* of its settings */
    const char *busy;    /* "421 4.3.2 ...", without line end; NULL: they wait in the kernel's queue */
    /* Make what the sessions need, before any client is accepted. False: the process ends with the error. */
    bool (*start)(Listener *listener, GError **error);
    /* Begin a session with a new client: call connection_set_data(), and return the string whose bytes are to be sent
     * (net/line.h). The string must live until close(). */
    GString *(*open)(Connection *connection);
    /* Return the TLS session of a new connection, over which all is said; NULL: it is without TLS. The member may be
     * NULL. */
    TlsSession *(*secure)(Listener *listener, int fd);
    /* Take bytes that came, as LineEvents.receive (net/line.h). */
    size_t (*receive)(Connection *connection, const char *octets, size_t length);
    /* Say whether the client is waited for, as LineEvents.awaited. */
    bool (*waiting)(Connection *connection);
    /* End a session that was silent for command_timeout, or is older than session_timeout. why says which. */
    void (*expire)(Connection *connection, const char *why);
    /* End a session because the process is leaving: now, or after what is in progress. */
    void (*leave)(Connection *connection);
    /* Free the data of a connection that was closed. */
    void (*close)(Connection *connection);
    /* Return the number of things in progress that no connection stands for. The process does not leave while there are
     * any; the master is told the number as the backlog. May be NULL. */
    size_t (*pending)(Listener *listener);
    /* Free all that start() made, when the process ends. Not called when start() failed. */
    void (*stop)(Listener *listener);
} ListenerSpec;

/* Run the program, and return its exit code. */
int listener_main(const ListenerSpec *spec, int argc, char **argv);

const Config *listener_config(const Listener *listener);
struct event_base *listener_base(Listener *listener);
void listener_set_data(Listener *listener, void *data);
void *listener_data(const Listener *listener);

/* Note that work made progress, which the next report to the master says. */
void listener_progress(Listener *listener);
/* Call it when the number that pending() returns went down: a process that is leaving may then end. */
void listener_settled(Listener *listener);

Listener *connection_listener(const Connection *connection);
/* Return the client's address: "127.0.0.1", "::1" or "unix". */
const char *connection_peer(const Connection *connection);
const TlsSession *connection_tls(const Connection *connection); /* not in open() */
void connection_set_data(Connection *connection, void *data);
void *connection_data(const Connection *connection);
/* Do as line_resume() and line_finish() (net/line.h). */
void connection_resume(Connection *connection);
void connection_finish(Connection *connection);
