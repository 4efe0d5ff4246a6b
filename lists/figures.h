/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Figures of what the database knows, in the text format of Prometheus: posts and requests that wait for moderators,
 * parts that wait for one another on this host, and what the timer did. Those of processes and queues are the master's.
 */
#include <glib.h>

#include "store/store.h"

bool figures_of_store(Store *store, const char *hostname, GString *text, GError **error);
