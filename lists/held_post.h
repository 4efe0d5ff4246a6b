/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* A moderator decides about a held post. */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "lists/work.h"

typedef enum HeldVerdict {
    HELD_ACCEPT,  /* it goes to the list, through the queue pipeline */
    HELD_REJECT,  /* its sender is told, with the reason */
    HELD_DISCARD, /* nobody is told */
} HeldVerdict;

/* reason may be NULL. *told: the sender of a rejected post gets a letter; not when it has no sender, or a program sent
 * it (RFC 3834, 2). FAIL_MISSING: there is no such held post. */
bool held_post_decide(Work *work, int64_t number, HeldVerdict verdict, const char *reason, bool *told, GError **error);
