/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * End the children of a master that was killed. They hold slices of queues (master/slices.h) and listening sockets
 * until they notice. A master that starts ends them before it starts its own.
 */
#include <stdint.h>

/* Send SIGTERM to every living owner of a slice, and SIGKILL to those that are left after timeout (us). dir_fd is that
 * of slices_open_dir(). Block until the last one that can be ended is gone, at most 5 s after SIGKILL. Return earlier
 * when SIGTERM or SIGINT is pending for this process, which the caller has blocked before. A process that cannot be
 * signalled is logged and left. */
void orphans_end(int dir_fd, int64_t timeout);
