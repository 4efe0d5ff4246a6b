/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * List the rules and handlers, each with the name that the configuration uses, in order of names. A rule or handler has
 * one line here, and a function in a file of rules/ or handlers/. The check of the configuration (settings.c) includes
 * only this header of the folder.
 */

#define POSTING_RULES(_) \
    _(administrivia, "administrivia") \
    _(any, "any") \
    _(approved, "approved") \
    _(automatic, "automatic") \
    _(autoreply, "autoreply") \
    _(banned_address, "banned-address") \
    _(broken_header, "broken-header") \
    _(burst, "burst") \
    _(digests, "digests") \
    _(dmarc_mitigation, "dmarc-mitigation") \
    _(duplicate, "duplicate") \
    _(emergency, "emergency") \
    _(external, "external") \
    _(header_match, "header-match") \
    _(implicit_dest, "implicit-dest") \
    _(loop, "loop") \
    _(max_recipients, "max-recipients") \
    _(max_size, "max-size") \
    _(member_moderation, "member-moderation") \
    _(news_moderation, "news-moderation") \
    _(no_senders, "no-senders") \
    _(no_subject, "no-subject") \
    _(nonmember_moderation, "nonmember-moderation") \
    _(partial, "partial") \
    _(sender_confirmation, "sender-confirmation") \
    _(suspicious_header, "suspicious-header") \
    _(truth, "truth")

#define POSTING_HANDLERS(_) \
    _(acknowledge, "acknowledge") \
    _(arc_sign, "arc-sign") \
    _(avoid_duplicates, "avoid-duplicates") \
    _(cleanse, "cleanse") \
    _(cleanse_dkim, "cleanse-dkim") \
    _(cook_headers, "cook-headers") \
    _(decorate, "decorate") \
    _(digest_recipients, "digest-recipients") \
    _(dkim_sign, "dkim-sign") \
    _(dmarc, "dmarc") \
    _(external, "external") \
    _(member_recipients, "member-recipients") \
    _(mime_delete, "mime-delete") \
    _(owner_recipients, "owner-recipients") \
    _(rfc_2369, "rfc-2369") \
    _(subject_prefix, "subject-prefix") \
    _(tagger, "tagger") \
    _(to_archive, "to-archive") \
    _(to_digest, "to-digest") \
    _(to_outgoing, "to-outgoing") \
    _(to_usenet, "to-usenet") \
    _(validate_authenticity, "validate-authenticity")

/* Chains and pipelines that are built in. */
#define POSTING_CHAINS \
    "accept", "default-owner-chain", "default-posting-chain", "discard", "hold", "moderation", "reject"
#define POSTING_PIPELINES "default-owner-pipeline", "default-posting-pipeline", "digest", "virgin"
