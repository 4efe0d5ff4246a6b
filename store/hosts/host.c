/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/hosts/host.h"

#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/secret.h"
#include "store/hosts/canary.h"
#include "store/hosts/task_job.h"
#include "store/posts/digest.h"
#include "store/row.h"
#include "store/schema/migrate.h"
#include "store/store_internal.h"

#define COLUMNS                                                                              \
    "name, spool, boot, version, state, epoch, started_at, seen_at, lease_until, draining, " \
    "parts, share_until, empty_at, connections"

/* The database's clock, in the statement that needs it; last is the parameter with
 * clock_now(), for a database that has none of its own. */
#define CLOCK(last) "COALESCE(@clock@, " last ")"

static const RowField host_row[] = {
    ROW(Host, name),  ROW(Host, spool),       ROW(Host, boot),     ROW(Host, version),     ROW(Host, state),
    ROW(Host, epoch), ROW(Host, started_at),  ROW(Host, seen_at),  ROW(Host, lease_until), ROW(Host, draining),
    ROW(Host, parts), ROW(Host, share_until), ROW(Host, empty_at), ROW(Host, connections), ROW(Host, read_at)};

void host_free(Host *host)
{
    row_free(host_row, host);
}

bool host_clock(Store *store, int64_t *now, GError **error)
{
    const StoreDriver *driver = store_driver(store);
    *now = clock_now();
    return !driver->clock || driver->clock(store_connection(store), now, error);
}

bool host_waits_for_standby(Store *store, int64_t *since, GError **error)
{
    const StoreDriver *driver = store_driver(store);
    *since = 0;
    return !driver->standby || driver->standby(store_connection(store), since, error);
}

/* A statement that has CLOCK(), as the driver words it; it lives for ever, as a literal does. */
static const char *with_clock(Store *store, const char *sql)
{
    g_autofree char *text = migrate_words(store_driver(store), sql);
    return g_intern_string(text);
}

/* Hosts that query selects; NULL with the error. */
static GPtrArray *read_hosts(Query *query, GError **error)
{
    g_autoptr(GPtrArray) hosts = g_ptr_array_new_with_free_func((GDestroyNotify)host_free);
    Step step;
    while ((step = query_step(query, error)) == STEP_ROW) {
        Host *host = g_new0(Host, 1);
        row_read(query, 0, host_row, host);
        host->living = host->lease_until > host->read_at;
        g_ptr_array_add(hosts, host);
    }
    return step == STEP_DONE ? g_steal_pointer(&hosts) : NULL;
}

GPtrArray *host_all(Store *store, GError **error)
{
    const char *sql = with_clock(store, "SELECT " COLUMNS ", " CLOCK("$1") " FROM host ORDER BY name");
    g_autoptr(Query) query = query_open(store, error, sql, INTEGER(clock_now()));
    return read_hosts(query, error);
}

/* ---- a host's own row ---- */

/* Whether there is room beside another host. On the same machine it is an earlier start of this one, for the lock of
 * the spool lets one master at it. */
static bool may_work_beside(const Host *host, const Host *other, GError **error)
{
    bool name = strcmp(host->name, other->name) == 0, spool = strcmp(host->spool, other->spool) == 0;
    if (spool && !name)
        return fail(error, FAIL_CONFIG,
                    "the spool is that of the host %s: this one may not work it as %s; give it the old name again in "
                    "[site] hostname, or a new spool; or, if the host has another name from now on, say "
                    "`listrunner host remove %s` when it is stopped",
                    other->name, host->name, other->name);
    if (name && !spool && other->living)
        return fail(error, FAIL_CONFIG,
                    "a host named %s lives already and works another spool: give one of the two "
                    "another name in [site] hostname",
                    host->name);
    if (!name || !other->living || strcmp(host->boot, other->boot) == 0)
        return true;
    g_autofree char *until = clock_text(other->lease_until);
    return fail(error, FAIL_LATER,
                "the spool is worked, as %s, by another machine, or by this one before it was started anew; until %s",
                other->name, until);
}

