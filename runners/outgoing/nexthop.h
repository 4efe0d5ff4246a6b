/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Know where the recipients of one batch go: a next hop. With MX lookups each domain is a next hop. With a relay, the
 * relay is one, and for mail that keeps to one kind of address (KEY_FAMILY) there is another for each kind. A next hop
 * knows the hosts to connect to, and its destination: domains with the same set of MX hosts share one destination.
 * After their time, the hosts are looked up again; the old ones are used until the answer has come.
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
    int64_t without[SMTP_FALLBACK_EHLO + 1]; /* monotonic, by SmtpFallback: until then that feature is not used here */
} Host;

typedef struct Nexthop {
    char *name;
    struct Transport *transport;
    Destination *destination;
    char *sender;      /* of a relay: for the mail of this sender domain, which it refuses; NULL: for all other */
    int family;        /* of a relay: AF_INET, AF_INET6, of its addresses only these; AF_UNSPEC: all */
    GArray *hosts;     /* of Host; empty: not known */
    int64_t expires;   /* monotonic */
    MxLookup *lookup;
    Resolve *resolve;
    /* Why nothing can be sent until refused_until (monotonic), when it is asked again; text NULL: no reason. */
    char *status, *text;
    unsigned code;
    bool never;
    int64_t refused_until;
    size_t batches;    /* batches for this next hop, waiting or out */
    int64_t last_used; /* monotonic */
} Nexthop;

/* Make a next hop whose hosts are not known; transport is borrowed, name is copied. */
Nexthop *nexthop_new(struct Transport *transport, const char *name);
void nexthop_free(Nexthop *nexthop);

/* Return true while it is known that nothing can be sent to the next hop. */
bool nexthop_refused(const Nexthop *nexthop, int64_t monotonic);
/* Note that nothing can be sent, and why (answer, which says whether for good), until this time. */
void nexthop_refuse(Nexthop *nexthop, const MxAnswer *answer, int64_t until);

/* Replace the hosts by those of an answer, which are copied. The refusal is forgotten; failures of an address stay
 * known. */
void nexthop_take_mx(Nexthop *nexthop, const MxAnswer *answer);
void nexthop_take_addresses(Nexthop *nexthop, const struct addrinfo *addresses, const char *name, int64_t expires);

/* Set as its only host a socket on this machine, which is never looked up again. */
void nexthop_take_path(Nexthop *nexthop, const char *path);

/* Return the indices of the next hop's hosts in the order in which one connection tries them: by preference, equal ones
 * in an order of chance. The addresses of one host are IPv6 and IPv4 by turns, so that a family that does not work
 * costs one time-out. Hosts that failed lately, and the one named avoid (NULL: none), come last. g_free(); NULL: there
 * are none. */
unsigned *nexthop_order(const Nexthop *nexthop, int64_t monotonic, const char *avoid, unsigned *count);
