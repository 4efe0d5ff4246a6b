/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Adopt the spool of a host that died: a second master on this host works it under the dead host's name until it is
 * empty. That master begins the next epoch of the dead host, as the host itself would. So the lock in the spool, the
 * lease in the database and the epoch in both (lists/hosts/this_host.h) keep two masters from one spool here, too.
 */
#include <glib.h>
#include <stdbool.h>

#include "cli/site.h"

typedef struct HostAdoption {
    const char *name;    /* of the dead host */
    const char *spool;   /* the directory where its spool is mounted */
    const char *program; /* the master */
} HostAdoption;

/* Work the spool until it is empty, or until SIGINT or SIGTERM. Return an exit code (cli/exit.h). FAIL_MISSING: there
 * is no such host or directory; FAIL_EXISTS: the host lives; FAIL_CONFIG: the spool is another host's. */
int host_adopt(Site *site, const HostAdoption *adoption, GError **error);
