/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The runner's own control socket (base/control.h): what is known of destinations, and the operator's orders about
 * them.
 *
 *   {"verb":"destinations"}                         all, those with most waiting first; "limit":N for no more than N
 *   {"verb":"destinations","name":"example.com"}    one, by its name or by a domain's
 *   {"verb":"suspend","name":...}                   nothing goes to it until
 *   {"verb":"resume","name":...}                    also ends its death and forgets its pace
 *   {"verb":"leave","entries":["HASH",...]}         what is held of these goes back to its queue, under its name, as
 *                                                   soon as none of it is under way; none of these is claimed for a
 *                                                   few seconds, so that a command can take it
 *   {"verb":"rate","name":...,"rate":"30/m"}        "none": no limit; "default": that of the transport again
 *
 * "trouble":true asks for those only that are dead or suspended, or throttled while mail waits for them. All but
 * destinations is for root and our own user.
 * Each may name a "transport"; without, suspend, resume and rate apply to every transport that knows the name, or to
 * the default one. The reply has "ok", and "instance", "total" (destinations there are) and "destinations": objects
 * whose members the command line prints. Orders hold across restarts (saved_state.h).
 */
#include <event2/event.h>
#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

typedef struct ControlServer ControlServer;

typedef struct ControlOwner {
    /* The reply to a request, a new reference; NULL with *error. */
    json_t *(*answer)(void *data, const json_t *request, GError **error);
} ControlOwner;

/* FAIL_LATER when the socket cannot be made. */
ControlServer *control_server_new(struct event_base *base, const char *path, const ControlOwner *owner, void *data,
                                  GError **error);
/* Whether its socket still has its name. */
bool control_server_present(const ControlServer *server);
/* Hang up and remove the socket. */
void control_server_free(ControlServer *server);
