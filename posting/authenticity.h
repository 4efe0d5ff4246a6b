/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Check a post's authenticity before the list changes it, since changes break signatures. Its DKIM signatures (RFC
 * 6376) and its ARC chain (RFC 8617) are checked here. Findings of servers that the site trusts, such as SPF, are taken
 * from the header (RFC 8601). What follows from both for DMARC (RFC 9989) is computed. The results go into the post as
 * Authentication-Results, and into the ARC seal that the list puts on the copies.
 *
 * The authors of a post are read from its From. Programs read a From that violates RFC 5322 differently. Code that asks
 * for a ban or for a policy of DMARC must know when another program may find another author there.
 *
 * mitigation_find() decides what a list does about the DMARC policies (RFC 9989) of the domains in From. By such a
 * policy receivers refuse mail in the name of the domain that another server has changed and sent on. So the copies get
 * another From (munge_from), carry the post inside a message of the list (wrap_message), or the post is not taken at
 * all.
 *
 * Of several authors the strictest policy counts. A From that cannot be read with certainty (authors_read()) is
 * treated as if the policy of its domain were reject.
 */
#include "mail/auth/arc.h"
#include "posting/post.h"

/* A From with more mailboxes counts as one that cannot be read, since the DNS is asked for each one. */
#define AUTHORS_MAX 8

/* Return the mailboxes of all fields From (of Address); g_ptr_array_unref(). *readable (readable may be NULL) is set to
 * whether every program finds just these. That is so if there is one field From with 1 to AUTHORS_MAX mailboxes in
 * plain writing (address_parse()), whose domains the DNS can have. */
GPtrArray *authors_read(const Post *post, bool *readable);

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

/* In the order of the list setting dmarc_mitigate_action. */
typedef enum Mitigation {
    MITIGATION_NONE,
    MITIGATION_MUNGE_FROM,
    MITIGATION_WRAP_MESSAGE,
    MITIGATION_REJECT,
    MITIGATION_DISCARD,
} Mitigation;

/* Find what the list does with this post, and keep the answer in the post for later calls. NAMES_FOUND: *mitigation is
 * to be done. NAMES_NONE: nothing is. NAMES_PENDING: call again when post->names has more answers. NAMES_TROUBLE: the
 * DNS gave no answer, and *mitigation follows dmarc_without_answer; it is then never MITIGATION_REJECT or _DISCARD. */
NamesAnswer mitigation_find(Post *post, Mitigation *mitigation);

/* Ask, after mitigation_find(), whether the copies may keep their From because a signature of its domain holds for them
 * (dmarc_keep_signed). `copy` is the message as it leaves, without what the handler decorate adds to it. False: the
 * store failed. */
bool mitigation_unneeded(const Post *post, const Message *copy, bool *unneeded, GError **error);

/* After NAMES_TROUBLE: return whether the list wants the post to wait for the DNS. It does so for a day at most. */
bool mitigation_waits(const Post *post);
