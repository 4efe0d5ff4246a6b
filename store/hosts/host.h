/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Keep the hosts that share this database (doc/hosts.md): a row for each, with a lease by the database's clock, so that
 * the clocks of hosts do not matter. While its lease runs, a host may do what only one host does at a time, if it holds
 * the claim to it. Each start of a host begins an epoch, which is in its claims, too: a claim of an earlier start is
 * worth nothing.
 *
 * Whoever begins work under a claim must end it before the lease ends by a clock of its own, which it reads before it
 * asks for the lease. Then another host that finds the lease at its end may take the claim over.
 *
 * A claim saves work, and does not exclude: it ends at once, while its holder still works, when the host is drained,
 * when it gives its lease back and when its next epoch begins. What is done under a claim must be right when two do it.
 * So each step is one transaction that looks again whether it is still to be done (doc/hosts.md).
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store_type.h"

typedef struct Host {
    char *name;
    char *spool;   /* the id of the spool whose entries the host works */
    char *boot;    /* the boot id of its machine: hosts with the same are on the same machine */
    char *version; /* of Listrunner */
    char *state;   /* a JSON object in which the host describes itself */
    int64_t epoch; /* greater at each start of the host; no two starts of any hosts have the same number */
    int64_t started_at, seen_at, lease_until;
    int64_t parts;       /* the host may use one of so many equal parts of each limit (below); 0: nothing */
    int64_t share_until; /* no other host takes its part before this time, unless the host gave it back */
    int64_t empty_at;    /* when its spool was last seen without an entry that a runner is to work; 0: never */
    int64_t connections; /* how many connections to the database the host may open; 0: it does not say */
    int64_t read_at;     /* the database's clock when the row was read */
    bool draining; /* somebody asked that the host takes no new work */
    bool living;   /* the host's lease has not run out */
} Host;

void host_free(Host *host);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Host, host_free)

/* Read the database's clock, the same for all hosts; microseconds since 1970. */
bool host_clock(Store *store, int64_t *now, GError **error);

/* Find out since when commits wait for the database's synchronous standby, which is away or slow; *since is 0 where
 * none has waited for two seconds. */
bool host_waits_for_standby(Store *store, int64_t *since, GError **error);

/* See whether host->spool may be worked under host->name on the machine with host->boot; nothing is changed. No host
 * needs to have begun yet. FAIL_LATER: it is worked by another machine, or by this one before it was started anew,
 * whose lease runs. FAIL_CONFIG: a living host of that name works another spool, or the spool is known by another name.
 * *epoch is that of the last start with this spool; 0: none is known. */
bool host_may_work(Store *store, const Host *host, int64_t *epoch, GError **error);

/* Draw the number of the next epoch, for host_begin(). Note it in the spool between the two: then it is known there
 * whenever the database has it. */
bool host_next_epoch(Store *store, int64_t *epoch, GError **error);

/* Begin an epoch of a host. name, spool, boot, version, state, connections and epoch are read; lease is for how long
 * it lives without host_renew(), in microseconds. *host gets the other fields. It fails as host_may_work() does.
 * Digests that the host was making in another spool are withdrawn, for nobody has their makers any more. */
bool host_begin(Store *store, Host *host, int64_t lease, GError **error);

/* Prolong the lease of host->name in host->epoch, from now, which host_clock() has just read, and write its state and
 * empty_at, and read draining and the times. FAIL_RACE: another start has begun a later epoch, or the host was removed:
 * stop at once. */
bool host_renew(Store *store, Host *host, int64_t now, int64_t lease, GError **error);

/* End the lease, so that others go on at once. host_renew() begins it again. Its part of the limits stays as it is. */
bool host_end(Store *store, Host *host, GError **error);

/* Return all hosts by name: of Host, freed with the array. */
GPtrArray *host_all(Store *store, GError **error);

/* Ask a host to take no new work (draining), or to take it again. FAIL_MISSING: there is no such host. */
bool host_set_draining(Store *store, const char *name, bool draining, GError **error);

/* Read a host that may be forgotten; host_free(). Fails as host_remove() does. */
Host *host_find_dead(Store *store, const char *name, GError **error);

/* Remove a host's row. FAIL_MISSING: there is no such host. FAIL_EXISTS: it lives, or it may be cut off from the
 * database and still use its part of the limits. */
bool host_remove(Store *store, const char *name, GError **error);

/* Take the claim to what ("task") for a host in an epoch, unless a living host has it: *held. A host whose lease has
 * run out, or that is being drained, holds none. Costs two questions when nothing changes. */
bool host_claim(Store *store, const char *what, const char *name, int64_t epoch, bool *held, GError **error);

/*
 * Limits toward other sites' servers ([transport.NAME]) hold over all hosts together, so each host may use a part of
 * them. A part is lowered only when the host uses no more, and raised only as far as the others' parts leave room: at
 * no time is their sum above the whole. A host that is not heard of keeps its part for host_share_kept(), for it may be
 * cut off from the database and at work; it ends that before, by a clock of its own.
 */
#define HOST_SHARE_LEASES 4
#define HOST_SHARE_LEAST (INT64_C(60) * 1000000)

/* Return how long a part is kept after the lease was last renewed. */
static inline int64_t host_share_kept(int64_t lease)
{
    return MAX(HOST_SHARE_LEASES * lease, HOST_SHARE_LEAST);
}

/* Set *parts to the number of hosts among which the limits are to be divided now: hosts that live, hosts that still
 * have a part, and host itself. *alone: no other host is known, not even one that was stopped, which could come back
 * and take the whole. */
bool host_share_due(Store *store, const Host *host, int64_t *parts, bool *alone, GError **error);

/* Lower host->parts: the host uses one of so many parts at most from now on, and 0 means nothing. FAIL_RACE as from
 * host_renew(). */
bool host_share_lower(Store *store, Host *host, int64_t parts, GError **error);

/* Raise host->parts to what is due, or to what the others leave, which may be less and may be nothing more. FAIL_RACE
 * as from host_renew(). */
bool host_share_raise(Store *store, Host *host, GError **error);

/* Return the id of the site, which its spools bear, too; it is made when it is first asked for; g_free(). */
char *host_site(Store *store, GError **error);
