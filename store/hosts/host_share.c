/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The hosts' parts of the limits toward other sites' servers. */
#include <string.h>

#include "base/fail.h"
#include "store/hosts/host.h"
#include "store/store_internal.h"

#define EPSILON 1e-9   /* three thirds are a whole */
#define PARTS_MAX 1000 /* nothing is divided further */

typedef struct Division {
    int64_t hosts; /* that have a part or are to have one */
    bool alone;    /* no other host is known */
    double taken;  /* of the whole, by the other ones */
} Division;

static bool divide(Store *store, const Host *host, Division *division, GError **error)
{
    g_autoptr(GPtrArray) hosts = host_all(store, error);
    if (!hosts)
        return false;
    *division = (Division){.hosts = 1, .alone = true};
    for (guint at = 0; at < hosts->len; at++) {
        const Host *other = hosts->pdata[at];
        bool holds = other->parts > 0 && (other->living || other->share_until > other->read_at);
        if (strcmp(other->name, host->name) == 0)
            continue;
        division->alone = false;
        division->hosts += other->living || holds;
        division->taken += holds ? 1.0 / (double)other->parts : 0;
    }
    return true;
}

bool host_share_due(Store *store, const Host *host, int64_t *parts, bool *alone, GError **error)
{
    Division division;
    if (!divide(store, host, &division, error))
        return false;
    *parts = division.hosts;
    *alone = division.alone;
    return true;
}

/* One statement and no transaction, so that it waits for nobody who writes. */
static bool write_parts(Store *store, Host *host, int64_t parts, GError **error)
{
    int64_t changed = 0;
    if (!query_run(store, error, &changed, "UPDATE host SET parts = $4 WHERE name = $1 AND epoch = $2 AND spool = $3",
                   TEXT(host->name), INTEGER(host->epoch), TEXT(host->spool), INTEGER(parts)))
        return false;
    if (changed == 0)
        return fail(error, FAIL_RACE, "the host %s was removed, or started elsewhere", host->name);
    host->parts = parts;
    return true;
}

bool host_share_lower(Store *store, Host *host, int64_t parts, GError **error)
{
    return write_parts(store, host, parts, error);
}

bool host_share_raise(Store *store, Host *host, GError **error)
{
    g_auto(Write) write = write_begin(store, WRITE_PEOPLE, error);
    if (!write.begun)
        return false;
    Division division;
    if (!divide(store, host, &division, error))
        return false;
    double left = 1 - division.taken;
    if (left < 1.0 / PARTS_MAX)
        return write_end(&write, error);
    int64_t left_parts = (int64_t)(1 / left - EPSILON) + 1; /* rounded up */
    int64_t parts = MAX(division.hosts, left_parts);
    return ((host->parts > 0 && host->parts <= parts) || write_parts(store, host, parts, error)) &&
           write_end(&write, error);
}
