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

/* The policy for mail from domain; *policy is set only with NAMES_FOUND, *where (g_free(), may be NULL) to the domain
 * whose record it is. NAMES_NONE: there is no record, so no policy. */
NamesAnswer dmarc_find(const Names *names, const char *domain, DmarcPolicy *policy, char **where);
