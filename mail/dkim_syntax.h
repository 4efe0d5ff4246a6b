/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * What DKIM (RFC 6376, sections 3.2, 3.4 and 3.6.1; RFC 8301, RFC 8463) and ARC (RFC 8617) have in common, for the code
 * of ARC: lists of tags, canonical forms, and keys from the DNS. All that is read may be anybody's nonsense: then the
 * answer is NULL or false.
 */
#include <glib.h>
#include <openssl/evp.h>
#include <stdbool.h>

#include "mail/message.h"

/* Read "a=rsa-sha256; d=example.org; b=...": name -> value, both without blanks and folds around, freed with the table.
 * NULL: this is no such list, or a tag stands in it twice. */
GHashTable *dkim_tags_read(const char *text);

/* Take the blanks and folds out of a value that may be folded anywhere (b=, bh=, h=, p=), in its place. */
char *dkim_squeeze(char *value);

/* Append the field in canonical form, with CRLF at its end. relaxed false: the form "simple". without_signature: the
 * value of its tag b= is left out. */
void dkim_append_field(GString *out, const Field *field, bool relaxed, bool without_signature);

/* Append the fields that h= names, in that form. A name that stands there n times means the n lowest fields of that
 * name; where there are fewer, nothing is appended for the rest (RFC 6376, 5.4.2). */
void dkim_append_named(GString *out, const Message *message, char **names, bool relaxed);

/* Cut the CRLF off the end: the last field of what is signed has none. */
void dkim_cut_line_end(GString *text);

/* Return the field that makes up the whole text, which is borrowed. */
Field dkim_field_of(const GString *text);

/* Return the SHA-256 of the body in canonical form, of its first limit bytes (-1: all), in base64; g_free(). Bare line
 * feeds count as CRLF. *length, unless NULL, is the length of that form. */
char *dkim_body_hash(GBytes *body, bool relaxed, int64_t limit, int64_t *length);

/* Read a key of the DNS for the algorithm, "rsa-sha256" or "ed25519-sha256". NULL: it is another kind of record, was
 * revoked, or has less than 1024 bits. Freed with EVP_PKEY_free(). */
EVP_PKEY *dkim_public_key(const char *record, const char *algorithm);

/* Is this the signature (base64) of the text by the key, by RSA and SHA-256 or, for such a key, by Ed25519 over the
 * SHA-256 (RFC 8463)? */
bool dkim_signature_fits(EVP_PKEY *key, const GString *text, const char *signature);

/* Sign likewise: base64, g_free(). NULL: libcrypto failed. */
char *dkim_signature_make(EVP_PKEY *key, const GString *text);
