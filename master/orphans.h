/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Children of a master that was killed: they hold slices and listening
 * sockets until they notice. A master that starts ends them first.
 */
#include <stdint.h>

/* Send SIGTERM to every living owner of a slice, and SIGKILL to those that are left after timeout (us). Block until the
 * last one that can be ended is gone, or until SIGTERM or SIGINT is pending for this process, which the caller has
 * blocked before. */
void orphans_end(int dir_fd, int64_t timeout);
