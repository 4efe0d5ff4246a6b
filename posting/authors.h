/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Read the authors of a post from its From. Programs differ in what they make of a From that violates RFC 5322; code
 * that asks for a ban or for a policy of DMARC must know when another reader may find somebody else there. */
#include "posting/post.h"

/* A From with more mailboxes counts as one that cannot be read: for each one the DNS is asked. */
#define AUTHORS_MAX 8

/* Return the mailboxes of all fields From (of Address). *readable, which may be NULL, is set to whether there is just
 * one such field, and every reader finds just these mailboxes in it: at least one, at most AUTHORS_MAX, in plain
 * writing (address_parse()), of domains that the DNS can have. */
GPtrArray *authors_read(const Post *post, bool *readable);
