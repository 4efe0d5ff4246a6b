/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * A next hop: what recipients are sorted by. With a relay there is one, the relay, and another one for mail that keeps
 * to one kind of address (KEY_FAMILY); with MX lookups each domain is one. It knows the hosts to connect to, and its
 * destination: domains with the same set of MX hosts share one. What is known of hosts is asked again when its time is
 * over, and used until the answer has come.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "net/mx.h"
#include "net/resolve.h"
#include "net/smtp_client.h"
#include "runners/outgoing/destination.h"

typedef struct Host {
    char *name; /* for the log and for TLS */
    unsigned preference;
    struct sockaddr_storage address;
    socklen_t length;
    int64_t bad_until; /* monotonic: others are tried first */
    int64_t without[SMTP_FALLBACK_EHLO + 1]; /* monotonic: what of SmtpFallback it is spared until then */
} Host;

typedef struct Nexthop {
    char *name;
    struct Transport *transport;
    Destination *destination;
    int family;        /* of a relay: AF_INET, AF_INET6, of its addresses only these; AF_UNSPEC: all */
    GArray *hosts;     /* of Host; empty: not known */
    int64_t expires;   /* monotonic */
    MxLookup *lookup;
    Resolve *resolve;
    /* Why nothing can be sent, until (monotonic) it is asked again; NULL: no reason. */
    char *status, *text;
    unsigned code;
    bool never;
    int64_t refused_until;
    size_t batches;    /* that name it */
    int64_t last_used; /* monotonic */
} Nexthop;

Nexthop *nexthop_new(struct Transport *transport, const char *name);
void nexthop_free(Nexthop *nexthop);

/* True while it is known that nothing can be sent. */
bool nexthop_refused(const Nexthop *nexthop, int64_t monotonic);
void nexthop_refuse(Nexthop *nexthop, const MxAnswer *answer, int64_t until);

void nexthop_take_mx(Nexthop *nexthop, const MxAnswer *answer);
void nexthop_take_addresses(Nexthop *nexthop, const struct addrinfo *addresses, const char *name, int64_t expires);

/* A socket on this host, known for good. */
void nexthop_take_path(Nexthop *nexthop, const char *path);

/* Return the indices of its hosts in the order in which one connection tries them: by preference, equal ones in an
 * order of chance, the addresses of one host IPv6 and IPv4 by turns, so that a family that does not work costs one
 * time-out.
 * Those that failed lately, and the one named avoid (NULL: none), come last. g_free(); NULL when there are none. */
unsigned *nexthop_order(const Nexthop *nexthop, int64_t monotonic, const char *avoid, unsigned *count);
