/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * A handler edits the header of an accepted post or says where it goes. It
 * changes the Post and nothing else. One handler, one file in handlers/, one const struct, one line in
 * handlers[] (handler.c).
 */
#include <glib.h>
#include <stdbool.h>

#include "posting/post.h"

typedef struct Handler {
    const char *name;
    bool (*process)(Post *post, GError **error);
} Handler;

extern const Handler handler_acknowledge, handler_avoid_duplicates, handler_cleanse, handler_cleanse_dkim,
    handler_cook_headers, handler_decorate, handler_digest_recipients, handler_dkim_sign, handler_dmarc,
    handler_external, handler_member_recipients, handler_mime_delete, handler_owner_recipients, handler_rfc_2369,
    handler_subject_prefix, handler_tagger, handler_to_archive, handler_to_digest, handler_to_outgoing,
    handler_to_usenet;

/* All of them, by name, ended by NULL. */
extern const Handler *const handlers[];
const Handler *handler_find(const char *name);
