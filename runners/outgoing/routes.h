/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Find the transport that mail to a recipient's domain takes, in the table of the setting [out] transport_table. The
 * table is searched for the domain "a.sub.domain" itself, then for ".sub.domain", ".domain" and so on upward. An entry
 * with a leading dot does not match the domain of that name itself. For a domain that the table lacks, the caller takes
 * the transport that the list has chosen, else the default one.
 */
#include <glib.h>
#include <stdbool.h>

#include "base/config.h"

typedef struct Routes Routes;

/* Read the table from the configuration. find returns the transport of a name; routes_look() returns these pointers. */
Routes *routes_new(const Config *config, void *(*find)(void *data, const char *name), void *data);
void routes_free(Routes *routes);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Routes, routes_free)

/* Return the transport of a domain, which is not NUL-terminated and of any case. NULL: it is not in the table, or
 * routes is NULL. */
void *routes_look(const Routes *routes, const char *domain, size_t length);
