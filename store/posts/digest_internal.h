/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Give one last digest to a person who leaves a digest mode while posts wait for the next digest. Call begin before,
 * and end after, each change that may alter a delivery mode, in the transaction of that change. For this folder only.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store_type.h"

/* Note that a last digest may be owed, for each list (or for list_id alone, if not NULL) where posts wait and the
 * person behind email gets digests. Nothing is written for an address that is not known or is no member there. */
bool digest_leaving_begin(Store *store, const char *list_id, const char *email, GError **error);
/* Drop these notes for lists where the person still gets digests after the change. The notes that stay owe a last
 * digest. */
bool digest_leaving_end(Store *store, const char *email, GError **error);

/* Begin and end as the functions above, for all lists of the person with this key. */
bool digest_person_leaving_begin(Store *store, int64_t person, GError **error);
bool digest_person_leaving_end(Store *store, int64_t person, GError **error);
