/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * This host among those that share the database (store/host.h). The runner host renews the lease and writes what it was
 * told into a file of the spool; the other processes read it there, also while the database is away. Where the runner
 * host is not started there is one host, and it may do everything.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/config.h"
#include "store/host.h"
#include "store/store.h"
#include "switchboard/spool.h"

#define THIS_HOST_FILE ".host"

typedef struct ThisHost {
    char *name;
    int64_t epoch;
    int64_t before; /* the epoch of this spool's last start before it; 0: none is known */
    int64_t until;  /* clock_boot(): what only one host may do ends then; 0: nothing of the kind may be done */
    bool draining;
    int64_t parts;       /* of the limits toward others' servers this host may use one in so many; 0: nothing */
    int64_t share_until; /* clock_boot(): it may use nothing from then on */
} ThisHost;

void this_host_clear(ThisHost *host);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ThisHost, this_host_clear)

/* Whether several hosts may share the database: the configuration starts the runner host. */
bool this_host_is_one_of_many(const Config *config);

/* For the runner host: begin the host's next epoch, as host_begin() does, if this_host_check() has nothing against it.
 * name, spool, boot, version and state of *host are read; the rest of it is set, and *said, whose time is 0 at first.
 * The epoch is in the spool before the database has it: whoever is killed between the two begins again as before. */
bool this_host_begin(Store *store, Spool *spool, Host *host, int64_t lease, ThisHost *said, GError **error);

/* For the runner host. */
bool this_host_write(Spool *spool, const ThisHost *host, GError **error);

/* Read what the runner host wrote since the machine was started. FAIL_MISSING: it has written nothing yet. */
bool this_host_read(int spool_fd, ThisHost *host, GError **error);

/* Until when this host may do what only one does at a time ("task"): *until, by clock_boot(); 0: not now. It takes the
 * claim when no other living host has it. */
bool this_host_claims(Store *store, Spool *spool, const Config *config, const char *what, int64_t *until,
                      GError **error);

/* Refuse a spool that was used with the database of another site: what is settled in it by the wrong database is lost.
 * FAIL_CONFIG. The first database that it is used with is noted in the spool. */
#define THIS_HOST_SITE_FILE ".site"
bool this_host_check_site(Store *store, Spool *spool, GError **error);

/* Refuse to work a spool with the database of another site, and where several hosts share the database, beside another
 * machine that works the same spool or has the same name. Every process that works on entries, or settles what others
 * left, asks so when it starts: else a copy of a spool sends again what the first sends. FAIL_LATER and FAIL_CONFIG as
 * from host_may_work(); FAIL_CONFIG also: the host was started with another copy of this spool after this one. */
bool this_host_check(Store *store, Spool *spool, const Config *config, GError **error);

/* Open the configured database into *store, if this host may work with it as above; where *store is open already, look
 * whether it is still there, and open it anew if it was replaced. For servers that keep it open. Return *store; NULL:
 * as above, and *store is NULL. */
Store *this_host_store(Store **store, Spool *spool, const Config *config, GError **error);
