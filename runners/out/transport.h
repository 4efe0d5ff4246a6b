/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * A transport: how mail leaves, as [transport.NAME] says. It keeps its
 * connections (at most its share of `concurrency`), gives each one batch after
 * another, and keeps away from a server that does not answer: after a failed
 * connection, the next is tried when backoff_reconnect() says so, one at a time until one
 * succeeds.
 *
 * It asks its owner for work and hands back every batch it got, with the
 * fates of its recipients.
 */
#include <event2/event.h>
#include <glib.h>
#include <stdbool.h>

#include "base/config.h"
#include "runners/out/job.h"

typedef struct TransportOwner {
    /* The next batch of at most limit recipients, or NULL. */
    Batch *(*next)(void *data, Transport *transport, size_t limit);
    /* How many batches wait, counted to enough at most. */
    size_t (*waiting)(void *data, Transport *transport, size_t limit, size_t enough);
    /* A batch comes back; it is the owner's again. */
    void (*finished)(void *data, Batch *batch);
    /* No connection can be had. reason is for the log and the recipients. */
    void (*failed)(void *data, Transport *transport, const char *reason);
} TransportOwner;

/* instances: how many processes share the limits. owner and data are borrowed. */
Transport *transport_new(struct event_base *base, const Config *config, const char *name, unsigned instances,
                         const TransportOwner *owner, void *data);
/* Drops every connection at once: what is in flight stays undone. */
void transport_free(Transport *transport);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Transport, transport_free)

const char *transport_name(const Transport *transport);

/* Gives work to idle connections and opens new ones where there is more. Called by the owner
 * when it has work and the results so far are safe. */
void transport_feed(Transport *transport);

/* Whether any connection has come about and stands. */
bool transport_connected(const Transport *transport);

/* Microseconds until a connection may be tried again; 0: now. */
int64_t transport_closed_for(const Transport *transport);
/* The last failure while the server cannot be reached, else NULL. */
const char *transport_trouble(const Transport *transport);

/* Takes no more work and says QUIT where it can. */
void transport_stop(Transport *transport);
size_t transport_busy(const Transport *transport);        /* batches that are out */
size_t transport_connections(const Transport *transport);
