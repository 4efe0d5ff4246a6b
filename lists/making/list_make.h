/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Make and remove lists. All changes, letters and events belong to the unit of work (lists/work.h). */
#include <glib.h>
#include <stdbool.h>

#include "lists/work.h"
#include "store/lists/list.h"

/* The list to be made. Strings are borrowed. */
typedef struct NewList {
    const char *address;
    const char *style;         /* lists/making/style.h; NULL: discussion */
    const char *const *owners; /* addresses; NULL: none */
    bool make_domain;          /* make the domain of the address if the site does not have it, and */
    bool near_domain;          /* also where the name differs from a domain of the site by two letters at most */
    bool notify;               /* the owners get a letter about the new list */
} NewList;

/* Make the list, and return it; list_free(). NULL with error: it was not made. FAIL_NEVER: the address cannot be a
 * list's or is one of another list's own (lists/making/list_name.h), or with make_domain: its domain is the alias of
 * another, or near to one without near_domain; or an owner's address is not valid, or there is no such style.
 * FAIL_EXISTS: there is a list with that address or List-Id. FAIL_MISSING: its domain is not known. */
List *list_make(Work *work, const NewList *new, GError **error);

/* Remove the list with all that the store has of it. Incomplete messages for it that wait on this host go to the queue
 * shunt. Authors of posts that were to be sent at a later time are told. FAIL_MISSING: there is no such list. */
bool list_drop(Work *work, const char *list_id, GError **error);
