/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Answer commands and questions on the master's control sockets (base/control.h tells the protocol). The master closes
 * the connection of a client that says nothing for a minute, sends a line that is too long, or is one too many.
 */
#include <glib.h>
#include <stdbool.h>

#include "master/supervisor.h"

typedef struct Control Control;

/* Open the sockets, after removing stale files of them, and answer on them in the master's loop. FAIL_CONFIG: a socket
 * cannot be bound. */
Control *control_new(Master *master, GError **error);

/* Hang up and remove the sockets. */
void control_free(Control *control);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Control, control_free)

/* Make the directory of the sockets, and those above it; *made says whether. One that is there stays as it is. */
bool control_make_directory(const char *path, bool *made, GError **error);
