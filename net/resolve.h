/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Look the addresses of host names up by the system's own rules (hosts file, resolver), without making an event loop
 * wait. A numeric address needs no look-up; a name is looked up in a thread of its own.
 */
#include <event2/event.h>
#include <glib.h>
#include <netdb.h>
#include <stdbool.h>

typedef struct Resolve Resolve;

/* Take the answer. Free addresses with freeaddrinfo(); it is NULL when the look-up failed and error (FAIL_LATER,
 * borrowed) is set. */
typedef void ResolveDone(struct addrinfo *addresses, const GError *error, void *data);

/* Ask for the stream addresses of host; host and port are copied. done is called once, later, from the loop of base
 * (the loop of the calling thread), unless resolve_cancel() comes first. The Resolve is freed before done is called. */
Resolve *resolve_start(struct event_base *base, const char *host, const char *port, ResolveDone *done, void *data);

/* Give up a look-up and free it, so that done is not called. Do not call this from done, nor later. */
void resolve_cancel(Resolve *resolve);
