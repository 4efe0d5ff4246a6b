/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Carry out what is asked over the control socket (control_server.h). */
#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

#include "runners/outgoing/out.h"

/* A new reference; NULL with *error for a request that cannot be carried out. *changed: something was
 * ordered that is to be remembered. */
json_t *requests_answer(Out *out, const json_t *request, bool *changed, GError **error);
