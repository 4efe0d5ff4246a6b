/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Errors. Every function that can fail takes a GError ** as its last
 * parameter and returns bool (false: failed) or a pointer (NULL: failed).
 * There is one domain, FAIL, and its codes say what the process should do,
 * not which call failed; the message says that, and whoever passes an error
 * upward adds what it was doing with g_prefix_error(). An error is logged
 * once, by the skeleton (runner, listener, command line).
 *
 * Running out of memory aborts the process (GLib's rule): the claimed
 * entries are recovered at the next start.
 */
#include <glib.h>
#include <stdbool.h>

#define FAIL fail_quark()

typedef enum FailCode {
    FAIL_LATER = 1, /* ours or the system's fault: keep the work, try again (4xx) */
    FAIL_NEVER,     /* this piece of work can never succeed: shunt, bounce, 5xx */
    FAIL_MISSING,   /* the thing asked for does not exist */
    FAIL_EXISTS,    /* the thing to be made is there already */
    FAIL_RACE,      /* another owner has it now, or was faster: wait for it, or go on without a word */
    FAIL_CONFIG,    /* the configuration or the command is wrong: a person must act */
} FailCode;

GQuark fail_quark(void);

/* Set *error (which may be NULL) and return false, so that failing is one
 * line: return fail(error, FAIL_NEVER, "..."). */
bool fail(GError **error, FailCode code, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* Do as fail() does, and append ": " and the text of errno to the message. The code is always the one given, for ENOENT
 * too, because only the caller knows what a missing file means. */
bool fail_errno(GError **error, FailCode code, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* Do as fail() does with an error that there is already, which is taken. */
bool fail_with(GError **error, GError **fault);
/* Do the same unless the error has this code; then return true, and it stays the caller's. */
bool fail_unless(GError **error, FailCode code, GError **fault);
