/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/hosts/seat.h"

#include "base/clock.h"
#include "base/contract.h"
#include "base/fail.h"
#include "base/log.h"
#include "lists/hosts/this_host.h"
#include "lists/unit.h"
#include "store/place.h"
#include "store/secret.h"

#define KEYS_LIFETIME (60 * CLOCK_SECOND)
#define PAUSE CLOCK_SECOND
#define PAUSE_TURNS 4 /* as long as it took, others are served */

static void drop_keys(Seat *seat)
{
    g_clear_pointer(&seat->keys, verp_keys_free);
    g_clear_pointer(&seat->loop_keys, loop_keys_free);
    g_clear_pointer(&seat->secrets, g_ptr_array_unref);
}

void seat_leave(Seat *seat)
{
    drop_keys(seat);
    g_clear_pointer(&seat->store, store_free);
    seat->log = -1;
}

static bool open_store(Seat *seat, GError **error)
{
    store_set_opening_deadline(seat->deadline);
    g_autoptr(Store) store = store_open_configured(seat->config, false, error);
    if (!store || (seat->stays && !store_leave_sync(store, &seat->log, error)))
        return false;
    seat->refused = !this_host_check(store, seat->spool, seat->config, error);
    if (!seat->refused)
        seat->store = g_steal_pointer(&store);
    return !seat->refused;
}

bool seat_keep(Seat *seat, GError **error)
{
    int64_t now = clock_monotonic();
    g_autoptr(GError) gone = NULL, waits = NULL;
    if (seat->store && store_present(seat->store, &gone)) {
        seat->stale |= seat->stays && now >= seat->keys_until;
        return true;
    }
    if (seat->store && seat->stays) /* the one that is there is opened at the next start */
        log_fatal(CHILD_EXIT_LATER, "%s", gone->message);
    if (seat->store)
        log_warn("%s; opening it anew", gone->message);
    seat_leave(seat);
    if (seat->pauses && now < seat->open_at)
        return fail(error, FAIL_LATER, "the database could not be used a moment ago");
    bool opened = open_store(seat, error);
    int64_t took = clock_monotonic() - now;
    seat->open_at = now + took + MAX(PAUSE, PAUSE_TURNS * took);
    /* A unit that cannot be settled now keeps nobody from reading, nor from other changes. */
    if (opened && seat->settles && !unit_settle(seat->store, seat->spool, false, &waits))
        log_warn("what a change left when it was cut short waits: %s", waits->message);
    return opened;
}

bool seat_is_away(void *seat)
{
    Store *store = ((Seat *)seat)->store;
    return store && !store_reachable(store);
}

bool seat_keys(Seat *seat, GError **error)
{
    if (seat->secrets && !seat->stale)
        return true;
    g_autoptr(GPtrArray) secrets = secret_all(seat->store, error);
    if (!secrets)
        return false;
    drop_keys(seat);
    seat->stale = false;
    seat->secrets = g_steal_pointer(&secrets);
    seat->keys = verp_keys_new(seat->secrets);
    seat->loop_keys = loop_keys_new(seat->secrets);
    seat->keys_until = clock_monotonic() + KEYS_LIFETIME;
    seat->edition++;
    return true;
}

bool seat_keys_now(Seat *seat, GError **error)
{
    int64_t version = store_version(seat->store);
    seat->stale |= seat->version != version;
    seat->version = version;
    return seat_keys(seat, error);
}
