/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read the configuration of the transport that a list's mail takes.
 */
#include <glib.h>
#include <stdbool.h>

#include "base/config.h"
#include "store/list.h"

/* The section of the configuration for the transport of that name, NULL or "" for the default one. NULL: there is no
 * such transport. g_free(). */
char *transport_section(const Config *config, const char *transport);

/* Are parts of messages for the list to be joined? The list's own word, or that of its transport. */
bool transport_defragments(const Config *config, const List *list);