/* *own: the row of that name, or NULL. */
static bool may_work(const Host *host, const GPtrArray *hosts, const Host **own, GError **error)
{
    *own = NULL;
    for (guint at = 0; at < hosts->len; at++) {
        const Host *other = hosts->pdata[at];
        if (!may_work_beside(host, other, error))
            return false;
        if (strcmp(host->name, other->name) == 0)
            *own = other;
    }
    return true;
}

bool host_may_work(Store *store, const Host *host, int64_t *epoch, GError **error)
{
    const Host *own;
    g_autoptr(GPtrArray) hosts = host_all(store, error);
    if (!hosts || !may_work(host, hosts, &own, error))
        return false;
    *epoch = own && strcmp(own->spool, host->spool) == 0 ? own->epoch : 0;
    return true;
}

bool host_next_epoch(Store *store, int64_t *epoch, GError **error)
{
    return STORE_WRITE(
        store, error,
        query_run(store, error, NULL,
                  "INSERT INTO counter (name, value) SELECT $1, COALESCE(max(epoch), 0) FROM host WHERE true "
                  "ON CONFLICT (name) DO NOTHING",
                  TEXT("host")) &&
            store_next_number(store, "host", epoch, error));
}

/* The posts of digests that were being made in its spool go with the next issues. */
static bool withdraw_issues(Store *store, const char *name, GError **error)
{
    g_autoptr(GPtrArray) issues = digest_issue_all(store, name, error);
    for (guint at = 0; issues && at < issues->len; at++)
        if (!digest_issue_withdraw(store, ((const DigestIssue *)issues->pdata[at])->entry, error))
            return false;
    return issues != NULL;
}

bool host_begin(Store *store, Host *host, int64_t lease, GError **error)
{
    int64_t now;
    const Host *own;
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    if (!write.begun)
        return false;
    g_autoptr(GPtrArray) hosts = host_all(store, error);
    if (!hosts || !host_clock(store, &now, error) || !may_work(host, hosts, &own, error))
        return false;
    bool same = own && strcmp(own->spool, host->spool) == 0;
    if (own && !same && !withdraw_issues(store, host->name, error)) /* nobody has their makers any more */
        return false;
    host->draining = own && own->draining;
    host->started_at = host->seen_at = now;
    host->lease_until = now + lease;
    host->living = true;
    bool kept = same && (own->living || own->share_until > now);
    host->parts = kept ? own->parts : 0;
    host->share_until = now + host_share_kept(lease);
    host->empty_at = same ? own->empty_at : 0;
    return query_run(store, error, NULL, "DELETE FROM host WHERE name = $1", TEXT(host->name)) &&
           query_run(store, error, NULL,
                     "INSERT INTO host (" COLUMNS ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, "
                     "$13, $14)",
                     TEXT(host->name), TEXT(host->spool), TEXT(host->boot), TEXT(host->version), TEXT(host->state),
                     INTEGER(host->epoch), INTEGER(now), INTEGER(now), INTEGER(host->lease_until),
                     INTEGER(host->draining), INTEGER(host->parts), INTEGER(host->share_until), INTEGER(host->empty_at),
                     INTEGER(host->connections)) &&
           write_end(&write, error);
}

/* One statement and no transaction, so that it waits for nobody who writes. A part of the limits that was kept long
 * enough is somebody else's by now. */
