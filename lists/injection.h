/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* A message that is handed in beside LMTP, by the shell or over REST. */
#include <glib.h>

#include "store/list.h"
#include "switchboard/draft.h"

typedef struct Injection {
    const char *queue;  /* mostly "in" */
    const List *list;
    const char *to;     /* one of TO_* (runners/keys.h) */
    const char *sender; /* of the envelope, "" for none; NULL: who the header says sent it */
    const char *host;   /* this one's name */
    const char *door;   /* "inject", "rest": what stands for the peer */
} Injection;

/* The entry for the message, with the metadata that LMTP would give it. */
Draft *injection_draft(const Injection *injection, GBytes *message);
