/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Find where the mail of a domain goes (RFC 5321 section 5.1, RFC 7505): from a domain to socket addresses in the order
 * in which they are to be tried.
 *
 * Hosts of lower preference come first. The order of hosts of equal preference is drawn anew at each look-up, and the
 * addresses of one host are IPv6 and IPv4 by turns. Without an MX record the domain itself is the host. The address
 * literals "[192.0.2.1]" and "[IPv6:2001:db8::1]" are not looked up. A domain in UTF-8 is looked up by its A-labels
 * (IDNA 2008).
 *
 * Answers are kept as long as their records allow, within the bounds of MxSettings. When there are more than
 * cache_size, the answer that was not used for the longest time is dropped. Look-ups for one domain at the same time
 * share the questions. An answer MX_LATER is not kept, since the next one may differ.
 */
#include <event2/event.h>
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* Return the domain in lower case and A-labels, or NULL when the text can be no domain. g_free() */
char *mx_domain_normal(const char *domain);

typedef struct MxResolver MxResolver;
typedef struct MxLookup MxLookup;

typedef enum MxFamily { MX_IPV4 = 1, MX_IPV6 = 2 } MxFamily;

typedef struct MxSettings {
    const char *servers; /* HOST[:PORT],[IPv6]:PORT ...; NULL: those of /etc/resolv.conf */
    /* Names and addresses of ourselves, NULL-terminated: a host among these, and all of the same or
     * a higher preference, are not tried (mail would loop). NULL: none. */
    const char *const *own;
    bool private_addresses; /* mail goes to loopback, private and other addresses that are not public, too */
    unsigned families;      /* of MxFamily; 0: both */
    size_t cache_size;      /* domains; 0: 10000 */
    int64_t lifetime_min_us, lifetime_max_us; /* of a kept answer; 0: 5 s, 1 d */
    size_t address_limit;   /* addresses in an answer, of both families if there are; 0: 5 */
    size_t parallel;        /* domains asked about at a time, further ones wait; 0: 200 */
    int64_t timeout_us;     /* of the first try of a question; 0: 5 s */
    unsigned tries;         /* 0: 3 */
} MxSettings;

/* Make a resolver. The settings are copied. NULL with FAIL_CONFIG: one of the servers is no address. */
MxResolver *mx_resolver_new(struct event_base *base, const MxSettings *settings, GError **error);
/* Free the resolver and every look-up in progress; done is not called for those. */
void mx_resolver_free(MxResolver *resolver);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(MxResolver, mx_resolver_free)

typedef enum MxOutcome {
    MX_FOUND,
    MX_LATER, /* DNS gives no answer now, or only addresses that are not public: status 4.x.x */
    MX_NEVER, /* the domain takes no mail, does not exist, or is ourselves: status 5.x.x */
} MxOutcome;

typedef struct MxHost {
    const char *name; /* for the log and for TLS: "mx1.example.com"; of an address literal its text, "192.0.2.1" */
    uint16_t preference;
    struct sockaddr_storage address; /* with the port */
    socklen_t length;
} MxHost;

typedef struct MxAnswer {
    MxOutcome outcome;
    const char *domain;  /* as it was looked up, lower case, A-labels */
    const MxHost *hosts; /* in the order of trial */
    size_t count;        /* 0 unless MX_FOUND */
    /* A text that all domains with the same MX hosts share, "mx1.example.com,mx2.example.com" (sorted), for limits that
     * belong to the operator of these hosts. The domain itself where it has no such hosts. */
    const char *key;
    const char *status;  /* "5.1.10"; NULL when MX_FOUND */
    unsigned code;       /* the SMTP code that goes with status: 556, 550, 450; 0 when MX_FOUND */
    const char *text;    /* one line for people; NULL when MX_FOUND */
    int64_t expires;     /* clock_monotonic(): not to be used later; 0 when MX_LATER */
} MxAnswer;

/* Take the answer, which lives until the call returns. The callback may look up again and free the resolver. */
typedef void MxDone(const MxAnswer *answer, void *data);

/* Begin to look up where mail for the domain goes; the addresses get this port. done is called once, later, from the
 * loop, unless mx_cancel() comes first. */
MxLookup *mx_lookup(MxResolver *resolver, const char *domain, uint16_t port, MxDone *done, void *data);
/* Give up a look-up, so that done is not called. Do not call this after done was called. */
void mx_cancel(MxLookup *lookup);

/* Figures since the start, for tests (t/tools/mx-lookup). */
typedef struct MxFigures {
    uint64_t lookups, cached; /* asked for; answered from memory */
    size_t entries;           /* in memory now */
    size_t running, waiting;  /* domains being asked about; that wait for their turn */
} MxFigures;

/* Return the figures. */
MxFigures mx_figures(const MxResolver *resolver);
