/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Carry out the requests that come over the control socket of the runner out (control_server.h). */
#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

#include "runners/outgoing/out.h"

/* Carry out a request, and return the reply, a new reference. NULL, with *error: it cannot be carried out. *changed
 * becomes true when it was an order that is to be remembered (saved_state.h), else false. */
json_t *requests_answer(Out *out, const json_t *request, bool *changed, GError **error);
