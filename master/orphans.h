/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Children of a master that was killed: they hold slices and listening
 * sockets until they notice. A master that starts ends them first.
 */
#include <stdint.h>

/* SIGTERM to every living owner of a slice, SIGKILL after timeout (us);
 * returns when the last one that could be ended is gone, or when SIGTERM or SIGINT, which the caller has blocked, is
 * pending. Blocks. */
void orphans_end(int dir_fd, int64_t timeout);
