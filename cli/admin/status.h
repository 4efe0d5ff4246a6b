/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Ask the master for its status, and the database for things that wait for a person, and show that to people. status is
 * everywhere the object of lists/site/site_state.h: the master's reply to status (base/control.h), with what the
 * database knows. */
#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#include "cli/site.h"

/* Return the state of the site; json_decref(). The process becomes [site] user. If the database cannot be opened,
 * `store_fault` says why. NULL: no master can be asked. */
json_t *status_ask(Site *site, GError **error);

/* Write the whole state. */
void status_text(FILE *out, const json_t *status);

/* Return whether something waits for a person, or that could not be found out. */
bool status_waits(const json_t *status);

/* Return sentences that say why runners can reach more files than their work needs; g_strfreev(). Each is for a runner
 * and the setting that leaves it free; or one for all, where the kernel or the site restricts none. Empty: all are
 * restricted. */
char **status_unconfined(const json_t *status);

/* Write a line for each process of a runner that is not well: which one, since when, what comes next, and why. Return
 * their number. */
unsigned status_unwell(FILE *out, const json_t *status);
