/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* A message that is handed in beside LMTP, by the shell, over REST or from a news group. */
#include <glib.h>

#include "store/list.h"
#include "switchboard/draft.h"

typedef struct Injection {
    const char *queue;  /* mostly "in" */
    const List *list;
    const char *to;     /* one of TO_* (lists/keys.h) */
    const char *sender; /* of the envelope, "" for none; NULL: who the header says sent it */
    const char *host;   /* this one's name */
    const char *door;   /* "inject", "rest", "nntp": what stands for the peer */
} Injection;

/* The metadata that LMTP would give to the message; json_decref(). */
json_t *injection_meta(const Injection *injection, GBytes *message);

/* The entry for it. */
Draft *injection_draft(const Injection *injection, GBytes *message);
