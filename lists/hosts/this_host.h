/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Find out what this host may do now, where several hosts share one database (store/hosts/host.h). The runner named
 * "host" renews the host's lease in the database, which is a right to work for a limited time. It writes what the host
 * may do into a file of the spool. The other processes read that file, also while the database is away. Where
 * [runner.host] is not started there is one host, which may do everything.
 *
 * An epoch is the number of a start of the host. Times are in microseconds of clock_boot().
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/config.h"
#include "store/hosts/host.h"
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

/* For the runner host: make the checks of this_host_check(), and begin the host's next epoch, as host_begin() does. Of
 * *host the name, spool, boot, version and state are read, and the epoch is set. *said is written into the file and
 * filled in for the caller; it allows nothing yet (until is 0). The spool gets the epoch before the database: a process
 * that is killed between the two begins again as if it had not run. */
bool this_host_begin(Store *store, Spool *spool, Host *host, int64_t lease, ThisHost *said, GError **error);

/* Replace the file of the spool (THIS_HOST_FILE) by what *host says, without a sync. The runner host alone calls it. */
bool this_host_write(Spool *spool, const ThisHost *host, GError **error);

/* Read what the runner host wrote. FAIL_MISSING: it has written nothing since the machine was started. */
bool this_host_read(int spool_fd, ThisHost *host, GError **error);

/* Claim in the database the work `what` ("task"), which only one host does at a time, if no other living host has it.
 * *until is when the claim ends; 0: this host may not do the work now; INT64_MAX: there is one host only. False: the
 * store failed or the file cannot be read. */
bool this_host_claims(Store *store, Spool *spool, const Config *config, const char *what, int64_t *until,
                      GError **error);

/* Check that the spool was not used with the database of another site, which would sort its mail wrongly. A spool that
 * was used with no database yet gets a note of this one (THIS_HOST_SITE_FILE). FAIL_CONFIG: it was used with another.
 */
#define THIS_HOST_SITE_FILE ".site"
bool this_host_check_site(Store *store, Spool *spool, GError **error);

/* Check that this process may work on the entries of the spool. Every process that does, or that settles what others
 * left, calls it when it starts. Else a copy of a spool would send again what the first sends. It makes the check of
 * this_host_check_site(). Where several hosts share the database it also fails beside another machine that works the
 * same spool or has the same name: FAIL_LATER and FAIL_CONFIG as from host_may_work(). FAIL_CONFIG also: the host was
 * started with another copy of this spool after it ran with this one. */
bool this_host_check(Store *store, Spool *spool, const Config *config, GError **error);
