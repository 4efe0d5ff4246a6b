/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The DMARC policy of a domain (RFC 7489, and RFC 9091 for public suffixes): what it wants done with mail that has its
 * name in From and is not signed by it.
 */
#include <glib.h>
#include <stdbool.h>

#include "mail/names.h"

typedef enum DmarcPolicy { DMARC_NONE, DMARC_QUARANTINE, DMARC_REJECT } DmarcPolicy;

typedef struct DmarcRecord {
    DmarcPolicy policy;     /* p= */
    DmarcPolicy subdomains; /* sp=, or p= */
    DmarcPolicy missing;    /* np=: subdomains that do not exist; or sp= */
    bool strict_dkim, strict_spf; /* adkim=s, aspf=s: what passed must be of the same domain, not organization */
} DmarcRecord;

/* Read one TXT record; false: it is no DMARC record (then others may be). One with a p= that nobody knows is taken for
 * p=none. */
bool dmarc_record_read(const char *text, DmarcRecord *record);

/* The domain that an organization got from its registry: "example.co.uk" for "a.b.example.co.uk", by the public suffix
 * list. Of a public suffix, of something that is no domain and of an address literal it is the same again. In lower
 * case, ASCII (xn--); g_free(). */
char *dmarc_organization(const char *domain);

/* Is a the same domain as b, or (not strict) of the same organization? */
bool dmarc_aligned(const char *a, const char *b, bool strict);

/* The record for mail from domain, whose policy is then the one that counts for it. *record is set only with
 * NAMES_FOUND, *where (g_free(), may be NULL) to the domain whose record it is. NAMES_NONE: there is no record, so no
 * policy. */
NamesAnswer dmarc_find(const Names *names, const char *domain, DmarcRecord *record, char **where);

/* What Authentication-Results says of a message whose author is of domain: "dmarc=pass header.from=example.org
 * policy.dmarc=reject"; g_free(). answer and record are dmarc_find()'s; checks has what DKIM and SPF found, as
 * auth_results_read() gives it. NULL: no signature passed, and whether SPF did is not known, so that nobody can say. */
char *dmarc_result(const char *domain, NamesAnswer answer, const DmarcRecord *record, const GPtrArray *checks);
