/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Talk to the running master of a site, or to one of its runners, over the protocol of base/control.h.
 */
#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

#include "cli/site.h"

typedef struct ControlClient ControlClient;

/* Connect to the master. FAIL_MISSING: no master runs. FAIL_LATER: this user may not talk to it. The configuration may
 * have faults as long as [master] runtime_directory can be read: a running master goes on with its old one. */
ControlClient *control_client_open(Site *site, GError **error);
/* Connect to one instance of a runner instead. Do not call control_client_pid(), control_client_wait_end() or
 * control_client_settle() for it. FAIL_MISSING: the instance does not run. */
ControlClient *control_client_open_runner(Site *site, const char *runner, unsigned instance, GError **error);
void control_client_free(ControlClient *client);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ControlClient, control_client_free)

/* Send a request (taken) and return the reply, a new reference. FAIL_NEVER: the other side refused; the message has its
 * words. */
json_t *control_client_ask(ControlClient *client, json_t *request, GError **error);

/* Wait for answers without a limit from now on. Without this call, control_client_ask() waits for 15 seconds and then
 * fails with FAIL_LATER. */
void control_client_patient(ControlClient *client);

/* Return the process id of the master; 0: the system does not tell it. */
int control_client_pid(const ControlClient *client);

/* Block until the master has ended. */
void control_client_wait_end(ControlClient *client);

/* Block until this runner (NULL: every runner) is not changing and all its children are ready. FAIL_LATER: that was not
 * so after `seconds`. */
bool control_client_settle(ControlClient *client, const char *runner, int seconds, GError **error);

/* Handle the error *cause of a failed control_client_open(), and return what the verb returns. If it is FAIL_MISSING,
 * print it and return TOOL_NOT_RUNNING; *cause stays the caller's. Else move it to *error. */
int control_client_refused(GError **cause, GError **error);
