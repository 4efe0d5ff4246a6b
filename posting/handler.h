/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * A handler edits the header of an accepted post or says where it goes. It
 * changes the Post and nothing else. One handler, one file in handlers/, one const struct, one line in
 * words.h.
 */
#include <glib.h>
#include <stdbool.h>

#include "posting/post.h"
#include "posting/words.h"

typedef struct Handler {
    const char *name;
    bool (*process)(Post *post, GError **error);
} Handler;

#define DECLARE_HANDLER(symbol, word) extern const Handler handler_##symbol;
POSTING_HANDLERS(DECLARE_HANDLER)
#undef DECLARE_HANDLER

/* All of them, by name, ended by NULL. */
extern const Handler *const handlers[];
const Handler *handler_find(const char *name);
