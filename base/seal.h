/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Seals bytes that are kept or travel where others can read and change them: AES-256-GCM with a random nonce. Nobody
 * without the key can read them or make others, and two seals of the same bytes have nothing in common.
 *
 * A seal is 12 bytes of nonce, the bytes, and 16 bytes of proof.
 */
#include <glib.h>
#include <stdbool.h>

#define SEAL_KEY_BYTES 32
#define SEAL_EXTRA_BYTES 28 /* by which a seal is longer than what is in it */

/* Derive a key from a secret for one purpose ("listrunner loop mark 1"), so that a seal of one proves nothing for
 * another. */
void seal_derive(GBytes *secret, const char *purpose, unsigned char key[SEAL_KEY_BYTES]);

/* Seal the bytes. about: what they belong to, which is not in the seal, but is needed to open it. FAIL_LATER: OpenSSL
 * does not do it. */
GBytes *seal_make(const unsigned char key[SEAL_KEY_BYTES], const char *about, const GByteArray *plain, GError **error);

/* Open a seal. The bytes end with a zero byte beyond their length. NULL: it was not made with this key about this, or
 * it was changed since. */
GByteArray *seal_open(const unsigned char key[SEAL_KEY_BYTES], const char *about, GBytes *sealed);
