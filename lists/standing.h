/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Where somebody who has signed in stands to the lists of the site: owner of the site, of a list's domain, of the list,
 * or its moderator. It is asked of the store each time, so who has lost a role has lost its rights.
 */
#include <glib.h>
#include <stdbool.h>

#include "lists/authority.h"
#include "lists/sign_in.h"
#include "store/list.h"

typedef struct Standing {
    bool site;                     /* owns the site */
    GHashTable *domains;           /* mail domains that he owns: a set */
    GHashTable *owned, *moderated; /* List-Ids: sets */
} Standing;

/* Read the roles of this person from the store; standing_free(). NULL: the store failed. */
Standing *standing_new(Store *store, const SignedIn *person, GError **error);
void standing_free(Standing *standing);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Standing, standing_free)

/* Does he run any list at all? */
bool standing_any(const Standing *standing);

/* How he stands to a list: BY_SITE, BY_DOMAIN, BY_LIST, BY_MODERATOR, the greatest that is true; else BY_STRANGER. */
Authority standing_of(const Standing *standing, const List *list);
