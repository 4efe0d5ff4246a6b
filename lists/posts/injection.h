/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Make the queue entry for a message that comes in by another way than LMTP: by the shell, over REST or from a news
 * group. The caller stores the entry.
 */
#include <glib.h>

#include "store/lists/list.h"
#include "switchboard/draft.h"

typedef struct Injection {
    const char *queue;  /* mostly "in" */
    const List *list;
    const char *to;     /* one of TO_* (lists/keys.h) */
    const char *sender; /* of the envelope, "" for none; NULL: it is taken from the header */
    const char *host;   /* this one's name */
    const char *door;   /* "inject", "rest", "nntp": what stands for the peer */
} Injection;

/* Return the metadata (lists/keys.h) that LMTP would give to the message; json_decref(). */
json_t *injection_meta(const Injection *injection, GBytes *message);

/* Return a draft of the entry, with this metadata and the message; draft_free(). Nothing is stored yet. */
Draft *injection_draft(const Injection *injection, GBytes *message);
