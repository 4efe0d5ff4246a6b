/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Declarations that mx.c (the resolver and its memory), mx_query.c (asking about one domain) and mx_route.c (what was
 * found, and its order) share.
 */
#include "net/dns.h"
#include "net/mx.h"

/* Of a domain's hosts that many are looked at, the best ones. */
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
    MxOutcome outcome;
    const char *status; /* static */
    unsigned code;
    char *text;
    char *key;
    GPtrArray *targets; /* of MxTarget, owned, by preference */
    int64_t expires;    /* clock_monotonic() */
} MxRoute;

MxRoute *mx_route_new(const char *domain);
MxRoute *mx_route_ref(MxRoute *route);
void mx_route_unref(MxRoute *route);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(MxRoute, mx_route_unref)

MxTarget *mx_target_new(const char *name, uint16_t preference);
/* Replace the targets' order by that of preference, equals at random, and leave at most MX_HOSTS_MAX. */
void mx_route_sort(MxRoute *route);
/* Take the key from the targets' names. */
void mx_route_set_key(MxRoute *route);
/* No mail can go there: text is taken over. */
void mx_route_refuse(MxRoute *route, MxOutcome outcome, unsigned code, const char *status, char *text);
/* Leave out the hosts that are not before ourselves; refuses when none is left. */
void mx_route_leave_own(MxRoute *route, const char *const *own);

/* Leave out the addresses that are not public: whoever writes the records of a domain chooses them, and could have mail
 * delivered to what only this host reaches. Were there any? */
bool mx_route_leave_private(MxRoute *route);
/* Refuse for now, because all addresses were such ones: mail waits until the site allows them, or it is too old. */
void mx_route_refuse_private(MxRoute *route);

/* The addresses in the order of trial, in g_free() memory; the names are the route's. */
MxHost *mx_route_hosts(const MxRoute *route, uint16_t port, size_t limit, size_t *count);

/* The route of "[192.0.2.1]" or "[IPv6:2001:db8::1]"; NULL for anything else. */
MxRoute *mx_route_literal(const char *domain);

/* Ask about a domain; done gets the route once, from the loop or at once: a new reference, or NULL
 * when dns was freed. settings are borrowed until then. */
typedef void MxFound(MxRoute *route, void *data);
void mx_query_start(Dns *dns, const MxSettings *settings, const char *domain, MxFound *found, void *data);
