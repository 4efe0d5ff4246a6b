/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Find out which rights a person who has signed in has on lists. The person may own the site, a list's domain or the
 * list, or moderate it. Ask anew for each request: a person who has lost a role has lost its rights.
 */
#include <glib.h>
#include <stdbool.h>

#include "lists/authority.h"
#include "lists/people/sign_in.h"
#include "store/lists/list.h"

typedef struct Standing {
    bool site;                     /* owns the site */
    GHashTable *domains;           /* mail domains that the person owns: a set */
    GHashTable *owned, *moderated; /* List-Ids: sets */
} Standing;

/* Read the roles of this person from the store; standing_free(). NULL: the store failed. */
Standing *standing_new(Store *store, const SignedIn *person, GError **error);
void standing_free(Standing *standing);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Standing, standing_free)

/* Return whether the person owns the site or a domain, or owns or moderates any list. */
bool standing_any(const Standing *standing);

/* Return the greatest right that the person has on a list: BY_SITE, BY_DOMAIN, BY_LIST or BY_MODERATOR; else
 * BY_STRANGER. */
Authority standing_of(const Standing *standing, const List *list);
