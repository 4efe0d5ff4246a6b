/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Check a post's authenticity before the list changes it, since changes break signatures. Its DKIM signatures (RFC
 * 6376) and its ARC chain (RFC 8617) are checked here. Findings of servers that the site trusts, such as SPF, are taken
 * from the header (RFC 8601). What follows from both for DMARC (RFC 9989) is computed. The results go into the post as
 * Authentication-Results, and into the ARC seal that the list puts on the copies.
 */
#include "mail/auth/arc.h"
#include "posting/post.h"

typedef struct Authenticity {
    char *results; /* the value of Authentication-Results of this site */
    ArcChain chain;
} Authenticity;

/* Check the message as it is at the first call, and keep the findings in post->authenticity. Return false when an
 * answer of the DNS is still to come: call it again when post->names has more. A DNS that does not answer makes
 * "temperror", and true is returned. Nothing is checked where the site has no authserv_id. */
bool authenticity_find(Post *post);

/* Fill *seal for the copies, after authenticity_find(); its texts are borrowed from the post. Return false when they
 * get no seal. That is so if the findings do not allow one, or if the list is anonymous, since a seal would name the
 * author's domain. */
bool authenticity_seal(const Post *post, ArcSeal *seal);

/* Free the findings; post_clear() does it. */
void authenticity_free(Authenticity *authenticity);
