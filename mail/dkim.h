/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * DKIM signatures (RFC 6376, RFC 8463), made in the name of a domain of ours, and verified. A key is read once and
 * signs many messages; one thread at a time. libopendkim verifies; signatures are made over libcrypto, with what ARC
 * needs anyway, because libopendkim reads the private key anew for each of them (doc/performance.md).
 */
#include <glib.h>
#include <stdbool.h>

#include "mail/message.h"
#include "mail/names.h"

typedef struct DkimKey DkimKey;

typedef enum DkimUse {
    DKIM_USE_SIGN = 1, /* DKIM-Signature */
    DKIM_USE_SEAL = 2, /* ARC (mail/arc.h) */
} DkimUse;

/* Where the public half stands in the DNS, at SELECTOR._domainkey.DOMAIN, and what the key is for. */
typedef struct DkimKeyPlace {
    const char *domain, *selector;
    DkimUse use;
} DkimKeyPlace;

/* Read a key. pem is the private key, RSA of at least 1024 bits or Ed25519, as "openssl genpkey" writes it without a
 * pass phrase. FAIL_CONFIG: it is no such key. */
DkimKey *dkim_key_new(const DkimKeyPlace *place, const char *pem, GError **error);
void dkim_key_free(DkimKey *key);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DkimKey, dkim_key_free)

/* May the key do this for mail of this domain: its own, or one below it? */
bool dkim_key_fits(const DkimKey *key, const char *domain, DkimUse use);

/* Borrowed; the algorithm is "rsa-sha256" or "ed25519-sha256". */
const char *dkim_key_domain(const DkimKey *key);
const char *dkim_key_selector(const DkimKey *key);
const char *dkim_key_algorithm(const DkimKey *key);

/* Sign the message (with CRLF or bare line feeds, which count as CRLF): the field DKIM-Signature, with CRLF, for a
 * place before all others; g_free(). NULL with FAIL_LATER. */
char *dkim_key_sign(const DkimKey *key, const Message *message, GError **error);

/* Sign the message for a field that begins in field, "ARC-Message-Signature: i=1; a=...; ": append the tags c=, h=, bh=
 * and b=, and CRLF. With signatures those of DKIM on it are signed too. False with FAIL_LATER. */
bool dkim_key_sign_message(const DkimKey *key, const Message *message, bool signatures, GString *field,
                           GError **error);

/* Sign a text in canonical form, and append the signature and CRLF to the field, which ends with "b=". False with
 * FAIL_LATER. */
bool dkim_key_sign_text(const DkimKey *key, const GString *text, GString *field, GError **error);

/* No signature of a message with more fields holds. It would take libopendkim too long: its work grows with the fields
 * times the names in h=. */
#define DKIM_FIELDS_MAX 10000

/* Does a signature by domain, or by another domain of its organization, hold for the message as it is? NAMES_FOUND: one
 * does. NAMES_NONE: none does. NAMES_TROUBLE, NAMES_PENDING: its key is not known (now). */
NamesAnswer dkim_holds(const Message *message, const char *domain, const Names *names);

/* Check each signature, and append what Authentication-Results (RFC 8601) says of it to texts (of char *):
 * "dkim=pass header.d=example.org header.s=s1 header.a=rsa-sha256 header.b=AbCdEfGh", or "dkim=none". A key that the
 * DNS does not give now makes "temperror". No more than DKIM_CHECKED_MAX are checked, and none of a message with more
 * than DKIM_FIELDS_MAX fields ("dkim=permerror"). All keys are asked for at once. False: the answers are not there yet
 * (NAMES_PENDING); ask again. */
#define DKIM_CHECKED_MAX 10
bool dkim_results(const Message *message, const Names *names, GPtrArray *texts);
