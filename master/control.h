/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The master's side of base/control.h. Who may connect may command: the
 * socket's mode is 0660. A client that says nothing for a minute, sends a
 * line that is too long, or is one too many, is hung up on.
 */
#include <glib.h>

#include "master/supervisor.h"

typedef struct Control Control;

/* FAIL_CONFIG when the socket cannot be bound. Removes a stale file. */
Control *control_new(Master *master, GError **error);

/* Hang up and remove the socket. */
void control_free(Control *control);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Control, control_free)
