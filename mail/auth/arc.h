/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Check the chain of seals that servers on the way put on a message (Authenticated Received Chain, RFC 8617), and add
 * this server's. Each set of three fields, numbered from 1, says what its server found (ARC-Authentication-Results),
 * signs the message as it left there (ARC-Message-Signature), and seals all sets so far (ARC-Seal). So a receiver that
 * trusts a mailing list can believe that the author's signature held before the list changed the post.
 *
 * A chain is checked on the message as it came, before anything is changed, and sealed when all changes are made.
 */
#include <glib.h>
#include <stdbool.h>

#include "mail/auth/dkim.h"
#include "mail/auth/names.h"
#include "mail/message.h"

#define ARC_INSTANCE_MAX 50 /* RFC 8617, 4.2.1 */

typedef enum ArcStatus {
    ARC_NONE,    /* there is no chain */
    ARC_PASS,
    ARC_FAIL,    /* for good: nobody can make it whole again */
    ARC_TROUBLE, /* the DNS did not give a key: nobody knows */
} ArcStatus;

const char *arc_status_text(ArcStatus status); /* "none", "pass", "fail", "temperror", as in Authentication-Results */

typedef struct ArcChain {
    ArcStatus status;
    unsigned instance;  /* the highest number that a set has, 0: there is none */
    bool ended;         /* its last set says that the chain had failed: nobody is to add another */
    const char *reason; /* why it fails, static; NULL otherwise */
} ArcChain;

/* Sets whose fields are longer together are no chain, because each seal costs as much as all fields before it. There is
 * room for 50 sets of five kilobytes. */
#define ARC_OCTETS_MAX (256 * 1024)

/* Check the chain of the message, which arrived at that time (microseconds since 1970). All keys are asked for at once.
 * False: the answers are not there yet (NAMES_PENDING); ask again.
 *
 * The last signature is void when it had expired (x=), as RFC 6376 section 3.5 allows. It is also void when it is of a
 * part of the body alone (l=) and text stands behind that part. Section 8.2 there warns of such text, and a seal would
 * vouch for it. */
bool arc_check(const Message *message, const Names *names, int64_t arrival, ArcChain *chain);

/* The set that arc_seal() adds to a chain. */
typedef struct ArcSeal {
    ArcChain chain;      /* as it came; not ARC_TROUBLE */
    const char *results; /* "lists.example.com; dkim=pass header.d=example.org", which may be folded */
    int64_t now;         /* us */
} ArcSeal;

/* Return whether a set may be added to the chain: it has not ended, is not full, and could be checked. */
bool arc_may_seal(const ArcChain *chain);

/* Seal the message as it leaves, after its DKIM signatures were put on it, and return the three fields, with CRLF, for
 * its beginning; g_free(). Of a chain that passed all fields must still be there. FAIL_NEVER: they are not. FAIL_LATER:
 * libcrypto failed. */
char *arc_seal(const DkimKey *key, const Message *message, const ArcSeal *seal, GError **error);