static bool write_lease(Store *store, Host *host, int64_t until, GError **error)
{
    bool there = false;
    g_autoptr(Query) query = query_open(store, error,
                                        "UPDATE host SET lease_until = $4, seen_at = $5, state = $6, share_until = $7, "
                                        "empty_at = $8, "
                                        "parts = CASE WHEN share_until > $5 THEN parts ELSE 0 END "
                                        "WHERE name = $1 AND epoch = $2 AND spool = $3 RETURNING draining, parts",
                                        TEXT(host->name), INTEGER(host->epoch), TEXT(host->spool), INTEGER(until),
                                        INTEGER(host->seen_at), TEXT(host->state), INTEGER(host->share_until),
                                        INTEGER(host->empty_at));
    Step step;
    while ((step = query_step(query, error)) == STEP_ROW) {
        there = true;
        host->draining = query_integer(query, 0) != 0;
        host->parts = query_integer(query, 1);
    }
    return step == STEP_DONE &&
           (there || fail(error, FAIL_RACE, "the host %s was removed, or started elsewhere", host->name));
}

bool host_renew(Store *store, Host *host, int64_t now, int64_t lease, GError **error)
{
    host->seen_at = now;
    host->share_until = host->seen_at + host_share_kept(lease);
    if (!write_lease(store, host, host->seen_at + lease, error))
        return false;
    host->lease_until = host->seen_at + lease;
    host->living = true;
    return true;
}

bool host_end(Store *store, Host *host, GError **error)
{
    if (!write_lease(store, host, 0, error))
        return false;
    host->living = false;
    return true;
}

/* ---- what a person asks for ---- */

bool host_set_draining(Store *store, const char *name, bool draining, GError **error)
{
    return STORE_WRITE(store, error,
                       query_change_one(store, error, fail(error, FAIL_MISSING, "there is no host %s", name),
                                        "UPDATE host SET draining = $2 WHERE name = $1", TEXT(name),
                                        INTEGER(draining)));
}

Host *host_find_dead(Store *store, const char *name, GError **error)
{
    const char *sql = with_clock(store, "SELECT " COLUMNS ", " CLOCK("$2") " FROM host WHERE name = $1");
    g_autoptr(Query) query = query_open(store, error, sql, TEXT(name), INTEGER(clock_now()));
    g_autoptr(GPtrArray) hosts = read_hosts(query, error);
    if (!hosts)
        return NULL;
    const Host *host = hosts->len > 0 ? hosts->pdata[0] : NULL;
    if (!host)
        fail(error, FAIL_MISSING, "there is no host %s", name);
    else if (host->living)
        fail(error, FAIL_EXISTS, "the host %s lives: stop it first", name);
    else if (host->parts > 0 && host->share_until > host->read_at) {
        g_autofree char *until = clock_text(host->share_until);
        fail(error, FAIL_EXISTS,
             "the host %s may be cut off and at work: its part of the limits is its own until %s; try it then", name,
             until);
    } else
        return g_ptr_array_steal_index(hosts, 0);
    return NULL;
}

bool host_remove(Store *store, const char *name, GError **error)
{
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    if (!write.begun)
        return false;
    g_autoptr(Host) host = host_find_dead(store, name, error);
    g_autoptr(GPtrArray) jobs = host ? task_job_all(store, error) : NULL;
    if (!jobs)
        return false;
    for (guint at = 0; at < jobs->len; at++) {
        const char *job = ((const TaskJob *)jobs->pdata[at])->name, *of = strchr(job, '@');
        /* The records of jobs that each host does for itself end in its name (runners/task). */
        if (of && strcmp(of + 1, name) == 0 &&
            !query_run(store, error, NULL, "DELETE FROM job WHERE name = $1", TEXT(job)))
            return false;
    }
    return withdraw_issues(store, name, error) && canary_forget(store, name, error) &&
           query_run(store, error, NULL, "DELETE FROM claim WHERE host = $1", TEXT(name)) &&
           query_run(store, error, NULL, "DELETE FROM host WHERE name = $1", TEXT(name)) && write_end(&write, error);
}

/* ---- claims ---- */

typedef struct HostClaim {
    char *host;
    int64_t epoch;
    bool living; /* its host is, in that epoch, and is not being drained */
} HostClaim;

