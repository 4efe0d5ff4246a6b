/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Lists are made and removed. */
#include <glib.h>
#include <stdbool.h>

#include "lists/work.h"
#include "store/list.h"

/* The list to be made. Strings are borrowed. */
typedef struct NewList {
    const char *address;
    const char *style;         /* lists/style.h; NULL: discussion */
    const char *const *owners; /* addresses; NULL: none */
    bool make_domain;          /* when it is not known */
    bool notify;               /* the owners get a letter about it */
} NewList;

/* Makes the list. FAIL_NEVER: the address cannot be a list's, is one of another list's own (lists/list_name.h), an
 * owner's address is not valid, or there is no such style. FAIL_EXISTS: there is a list with that address or List-Id.
 * FAIL_MISSING: its domain is not known. */
List *list_make(Work *work, const NewList *new, GError **error);

/* Removes the list with all that belongs to it. Parts of messages that wait for it on this host go to shunt, and
 * the authors of posts that were to be sent at a time are told. */
bool list_drop(Work *work, const char *list_id, GError **error);
