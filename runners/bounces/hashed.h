/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Members by the hash that stands in their VERP address (mail/verp.h). Only
 * those whose address has one are kept, list by list, from the first bounce
 * that needs them until the list is forgotten for want of room.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "mail/verp.h"
#include "store/store.h"

typedef struct Hashed Hashed;

Hashed *hashed_new(Store *store);
void hashed_free(Hashed *hashed);

/* *addresses: those that have the hash (borrowed until the next call), NULL for none. */
bool hashed_find(Hashed *hashed, const VerpList *list, uint64_t hash, const GPtrArray **addresses, GError **error);
