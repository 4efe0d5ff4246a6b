/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Tell the service manager (systemd) how the master is: send datagrams of NAME=VALUE lines to the UNIX socket of
 * $NOTIFY_SOCKET (a path, or "@name" for an abstract one). Without that variable no call does anything. A message that
 * cannot be sent is dropped: the service manager's time-outs decide then.
 */
#include <stdbool.h>
#include <stdint.h>

/* Read $NOTIFY_SOCKET and the watchdog's variables, and remove them from the environment, so that no child has them. */
void notify_init(void);
void notify_close(void);

void notify_ready(const char *status); /* READY=1, after the start or a reload; status is a text for people */
void notify_reloading(void);           /* RELOADING=1 */
void notify_stopping(void);            /* STOPPING=1 */

/* Return how many microseconds may be between two calls of notify_watchdog() (half of WATCHDOG_USEC); 0: the service
 * manager wants none. */
int64_t notify_watchdog_interval(void);
/* Send WATCHDOG=1: the master is alive. */
void notify_watchdog(void);
