/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * One master a spool: a process lock on the file `lock` in SPOOL/.master,
 * whose text says who holds it. The kernel frees it when the master ends in
 * whatever way; children do not inherit it. The file is never removed.
 */
#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

/* Take the lock and write pid, host and start time. Returns the descriptor, to be kept open, or -1: FAIL_RACE with the
 * holder's words when another master has it; FAIL_CONFIG, a restore of the spool is not finished. The process must not
 * open the file a second time: closing any descriptor of it frees the lock. */
int lock_take(int dir_fd, const char *spool, GError **error);
