/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The password by which a moderator lets a post of their own through: a field Approved (or Approve, X-Approved,
 * X-Approve), or such a line as the first one of the text:
 *
 *   Approved: secret
 *
 *   Dear all, ...
 *
 * It must never be seen by anybody who reads the list, whether or not it is the right one.
 */
#include <glib.h>

#include "mail/message.h"

/* Take the password out of the message, wherever it stands: out of the header; out of the first line of the first
 * text/plain part (whatever its transfer encoding), the line with it; and then the same words out of the other text
 * parts. Returns the password, which may be "", g_free(); NULL: there was none and nothing was changed. */
char *approved_take(Message *message);
