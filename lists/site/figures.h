/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Write figures from the database in the text format of Prometheus: posts and requests that wait for moderators, parts
 * of incomplete messages that wait on this host, the timer's jobs, hosts, and others. The figures of processes and
 * queues are not here: the master writes them.
 */
#include <glib.h>

#include "store/store.h"

/* Append all figures to text. hostname is this host's. False: the store failed, and text may have some of them. */
bool figures_of_store(Store *store, const char *hostname, GString *text, GError **error);
