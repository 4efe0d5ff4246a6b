/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Read the authors of a post from its From. Programs read a From that violates RFC 5322 differently. Code that asks for
 * a ban or for a policy of DMARC must know when another program may find another author there. */
#include "posting/post.h"

/* A From with more mailboxes counts as one that cannot be read, since the DNS is asked for each one. */
#define AUTHORS_MAX 8

/* Return the mailboxes of all fields From (of Address); g_ptr_array_unref(). *readable (readable may be NULL) is set to
 * whether every program finds just these. That is so if there is one field From with 1 to AUTHORS_MAX mailboxes in
 * plain writing (address_parse()), whose domains the DNS can have. */
GPtrArray *authors_read(const Post *post, bool *readable);
