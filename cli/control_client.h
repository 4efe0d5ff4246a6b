/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The command line's side of base/control.h: one connection to the running
 * master of a site.
 */
#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

#include "cli/site.h"

typedef struct ControlClient ControlClient;

/* FAIL_MISSING when no master runs; FAIL_LATER when we may not talk to it. A
 * configuration with faults does not matter as long as it says where the
 * runtime directory is: the master goes on with the old one. */
ControlClient *control_client_open(Site *site, GError **error);
/* The socket of one instance of a runner. */
ControlClient *control_client_open_runner(Site *site, const char *runner, unsigned instance, GError **error);
void control_client_free(ControlClient *client);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ControlClient, control_client_free)

/* Send a request (consumed) and return the reply, a new reference. A reply
 * that is not "ok" is FAIL_NEVER with the master's words. */
json_t *control_client_ask(ControlClient *client, json_t *request, GError **error);

/* Answers may take as long as they like from now on; else 15 seconds, then FAIL_LATER. */
void control_client_patient(ControlClient *client);

/* The master's process. */
int control_client_pid(const ControlClient *client);

/* Return when the master has ended. */
void control_client_wait_end(ControlClient *client);

/* Wait until no runner is changing and every child is ready; FAIL_LATER
 * after `seconds`. runner NULL: all. */
bool control_client_settle(ControlClient *client, const char *runner, int seconds, GError **error);

/* Handle a failed open(): print that nothing runs and return
 * TOOL_NOT_RUNNING, or hand the error on and return its code. */
int control_client_refused(GError **cause, GError **error);
