/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Decide what a list does about the DMARC policies (RFC 9989) of the domains in From: receivers refuse mail in the name
 * of such a domain that comes from somebody else, changed. So the copies get another From (munge_from), carry the post
 * inside a message of the list (wrap_message), or the post is not taken at all.
 *
 * Of several authors the strictest policy counts. A From that cannot be read with certainty (posting/authors.h) is
 * treated as if the policy of its domain were reject.
 */
#include "posting/post.h"

/* In the order of the list setting dmarc_mitigate_action. */
typedef enum Mitigation {
    MITIGATION_NONE,
    MITIGATION_MUNGE_FROM,
    MITIGATION_WRAP_MESSAGE,
    MITIGATION_REJECT,
    MITIGATION_DISCARD,
} Mitigation;

/* Finds out, once, and keeps it in the post. NAMES_PENDING: ask again when post->names has more answers. NAMES_TROUBLE:
 * the DNS gave no answer; *mitigation is what the list wants then (dmarc_without_answer), which is never to refuse. */
NamesAnswer mitigation_find(Post *post, Mitigation *mitigation);

/* May the copies, which leave as copy but for what handler decorate adds, keep their From because the signature of its
 * domain holds (dmarc_keep_signed)? After mitigation_find(). Fails when the store does. */
bool mitigation_unneeded(const Post *post, const Message *copy, bool *unneeded, GError **error);

/* Does the list want to wait for the DNS rather than go on without an answer? */
bool mitigation_waits(const Post *post);
