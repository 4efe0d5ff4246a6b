/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read VERP addresses (mail/bounce/verp.h) also where a hash stands in place of the member's address. Anybody can write
 * one with a tag that is nobody's, so the members of a list are not read for each. Those whose VERP address has a hash
 * are kept in memory, from the first mail that needs them until the list is forgotten for want of room. When a hash is
 * not among them, they are read again, but not within a minute, nor within twenty times as long as reading them took:
 * mails of strangers cost at most a twentieth of the time. A member who came since then is not found until it is over.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "mail/bounce/verp.h"
#include "store/store.h"

typedef struct Hashed Hashed;

/* Make an empty cache; store is borrowed. */
Hashed *hashed_new(Store *store);
void hashed_free(Hashed *hashed);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Hashed, hashed_free)

/* The proof that a VERP address brings; all is borrowed. */
typedef struct HashedProof {
    VerpKeys *keys;
    VerpPurpose purpose;
    const VerpList *list;
    int64_t now;
} HashedProof;

/* Read the detail of an address as verp_parse() does, and set *result, which is never VERP_HASHED; *read is cleared by
 * verp_read_clear(). False: the store failed. */
bool hashed_parse(Hashed *hashed, const HashedProof *proof, const char *detail, VerpRead *read, VerpResult *result,
                  GError **error);