static void claim_clear(HostClaim *claim)
{
    g_clear_pointer(&claim->host, g_free);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(HostClaim, claim_clear)

/* claim->host is NULL where nobody ever had it. */
static bool read_claim(Store *store, const char *what, HostClaim *claim, GError **error)
{
    static const char text[] =
        "SELECT " CLOCK("$2") ", claim.host, claim.epoch, COALESCE(host.lease_until, 0), "
                              "COALESCE(host.draining, 0) FROM claim LEFT JOIN host ON host.name = claim.host "
                              "AND host.epoch = claim.epoch WHERE claim.what = $1";
    const char *sql = with_clock(store, text);
    g_autoptr(Query) query = query_open(store, error, sql, TEXT(what), INTEGER(clock_now()));
    Step step = query_step(query, error);
    if (step == STEP_ROW)
        *claim = (HostClaim){g_strdup(query_text(query, 1)), query_integer(query, 2),
                             query_integer(query, 3) > query_integer(query, 0) && query_integer(query, 4) == 0};
    return step != STEP_FAILED;
}

bool host_claim(Store *store, const char *what, const char *name, int64_t epoch, bool *held, GError **error)
{
    int64_t now, changed = 0;
    g_auto(HostClaim) claim = {0}, again = {0};
    if (!read_claim(store, what, &claim, error))
        return false;
    *held = claim.living && strcmp(claim.host, name) == 0 && claim.epoch == epoch;
    if (claim.living)
        return true;

    /* Nobody has it, and another host may just take it: the transaction looks once more. */
    *held = false;
    g_auto(Write) write = write_begin(store, WRITE_PEOPLE, error);
    if (!write.begun || !read_claim(store, what, &again, error) || !host_clock(store, &now, error))
        return false;
    if (again.living) {
        *held = strcmp(again.host, name) == 0 && again.epoch == epoch;
        return write_end(&write, error);
    }
    bool done = query_run(store, error, &changed,
                          "INSERT INTO claim (what, host, epoch, since) SELECT $1, name, epoch, $4 FROM host "
                          "WHERE name = $2 AND epoch = $3 AND lease_until > $4 AND draining = 0 "
                          "ON CONFLICT (what) DO UPDATE SET host = $2, epoch = $3, since = $4",
                          TEXT(what), TEXT(name), INTEGER(epoch), INTEGER(now));
    *held = changed > 0;
    return done && write_end(&write, error);
}

/* ---- the part of the limits toward other sites' servers ---- */

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
bool host_share_lower(Store *store, Host *host, int64_t parts, GError **error)
{
    if (!query_change_one(store, error,
                          fail(error, FAIL_RACE, "the host %s was removed, or started elsewhere", host->name),
                          "UPDATE host SET parts = $4 WHERE name = $1 AND epoch = $2 AND spool = $3", TEXT(host->name),
                          INTEGER(host->epoch), TEXT(host->spool), INTEGER(parts)))
        return false;
    host->parts = parts;
    return true;
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
    return ((host->parts > 0 && host->parts <= parts) || host_share_lower(store, host, parts, error)) &&
           write_end(&write, error);
}

/* ---- the site ---- */

/* *id is NULL where the site has none yet; g_free(). */
static bool read_site(Store *store, char **id, GError **error)
{
    g_autoptr(Query) query = query_start(store, error, "SELECT id FROM site", NULL, 0);
    Step step = query_step(query, error);
    *id = step == STEP_ROW ? g_strdup(query_text(query, 0)) : NULL;
    return step != STEP_FAILED;
}

char *host_site(Store *store, GError **error)
{
    g_autofree char *id = NULL;
    if (!read_site(store, &id, error) || id)
        return g_steal_pointer(&id);
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    if (!write.begun || !read_site(store, &id, error))
        return NULL;
    if (!id) { /* two may ask first at the same time: the second finds the first one's */
        id = random_word();
        if (!query_run(store, error, NULL, "INSERT INTO site (id) VALUES ($1)", TEXT(id)))
            return NULL;
    }
    return write_end(&write, error) ? g_steal_pointer(&id) : NULL;
}
