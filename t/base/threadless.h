/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Simulate a system that has no threads to give. A test that links this in gets it in place of GLib's
 * g_thread_pool_push(). While threadless is true, a task that is pushed is kept here, and the push returns FALSE. GLib
 * does so when it cannot start a thread. The task stays in the pool all the same, and is done when there is a thread.
 */
#include <stdbool.h>

extern bool threadless;

/* Return how many tasks are kept. */
unsigned threadless_kept(void);
/* Give the tasks that are kept to their pools. */
void threadless_release(void);
