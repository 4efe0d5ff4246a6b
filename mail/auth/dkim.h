/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Make DKIM signatures (RFC 6376, RFC 8463) in the name of a domain of this site, and verify those of others. A key is
 * read once and signs many messages, for one thread at a time. Canonical forms and the reading of public keys are in
 * mail/auth/dkim_internal.h, which ARC uses as well; libcrypto does the rest.
 */
#include <glib.h>
#include <stdbool.h>

#include "mail/auth/names.h"
#include "mail/message.h"

typedef struct DkimKey DkimKey;

typedef enum DkimUse {
    DKIM_USE_SIGN = 1, /* DKIM-Signature */
    DKIM_USE_SEAL = 2, /* ARC (mail/auth/arc.h) */
} DkimUse;

/* The place of the public half in the DNS, SELECTOR._domainkey.DOMAIN, and what the key is for. */
typedef struct DkimKeyPlace {
    const char *domain, *selector;
    DkimUse use;
} DkimKeyPlace;

/* Read a key. pem is the private key, RSA of at least 1024 bits or Ed25519, as "openssl genpkey" writes it without a
 * pass phrase. FAIL_CONFIG: it is no such key. */
DkimKey *dkim_key_new(const DkimKeyPlace *place, const char *pem, GError **error);
void dkim_key_free(DkimKey *key);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DkimKey, dkim_key_free)

/* Make a new private key, RSA of 2048 bits (RFC 8301), in PEM; g_free(). FAIL_LATER: libcrypto cannot. */
char *dkim_key_make(GError **error);

/* May the key be used so for mail of this domain? It must be meant for that use, and the domain be its own or one below
 * it. An Ed25519 key may not seal: a receiver that cannot read such a seal (most in 2026) takes the whole chain for
 * broken, and seals that verdict. */
bool dkim_key_fits(const DkimKey *key, const char *domain, DkimUse use);

/* The texts are borrowed from the key. */
const char *dkim_key_domain(const DkimKey *key);
const char *dkim_key_selector(const DkimKey *key);
const char *dkim_key_algorithm(const DkimKey *key); /* "rsa-sha256" or "ed25519-sha256" */

/* Return the key's length in bits; of an Ed25519 key 256, which is as good as 3072 of RSA. */
int dkim_key_bits(const DkimKey *key);

/* Return the text that the DNS must have at SELECTOR._domainkey.DOMAIN: "v=DKIM1; k=rsa; p=MIIB..."; g_free(). */
char *dkim_key_record(const DkimKey *key);

typedef enum DkimRecord {
    DKIM_RECORD_FITS,
    DKIM_RECORD_TESTING, /* it fits, but t=y says that a signature by it is to count for nothing */
    DKIM_RECORD_UNFIT,   /* it has this key, but its tags h=, k=, s= or v= forbid the signatures */
    DKIM_RECORD_OTHER,   /* it has another key, or one that cannot be read */
    DKIM_RECORD_REVOKED, /* its p= is empty */
    DKIM_RECORD_NONE,    /* it is another kind of record */
} DkimRecord;

/* Say how receivers judge a TXT record that the DNS has at the key's place. Better judgements come first in
 * DkimRecord, so of several records the lowest counts. */
DkimRecord dkim_key_judge(const DkimKey *key, const char *record);

/* Sign the message (with CRLF or bare line feeds, which count as CRLF), and return the field DKIM-Signature, with CRLF,
 * for a place before all others; g_free(). NULL with FAIL_LATER: libcrypto failed. */
char *dkim_key_sign(const DkimKey *key, const Message *message, GError **error);

/* Sign the message for a field that begins in field, "ARC-Message-Signature: i=1; a=...; ": append the tags c=, h=, bh=
 * and b=, and CRLF. With signatures, the DKIM signatures of the message are signed too. False with FAIL_LATER:
 * libcrypto failed. */
bool dkim_key_sign_message(const DkimKey *key, const Message *message, bool signatures, GString *field,
                           GError **error);

/* Sign a text in canonical form, and append the signature and CRLF to the field, which ends with "b=". False with
 * FAIL_LATER: libcrypto failed. */
bool dkim_key_sign_text(const DkimKey *key, const GString *text, GString *field, GError **error);

/* The most signatures of a message that are checked, the first in its order. dkim_holds() counts only those by domains
 * that can be of the author's organization. */
#define DKIM_CHECKED_MAX 10

/* Does a signature by domain or, unless strict, by another domain of its organization hold for the message as it is, at
 * that time (us since 1970)? A signature by rsa-sha1, or by an RSA key of less than 1024 bits, does not (RFC 8301).
 * NAMES_FOUND: one does. NAMES_NONE: none does. NAMES_TROUBLE, NAMES_PENDING: a key, or whose a domain is, is not known
 * (now). */
NamesAnswer dkim_holds(const Message *message, const char *domain, bool strict, const Names *names, int64_t now);

/* Check each signature at that time, and append what Authentication-Results (RFC 8601) says of it to texts (of char *):
 * "dkim=pass header.d=example.org header.s=s1 header.a=rsa-sha256 header.b=AbCdEfGh", or "dkim=none" where there is no
 * signature at all. "fail": it is not the signature of this message. "policy": the algorithm or the key is too weak to
 * be believed. "permerror": it is not valid, or has no key. "temperror": the DNS does not give the key now. All keys
 * are asked for at once. False: the answers are not there yet (NAMES_PENDING); ask again. */
bool dkim_results(const Message *message, const Names *names, int64_t now, GPtrArray *texts);
