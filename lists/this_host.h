/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Find out what this host may do now, where several hosts share one database (store/host.h). The runner named "host"
 * renews the host's lease in the database, and writes the answer into a file of the spool. The other processes read
 * that file, also while the database is away. Where [runner.host] is not started there is one host, which may do
 * everything.
 *
 * An epoch is the number of a start of the host. Times are in microseconds of clock_boot().
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
    int64_t until;  /* until then it may do work that only one host does at a time; 0: it may not */
    bool draining;
    int64_t parts;       /* it may use 1/parts of each limit toward servers of others; 0: nothing */
    int64_t share_until; /* from then on it may use nothing of those limits */
} ThisHost;

void this_host_clear(ThisHost *host);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ThisHost, this_host_clear)

/* Return whether several hosts may share the database, which is so if the configuration starts the runner host. */
bool this_host_is_one_of_many(const Config *config);

/* For the runner host: begin the host's next epoch, as host_begin() does, if this_host_check() has nothing against it.
 * name, spool, boot, version and state of *host are read; the rest of it is set, and *said, whose time is 0 at first.
 * The epoch is in the spool before the database has it: whoever is killed between the two begins again as before. */
bool this_host_begin(Store *store, Spool *spool, Host *host, int64_t lease, ThisHost *said, GError **error);

/* Replace the file of the spool, without a sync. The runner host alone calls it. */
bool this_host_write(Spool *spool, const ThisHost *host, GError **error);

/* Read what the runner host wrote. FAIL_MISSING: it has written nothing since the machine was started. */
bool this_host_read(int spool_fd, ThisHost *host, GError **error);

/* Claim in the database the work `what` ("task"), which only one host does at a time, if no other living host has it.
 * *until is when the claim ends; 0: this host may not do the work now; INT64_MAX: there is one host only. False: the
 * store failed or the file cannot be read. */
bool this_host_claims(Store *store, Spool *spool, const Config *config, const char *what, int64_t *until,
                      GError **error);

/* Fail with FAIL_CONFIG when the spool was used with the database of another site, which would settle its mail wrongly.
 * A spool that was used with none yet gets a note of this one (THIS_HOST_SITE_FILE). */
#define THIS_HOST_SITE_FILE ".site"
bool this_host_check_site(Store *store, Spool *spool, GError **error);

/* Refuse to work a spool with the database of another site, and where several hosts share the database, beside another
 * machine that works the same spool or has the same name. Every process that works on entries, or settles what others
 * left, asks so when it starts: else a copy of a spool sends again what the first sends. FAIL_LATER and FAIL_CONFIG as
 * from host_may_work(); FAIL_CONFIG also: the host was started with another copy of this spool after this one. */
bool this_host_check(Store *store, Spool *spool, const Config *config, GError **error);

/* Return an open database, for servers that keep it open between requests: *store if it is open and still there, else
 * the configured one, opened into *store after this_host_check(). The caller frees *store in the end. NULL: *store is
 * NULL too, and *error is that of store_open_configured() or this_host_check(). */
Store *this_host_store(Store **store, Spool *spool, const Config *config, GError **error);
