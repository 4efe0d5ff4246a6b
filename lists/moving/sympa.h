/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read lists of Sympa: the directory of its lists (list_data, or expl), where each has a file `config`
 * (sympa_config.h), as DOMAIN/LIST/config, or as LIST/config where there is one domain alone; and its database, which
 * has members, owners, editors and users. Nothing is written there. Below the directory no symbolic link is followed.
 */
#include <glib.h>
#include <stdbool.h>

#include "lists/moving/moving.h"
#include "store/foreign.h"

/* For moving_new(); lists of several directories may be brought in one after another. */
#define SYMPA_SOURCE "sympa"

typedef struct Sympa Sympa;

/* Look for the lists, and at the database. database NULL: there is none, so people are read from the files member.dump,
 * owner.dump and editor.dump of each list. domain: bring its lists alone, and those that are in no folder of a domain
 * are of it; NULL: all. Errors: FAIL_MISSING there is no such directory, or no list in it; FAIL_CONFIG the lists need a
 * domain, or the database is not Sympa's. */
Sympa *sympa_open(const char *directory, Foreign *database, const char *domain, GError **error);
void sympa_free(Sympa *sympa);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Sympa, sympa_free)

/* Describe all these lists and their people to moving. False: the import must end. */
bool sympa_move(Sympa *sympa, Moving *moving, GError **error);
