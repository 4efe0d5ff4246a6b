/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The lines of recipients who get copies of their own (mail/copy.h): their
 * envelope sender and the token to unsubscribe, signed (mail/verp.h), their name, and whether the post names them.
 */
#include <glib.h>

#include "mail/verp.h"
#include "posting/post.h"

typedef struct Copies Copies;

/* NULL: the post's copies are all the same. keys are borrowed; arrival is the
 * post's, in which its addresses are dated; delimiter is [lmtp] verp_delimiter. */
Copies *copies_new(const Post *post, const PostSend *send, VerpKeys *keys, int64_t arrival, char delimiter);
Copies *copies_ref(Copies *copies);
void copies_unref(Copies *copies);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Copies, copies_unref)

/* Must the names of recipients be known? */
bool copies_want_names(const Copies *copies);

/* The line; borrowed until the next call. */
const char *copies_line(Copies *copies, const char *address, const char *name);
