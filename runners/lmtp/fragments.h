/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Decide what the runner lmtp does with a part of a message (message/partial): whether the list has parts joined, and
 * whether there is room for the part's bytes (runners/defragment/README.md, "Limits"). Parts that were let in since the
 * index was asked are counted, so that a flood does not slip in while the runner defragment is behind.
 */
#include <glib.h>
#include <stdbool.h>

#include "base/config.h"
#include "mail/mime/partial.h"
#include "runners/server/lists.h"

typedef struct Fragments Fragments;

/* config and lists are borrowed. */
Fragments *fragments_new(const Config *config, Lists *lists);
void fragments_free(Fragments *fragments);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Fragments, fragments_free)

/* A part that was handed in for a list. */
typedef struct FragmentOffer {
    const char *list_id, *sender; /* partial_sender() */
    const Partial *partial;
    size_t size;
} FragmentOffer;

/* The decision about a part. key set: it goes to `defragment` with that shard key; refusal set: that is the reply;
 * neither: it goes to `in`. Both are g_free()d by the caller. */
typedef struct FragmentAnswer {
    char *key, *refusal;
} FragmentAnswer;

/* Decide about a part. False, with FAIL_LATER: the database cannot be used now. */
bool fragments_decide(Fragments *fragments, const FragmentOffer *offer, FragmentAnswer *answer, GError **error);
