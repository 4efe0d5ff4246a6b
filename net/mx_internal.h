/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Declare what mx.c (the resolver and its memory), mx_query.c (asking about one domain) and mx_route.c (what was found,
 * and its order) share.
 */
#include "net/dns.h"
#include "net/mx.h"

/* The number of a domain's hosts that are looked at, those of the best preference. */
#define MX_HOSTS_MAX 32

/* A host of a domain. */
typedef struct MxTarget {
    char *name;
    uint16_t preference;
    GArray *four; /* of struct in_addr */
    GArray *six;  /* of struct in6_addr */
} MxTarget;

/* The knowledge of one domain; it is shared by reference count between the memory and answers on their way. */
typedef struct MxRoute {
    int references;
    char *domain;
    /* The next five, and expires, are those of MxAnswer (net/mx.h). */
    MxOutcome outcome;
    const char *status; /* static */
    unsigned code;
    char *text;
    char *key;
    GPtrArray *targets; /* of MxTarget, by preference, owned from mx_route_sort() on; NULL: mail can go to none */
    int64_t expires;
} MxRoute;

MxRoute *mx_route_new(const char *domain);
MxRoute *mx_route_ref(MxRoute *route);
void mx_route_unref(MxRoute *route);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(MxRoute, mx_route_unref)

MxTarget *mx_target_new(const char *name, uint16_t preference);
/* Put the targets in the order of preference, equals at random, and leave at most MX_HOSTS_MAX. Call it once all are
 * added: the array owns them from then on. */
void mx_route_sort(MxRoute *route);
/* Make the key (MxAnswer.key) of the targets' names. Before that it is the domain. */
void mx_route_set_key(MxRoute *route);
/* Make the route one to which no mail can go, with this outcome. Its hosts are dropped; text is taken over. */
void mx_route_refuse(MxRoute *route, MxOutcome outcome, unsigned code, const char *status, char *text);
/* When a target is this host, by a name or address in `own` (MxSettings.own), leave it out, and all targets of the same
 * or a worse preference. Refuse the route when none is left. The targets must be sorted. */
void mx_route_leave_own(MxRoute *route, const char *const *own);

/* Leave out the addresses that are not public, and return true when there were any. The owner of a domain chooses its
 * addresses, and could otherwise have mail delivered to a server that only this host reaches. */
bool mx_route_leave_private(MxRoute *route);
/* Refuse the route with MX_LATER, because none of its addresses is public: mail waits until the site allows them or it
 * is too old. */
void mx_route_refuse_private(MxRoute *route);

/* Return the addresses in the order in which they are to be tried, with this port, at most limit; g_free() the array.
 * The names in it are borrowed from the route. */
MxHost *mx_route_hosts(const MxRoute *route, uint16_t port, size_t limit, size_t *count);

/* Make the route of "[192.0.2.1]" or "[IPv6:2001:db8::1]"; mx_route_unref(). NULL: domain is no such literal. */
MxRoute *mx_route_literal(const char *domain);

/* Ask the DNS for the route of a domain. found is called once, from the loop or from within this function. It gets a
 * new reference to the route, or NULL when dns is being freed. settings are borrowed until then. */
typedef void MxFound(MxRoute *route, void *data);
void mx_query_start(Dns *dns, const MxSettings *settings, const char *domain, MxFound *found, void *data);
