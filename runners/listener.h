/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The skeleton of a listener: a program that serves the sockets the master
 * bound for it. Its main is
 *
 *   int main(int argc, char **argv) { return listener_main(&spec, argc, argv); }
 *
 * The skeleton starts and ends as runners/server.h says, accepts up to max_sessions clients, keeps the time-outs, and
 * on SIGTERM stops accepting, lets the sessions end, and leaves. Beyond max_sessions a client hears the spec's
 * busy line and is closed, at once when this is the only instance, else when
 * none of the others took it within a tenth of a second. When the process is
 * out of descriptors, clients wait in the kernel's queue until there is room.
 *
 * The keys max_sessions, command_timeout and session_timeout are read from
 * the section that the spec names. Everything runs in one thread.
 */
#include <event2/event.h>
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/config.h"
#include "net/tls_door.h"

typedef struct Listener Listener;
typedef struct Connection Connection;

typedef struct ListenerSpec {
    const char *name;    /* for the log and the usage text */
    const char *section; /* of its settings */
    const char *busy;    /* "421 4.3.2 ...", without line end; NULL: further clients wait in the kernel's queue */
    bool (*start)(Listener *listener, GError **error);
    /* A client came: sets connection_set_data(); returns the string whose
     * bytes are to be sent (net/line.h), which lives until close(). */
    GString *(*open)(Connection *connection);
    /* Return the session when all that is said is to be said over TLS; NULL: it is not. */
    TlsSession *(*secure)(Listener *listener, int fd);
    /* As LineEvents.receive. */
    size_t (*receive)(Connection *connection, const char *octets, size_t length);
    /* As LineEvents.awaited. */
    bool (*waiting)(Connection *connection);
    /* Silent for command_timeout, or older than session_timeout. */
    void (*expire)(Connection *connection, const char *why);
    /* The process wants to leave: ends now, or after what is in progress. */
    void (*leave)(Connection *connection);
    void (*close)(Connection *connection);
    /* Work in progress that no connection stands for; the process
     * does not leave while there is any, and calls it the backlog. */
    size_t (*pending)(Listener *listener);
    void (*stop)(Listener *listener);
} ListenerSpec;

int listener_main(const ListenerSpec *spec, int argc, char **argv);

const Config *listener_config(const Listener *listener);
struct event_base *listener_base(Listener *listener);
void listener_set_data(Listener *listener, void *data);
void *listener_data(const Listener *listener);

/* Something moved: the next beat says so. */
void listener_progress(Listener *listener);
/* Tell the listener that the number which pending() returns went down. */
void listener_settled(Listener *listener);

Listener *connection_listener(const Connection *connection);
/* "127.0.0.1", "::1" or "unix". */
const char *connection_peer(const Connection *connection);
const TlsSession *connection_tls(const Connection *connection); /* not in open() */
void connection_set_data(Connection *connection, void *data);
void *connection_data(const Connection *connection);
/* See line_resume() and line_finish(). */
void connection_resume(Connection *connection);
void connection_finish(Connection *connection);
