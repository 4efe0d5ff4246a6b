/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Decide what a list does about the DMARC policies (RFC 9989) of the domains in From. By such a policy receivers refuse
 * mail in the name of the domain that another server has changed and sent on. So the copies get another From
 * (munge_from), carry the post inside a message of the list (wrap_message), or the post is not taken at all.
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
