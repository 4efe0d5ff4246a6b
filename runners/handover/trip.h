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
    bool sent;                  /* result: the host has the entry on its disk */
    bool unreachable;           /* result: the host could not be reached, or did not answer */
    char *why;                  /* result, when not sent: the reason, for the log; owned */
} Shipment;

void shipment_free(Shipment *shipment);

/* Read the certificates. NULL, with FAIL_CONFIG: they cannot be used. */
SmtpTls *trip_certificates(const Config *config, GError **error);

/* Send all shipments (of Shipment), and set their results; this takes as long as the slowest host. Where the runner is
 * to stop, return early. */
void trip_make(GPtrArray *shipments, Runner *runner, const SmtpTls *tls);
