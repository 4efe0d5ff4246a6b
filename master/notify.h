/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The service manager's notification protocol: datagrams of NAME=VALUE lines
 * to the UNIX socket of $NOTIFY_SOCKET (a path, or "@name" for an abstract
 * one). Without that variable every call is a no-op. A message that cannot be sent is
 * dropped: the service manager's time-outs decide then.
 */
#include <stdbool.h>
#include <stdint.h>

/* Read $NOTIFY_SOCKET and the watchdog's variables, and remove them from the environment, so that no child has them. */
void notify_init(void);
void notify_close(void);

void notify_ready(const char *status);
void notify_reloading(void);
void notify_stopping(void);

/* Microseconds between pings (half of WATCHDOG_USEC), or 0: none wanted. */
int64_t notify_watchdog_interval(void);
void notify_watchdog(void);
