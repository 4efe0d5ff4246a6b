/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Find out what is known about a post's authenticity when it comes: its DKIM signatures (RFC 6376) and its ARC chain
 * (RFC 8617), checked here, what servers that the site trusts found out before (RFC 8601), such as SPF, and what
 * follows from both for DMARC (RFC 9989). The list's changes break signatures, so this is found before them; it goes
 * into the post as Authentication-Results, and into the seal that the list puts on the copies.
 */
#include "mail/arc.h"
#include "posting/post.h"

typedef struct Authenticity {
    char *results; /* the value of Authentication-Results of this site */
    ArcChain chain;
} Authenticity;

/* Check the message as it is now, the first time this is called, and keep what is found in the post. Returns false when
 * an answer of the DNS is still to come: call it again when post->names has more. A DNS that does not answer makes
 * "temperror". Nothing is checked where the site has no authserv_id. */
bool authenticity_find(Post *post);

/* Describe in seal how the copies are sealed; its texts are borrowed from the post. Returns false when they get no
 * seal: what was found does not allow one, or the list is anonymous, and a seal would name the author's domain. */
bool authenticity_seal(const Post *post, ArcSeal *seal);

void authenticity_free(Authenticity *authenticity);
