/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * DKIM signatures (RFC 6376, RFC 8463), made in the name of a domain of ours, and verified. A key is read once and
 * signs many messages; one thread at a time.
 */
#include <glib.h>
#include <stdbool.h>

#include "mail/message.h"
#include "mail/names.h"

typedef struct DkimKey DkimKey;

/* pem is the private key, RSA of at least 1024 bits or Ed25519, as "openssl genpkey" writes it; its public half stands
 * in the DNS at SELECTOR._domainkey.DOMAIN. FAIL_CONFIG: it is no such key. */
DkimKey *dkim_key_new(const char *domain, const char *selector, const char *pem, GError **error);
void dkim_key_free(DkimKey *key);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DkimKey, dkim_key_free)

/* May the key sign for mail of this domain: its own, or one below it? */
bool dkim_key_fits(const DkimKey *key, const char *domain);

/* Signs the message in pieces (of GBytes, with CRLF or bare line feeds, which count as CRLF): the value for a field
 * DKIM-Signature before all others; g_free(). NULL with FAIL_LATER. */
char *dkim_key_sign(const DkimKey *key, const GPtrArray *pieces, GError **error);

/* Does a signature by domain, or by another domain of its organization, hold for the message as it is? NAMES_FOUND: one
 * does. NAMES_NONE: none does. NAMES_TROUBLE, NAMES_PENDING: its key is not known (now). */
NamesAnswer dkim_holds(const Message *message, const char *domain, const Names *names);
