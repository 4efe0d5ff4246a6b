/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Serve the control socket of a process of the runner out (base/control.h). It tells what is known of destinations, and
 * takes the operator's orders about them. The requests:
 *
 *   {"verb":"destinations"}                         all, those with most waiting first; "limit":N for no more than N
 *   {"verb":"destinations","name":"example.com"}    one, by its name or by a domain's
 *   {"verb":"suspend","name":...}                   nothing goes to it until "resume"
 *   {"verb":"resume","name":...}                    also ends its death and forgets its pace
 *   {"verb":"leave","entries":["HASH",...]}         those of these entries that are held go back to their queue, under
 *                                                   their names, as soon as none of their mail is under way; for a few
 *                                                   seconds none of them is claimed, so that a command can take them
 *   {"verb":"rate","name":...,"rate":"30/m"}        "none": no limit; "default": that of the transport again
 *
 * With "destinations", "trouble":true asks for destinations alone that are dead or suspended, or throttled while mail
 * waits for them. All verbs but "destinations" are for root and the process's own user. Each request may name a
 * "transport". Without one, suspend, resume and rate apply to every transport that knows the name, or to the default
 * one. The reply has "ok", and "instance", "total" (destinations there are) and "destinations": objects whose members
 * the command line prints. Orders hold across restarts (saved_state.h).
 */
#include <event2/event.h>
#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

#include "runners/outgoing/transport.h"

typedef struct ControlServer ControlServer;

/* The process, as its operator sees it. */
typedef struct ControlOwner {
    GPtrArray *transports; /* of Transport */
    Transport *standard;   /* the default one */
    unsigned instance;
    /* Carry out "leave", and return the reply, a new reference. */
    json_t *(*leave)(void *data, const json_t *entries);
    /* An order was carried out, which is to be remembered (saved_state.h). */
    void (*ordered)(void *data);
} ControlOwner;

/* Make the socket at path, and answer on it in the loop of base. owner is borrowed. FAIL_LATER: it cannot be made. */
ControlServer *control_server_new(struct event_base *base, const char *path, const ControlOwner *owner, void *data,
                                  GError **error);
/* Return whether the socket is still there under its name. */
bool control_server_present(const ControlServer *server);
/* Hang up and remove the socket. */
void control_server_free(ControlServer *server);
