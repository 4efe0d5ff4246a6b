/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Find members by the hash that stands in their VERP address (mail/verp.h) in place of their own address. Only members
 * whose VERP address has a hash are kept in memory. Those of a list are read at the first bounce that needs them, and
 * kept until the list is forgotten for want of room. When a hash is not among them, they are read again, unless that
 * was done lately.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "mail/verp.h"
#include "store/store.h"

typedef struct Hashed Hashed;

/* Make an empty cache; store is borrowed. */
Hashed *hashed_new(Store *store);
void hashed_free(Hashed *hashed);

/* Find the members of a list with this hash: set *addresses to an array of char *, borrowed until the next call; NULL:
 * there are none. False: the store failed. */
bool hashed_find(Hashed *hashed, const VerpList *list, uint64_t hash, const GPtrArray **addresses, GError **error);
