/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Take out of a post the password by which a moderator lets a post of their own through. It is the value of a field
 * Approved (or Approve, X-Approved, X-Approve), or such a line is the first one of the text:
 *
 *   Approved: secret
 *
 *   Dear all, ...
 *
 * Nobody who reads the list may ever see the password, whether or not it is the right one.
 */
#include <glib.h>

#include "mail/message.h"

/* Take the password out of the message, wherever it stands: out of the header; out of the first line of the first
 * text/plain part (whatever its transfer encoding), the line with it; and then the same words out of the other text
 * parts. Returns the password, which may be "", g_free(); NULL: there was none and nothing was changed. */
char *approved_take(Message *message);
