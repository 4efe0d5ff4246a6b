/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Seal bytes that are kept or travel where others can read and change them: AES-256-GCM with a random nonce. Nobody
 * without the key can read the bytes or make a seal, and two seals of the same bytes have nothing in common.
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

/* Seal the bytes. `about` names what they belong to: it is not in the seal, and the same text is needed to open it.
 * Return the seal as a new reference. FAIL_LATER: OpenSSL failed. */
GBytes *seal_make(const unsigned char key[SEAL_KEY_BYTES], const char *about, const GByteArray *plain, GError **error);

/* Open a seal, and return its bytes, with a zero byte beyond their length; g_byte_array_unref(). NULL: the seal was
 * made with another key or another `about`, or was changed since. */
GByteArray *seal_open(const unsigned char key[SEAL_KEY_BYTES], const char *about, GBytes *sealed);
