/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Show the state of a site to people. status is everywhere the object of lists/site/site_state.h: the master's reply to
 * status (base/control.h), with what the database knows. */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

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
