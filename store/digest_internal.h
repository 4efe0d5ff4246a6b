/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * One last digest for who leaves a digest mode: around every change of preferences, inside its transaction. For this
 * folder only.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store_type.h"

/* Note in which lists (or whether in that one; NULL: in all), where posts wait for a digest, the person behind email
 * gets digests. Writes nothing for an address that is not known or is no member there. */
bool digest_leaving_begin(Store *store, const char *list_id, const char *email, GError **error);
/* Forget those lists where they still do: the others owe a last digest. */
bool digest_leaving_end(Store *store, const char *email, GError **error);

/* The same about all lists of a person, by key. */
bool digest_person_leaving_begin(Store *store, int64_t person, GError **error);
bool digest_person_leaving_end(Store *store, int64_t person, GError **error);
