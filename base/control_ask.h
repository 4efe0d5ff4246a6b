/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The asking side of base/control.h. It blocks: the answer comes within `seconds`, or the error is FAIL_LATER.
 */
#include <glib.h>
#include <jansson.h>

/* Connect to the socket of this name in [master] runtime_directory. Returns a descriptor. -1: nobody listens there
 * (FAIL_MISSING), we may not (FAIL_LATER), or the path is too long (FAIL_CONFIG). */
int control_connect(const char *directory, const char *name, int seconds, GError **error);
/* Send a request (taken) and return the reply, a new reference. A reply that is not "ok" is FAIL_NEVER, with the
 * words of the other side. */
json_t *control_exchange(int fd, json_t *request, GError **error);
