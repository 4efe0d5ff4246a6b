/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Answers that programs write (RFC 3834).
 */
#include <stdbool.h>

#include "mail/message.h"

/* May a program answer this mail (section 2)? Not what other programs sent, by their fields or by a Subject such as
 * "Automatic reply: ..." in one of two dozen languages, not mail of lists, not reports, not what came from no address.
 * sender is the envelope's, "" for none. */
bool answer_allowed(const char *sender, const Message *message);

/* Did a program write this because it got a mail: is its Auto-Submitted "auto-replied" (section 5)? Mail that a program
 * writes for another reason, such as "auto-generated" mail about commits, is none. */
bool answer_is_automatic(const Message *message);
