/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The transport table: which transport a recipient's domain takes. The domain itself is looked for, then
 * ".sub.domain", ".domain" and so on upward (a suffix does not match the domain of that name itself). A domain that
 * is not in it takes the transport that the list has chosen, else the default.
 */
#include <glib.h>
#include <stdbool.h>

#include "base/config.h"

typedef struct Routes Routes;

/* Of [out] transport_table. find gives the transport of a name that is configured. */
Routes *routes_new(const Config *config, void *(*find)(void *data, const char *name), void *data);
void routes_free(Routes *routes);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Routes, routes_free)

/* NULL: not in the table. domain is not NUL-terminated, and of any case. */
void *routes_look(const Routes *routes, const char *domain, size_t length);
