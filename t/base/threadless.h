/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * A system that has no threads to give, for tests: linked in, it stands before GLib's g_thread_pool_push(). While
 * threadless is set, what is pushed is kept and the push fails, as GLib does it: the pool has the task all the same,
 * and does it when it gets a thread.
 */
#include <stdbool.h>

extern bool threadless;

/* How many tasks are kept, and at last for their pools. */
unsigned threadless_kept(void);
void threadless_release(void);
