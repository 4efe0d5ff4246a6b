/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * A real mail goes through the MTA and back (lists/round_trip.h). Its lists are made for it and removed afterwards.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/site.h"

/* How far the mail came. */
typedef enum ProbeEnd {
    PROBE_BACK,       /* it is back */
    PROBE_NOT_SENT,   /* it is in out or retry: the relay does not take it, or cannot be reached */
    PROBE_NOT_HANDED, /* out is done with it: the relay refused it, or took it, and Listrunner did not get it */
    PROBE_NOT_COPIED, /* it came back for the list, and its copy did not */
} ProbeEnd;

typedef struct ProbeResult {
    ProbeEnd end;
    int64_t took;   /* us, until it was known */
    char trace[13]; /* by which the log names it */
} ProbeResult;

/* Send a mail to a list of the domain, which must be known, and wait for it for at most so many seconds. The process
 * becomes [site] user. The runners must work. FAIL_EXISTS: another probe is under way. FAIL_MISSING: no such domain. */
bool probe_run(Site *site, const char *domain, int seconds, ProbeResult *result, GError **error);

/* Explain the result, and say what to do about it: sentences for people; g_free(). */
char *probe_text(const ProbeResult *result, const Config *config, const char *domain);
