/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read lists of Sympa from the directory of its lists (list_data, or expl) and from its database. In the directory each
 * list has a file `config` (sympa_config.h): DOMAIN/LIST/config, or LIST/config where there is one domain alone. The
 * database has members, owners, editors and users. Nothing is written there. Below the directory no symbolic link is
 * followed.
 */
#include <glib.h>
#include <stdbool.h>

#include "lists/moving/moving.h"
#include "store/moving/foreign.h"

/* The source for moving_new(). One import may call sympa_move() for several directories, one after another. */
#define SYMPA_SOURCE "sympa"

typedef struct Sympa Sympa;

/* Find the lists below the directory, and check the database; sympa_free(). database NULL: people are read from the
 * files member.dump, owner.dump and editor.dump of each list. domain: import its lists alone, and take lists that are
 * in no folder of a domain for lists of it; NULL: import all. FAIL_MISSING: there is no such directory, or no list in
 * it. FAIL_CONFIG: the lists need a domain, or the database is not Sympa's. */
Sympa *sympa_open(const char *directory, Foreign *database, const char *domain, GError **error);
void sympa_free(Sympa *sympa);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Sympa, sympa_free)

/* Import all these lists and their people. False: the import must end. */
bool sympa_move(Sympa *sympa, Moving *moving, GError **error);
