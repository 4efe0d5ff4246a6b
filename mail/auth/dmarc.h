/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Find the DMARC policy of a domain (RFC 9989). It says what is to be done with mail that has the domain in From and is
 * not signed by it.
 *
 * A record stands at _dmarc.DOMAIN, or above: the DNS Tree Walk (RFC 9989, 4.10) asks for the domain and for each
 * domain above it, eight names at most, and all of them at once. Like all users of mail/auth/names.h, a function that
 * says NAMES_PENDING is called again from the beginning.
 */
#include <glib.h>
#include <stdbool.h>

#include "mail/auth/names.h"

typedef enum DmarcPolicy { DMARC_NONE, DMARC_QUARANTINE, DMARC_REJECT } DmarcPolicy;

/* psd=: may others register names below the domain? */
typedef enum DmarcSuffix { DMARC_SUFFIX_UNKNOWN, DMARC_SUFFIX_NO, DMARC_SUFFIX_YES } DmarcSuffix;

typedef struct DmarcRecord {
    DmarcPolicy policy;     /* p= */
    DmarcPolicy subdomains; /* sp=, or p= */
    DmarcPolicy missing;    /* np=: subdomains that do not exist; or sp= */
    DmarcSuffix suffix;
    bool testing;                 /* t=y: see dmarc_applied() */
    bool strict_dkim, strict_spf; /* adkim=s, aspf=s: what passed must be of the same domain, not organization */
} DmarcRecord;

typedef enum DmarcReading {
    DMARC_VALID,
    DMARC_INVALID, /* it is a record without a policy that can be followed; of *record only suffix counts */
    DMARC_OTHER,   /* it is no record of DMARC, and *record is not set */
} DmarcReading;

/* Read one TXT record. Tags that nobody knows are passed over, and so are pct=, rf= and ri= of the older RFC 7489. A
 * value that is not allowed counts as the default; but without a valid p=, or with an sp= or np= that is not valid, the
 * record is invalid, unless rua= says where reports are wanted: then it counts as p=none (RFC 9989, 4.10.1). A tag that
 * stands there twice makes the record invalid (RFC 6376, 3.2). */
DmarcReading dmarc_record_read(const char *text, DmarcRecord *record);

/* Return the policy that receivers are to apply: the record's, or with t=y the next weaker one. A list that changes
 * From for the sake of a policy goes by record->policy, whatever t= says (RFC 9989, A.6). */
DmarcPolicy dmarc_applied(const DmarcRecord *record);

/* Find the organizational domain of a domain by a tree walk. *organization (g_free()), in lower case and ASCII (xn--),
 * is set with NAMES_FOUND. Others: NAMES_PENDING, NAMES_TROUBLE. An address literal is its own. */
NamesAnswer dmarc_organization(const Names *names, const char *domain, char **organization);

/* Is what passed, by the domain of a signature or an envelope sender, in line with the author's domain? It is when both
 * are the same domain, or (not strict) have the same organizational domain. NAMES_FOUND: yes. NAMES_NONE: no. */
NamesAnswer dmarc_aligned(const Names *names, const char *passed, const char *author, bool strict);

/* Find the record for mail from domain, whose policy is then the one that counts for it. *record is set only with
 * NAMES_FOUND, *where (g_free(), may be NULL) to the domain whose record it is. NAMES_NONE: there is no record, or the
 * one that counts is not valid, so no policy. */
NamesAnswer dmarc_find(const Names *names, const char *domain, DmarcRecord *record, char **where);

/* Say for Authentication-Results what becomes of a message whose author is of domain: "dmarc=pass
 * header.from=example.org policy.dmarc=reject". answer and record are dmarc_find()'s; checks has what DKIM and SPF
 * found, as auth_results_read() gives it. *result is g_free(); NULL: no signature passed, and whether SPF did is not
 * known, so that nobody can say. Returns false when an answer of the DNS is still to come. */
bool dmarc_result(const Names *names, const char *domain, NamesAnswer answer, const DmarcRecord *record,
                  const GPtrArray *checks, char **result);
