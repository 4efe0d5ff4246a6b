/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Write the recipient lines of an entry whose recipients get copies of their own (mail/copy.h). A line has the address
 * and what differs in the copy: the envelope sender and the token to unsubscribe, both signed (mail/bounce/verp.h), the
 * recipient's name, and whether the post names the recipient.
 */
#include <glib.h>

#include "mail/bounce/verp.h"
#include "posting/post.h"

typedef struct Copies Copies;

/* Make the writer for one way in which a post leaves. NULL: all recipients get the same. keys are borrowed. arrival is
 * that of the post, and dates the signed addresses. delimiter is [lmtp] verp_delimiter. */
Copies *copies_new(const Post *post, const PostSend *send, VerpKeys *keys, int64_t arrival, char delimiter);
Copies *copies_ref(Copies *copies);
void copies_unref(Copies *copies);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Copies, copies_unref)

/* Return true when copies_line() needs the names of recipients. */
bool copies_want_names(const Copies *copies);

/* Return the line of a recipient; borrowed until the next call. */
const char *copies_line(Copies *copies, const char *address, const char *name);
