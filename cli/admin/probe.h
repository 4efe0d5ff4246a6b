/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Test a site by a mail that goes out through the MTA and comes back (lists/site/round_trip.h), for `listrunner probe`.
 * Two lists are made for the mail, and removed afterwards.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/site.h"

/* How far the mail came. */
typedef enum ProbeEnd {
    PROBE_BACK,       /* the mail came back twice, as it should */
    PROBE_NOT_SENT,   /* it waits in the queue out or retry: the relay does not take it, or cannot be reached */
    PROBE_NOT_HANDED, /* it left the queues: the relay refused it, or took it, and did not hand it in */
    PROBE_NOT_COPIED, /* it came in for the first list, and its copy did not come back */
} ProbeEnd;

typedef struct ProbeResult {
    ProbeEnd end;
    int64_t took;   /* us until the end was known */
    char trace[13]; /* the word by which the log names the mail */
} ProbeResult;

/* Send a mail to a list of the domain, which must be known, and wait for it for at most `seconds`. The process becomes
 * [site] user. The site's runners must be running. True: *result says how far the mail came. FAIL_EXISTS: another probe
 * is under way. FAIL_MISSING: there is no such domain. */
bool probe_run(Site *site, const char *domain, int seconds, ProbeResult *result, GError **error);

/* Return sentences for people that explain the result and say what to do about it; g_free(). */
char *probe_text(const ProbeResult *result, const Config *config, const char *domain);
