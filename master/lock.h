/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Make sure that a spool has one master at a time, by a process lock on the file `lock` in SPOOL/.master. Its text says
 * who holds the lock. The kernel frees the lock when the master ends in whatever way; children do not inherit it. The
 * file is never removed.
 */
#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

/* Take the lock and write pid, host and start time. Return the descriptor, to be kept open. -1 with FAIL_RACE: another
 * master has the lock, and the message has the text of the file. -1 with FAIL_CONFIG: a restore of the spool is not
 * finished. The process must not open the file a second time: closing any descriptor of it frees the lock. */
int lock_take(int dir_fd, const char *spool, GError **error);
