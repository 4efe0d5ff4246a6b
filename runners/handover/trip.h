/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Send entries to other hosts, over LMTP with TLS: each side shows a certificate of the site's authority in the name of
 * its host. One connection for each host carries all that is for it, and the hosts are served at one time.
 */
#include <glib.h>
#include <stdbool.h>

#include "base/config.h"
#include "net/smtp_tls.h"
#include "runners/runner.h"
#include "switchboard/entry.h"

typedef struct Shipment {
    const char *host, *address; /* its name; "HOST:PORT" */
    char *recipient;            /* "QUEUE@HOST", for the logs of both; owned */
    Entry *entry;               /* borrowed; packed when its turn comes, so that a host has one in memory at a time */
    const char *name, *queue;   /* as of parcel_pack() */
    GBytes *content;            /* owned; NULL but while it is on its way */
    bool sent;                  /* out: the host has it on its disk */
    bool unreachable;           /* out: its host could not be reached, or did not answer */
    char *why;                  /* out: else the reason, for the log; owned */
} Shipment;

void shipment_free(Shipment *shipment);

/* Read the certificates. FAIL_CONFIG. */
SmtpTls *trip_certificates(const Config *config, GError **error);

/* Send all (of Shipment); takes as long as the slowest host. Those for a host that cannot be reached have why set. */
void trip_make(GPtrArray *shipments, Runner *runner, const SmtpTls *tls);
