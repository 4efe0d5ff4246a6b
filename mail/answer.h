/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * May a program answer this mail (RFC 3834, 2)? Not what other programs
 * sent, not mail of lists, not reports, not what came from no address.
 */
#include <stdbool.h>

#include "mail/message.h"

/* sender is the envelope's, "" for none. */
bool answer_allowed(const char *sender, const Message *message);
