/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read the configuration of the transport that a list's mail takes.
 */
#include <glib.h>
#include <stdbool.h>

#include "base/config.h"
#include "store/lists/list.h"

/* Return the section "transport.NAME" of the transport with this name; g_free(). transport NULL or "": the default
 * one. NULL: there is no such section. */
char *transport_section(const Config *config, const char *transport);

/* Are parts of messages (message/partial) for the list to be joined? The list's setting decides, or, if it is not set,
 * the list's transport. */
bool transport_defragments(const Config *config, const List *list);
