/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * What is known about a post's authenticity when it comes: its DKIM signatures (RFC 6376) and its ARC chain (RFC 8617),
 * checked here, and what servers that the site trusts found out before (RFC 8601), such as SPF. The list's changes
 * break signatures, so this is found before them; it goes into the post as Authentication-Results, and into the seal
 * that the list puts on the copies.
 */
#include "mail/arc.h"
#include "posting/post.h"

typedef struct Authenticity {
    char *results; /* the value of Authentication-Results of this site */
    ArcChain chain;
} Authenticity;

/* Finds it out, once, and keeps it in the post, as the message is now. False: ask again when post->names has more
 * answers. A DNS that does not answer makes "temperror". Only where the site has an authserv_id. */
bool authenticity_find(Post *post);

/* The seal that the copies get, whose texts are the post's; false: none. A post without an author has no seal, which
 * would tell of him. */
bool authenticity_seal(const Post *post, ArcSeal *seal);

void authenticity_free(Authenticity *authenticity);
