/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* The master's reply to status (base/control.h), with what the command line found out besides, for people. */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* status is that of lists/site_state.h. */
void status_text(FILE *out, const json_t *status);

/* Something waits for a person, or it could not be found out whether. */
bool status_waits(const json_t *status);

/* Why runners can reach more files than their work needs: a sentence for the kernel that cannot restrict any, else one
 * for each setting that leaves some free; g_strfreev(). Empty: all are restricted. */
char **status_unconfined(const json_t *status);

/* One line for each child that is not well: which, since when, what comes next, and why. Returns how many there are. */
unsigned status_unwell(FILE *out, const json_t *status);
