/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Which list, and what of it, an envelope recipient means: the store asked
 * through a small cache, so that a busy site costs no query for each
 * recipient. What is cached is dropped as soon as another process wrote to the database.
 *
 * A database that cannot be used does not end the process: each look-up
 * fails with FAIL_LATER, and once a second it is opened anew.
 */
#include <glib.h>

#include "base/config.h"
#include "mail/list_address.h"
#include "runners/lmtp/fragments.h"

typedef struct Lists Lists;

/* config is borrowed. */
Lists *lists_new(const Config *config);
void lists_free(Lists *lists);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Lists, lists_free)

/* What to do with a part of a message for a list: fragments_decide() (fragments.h). FAIL_LATER: it cannot be told. */
bool lists_decide(Lists *lists, const FragmentOffer *offer, FragmentAnswer *answer, GError **error);

/* FAIL_MISSING: no list answers to the address. FAIL_LATER: it cannot be told. */
ListAddress *lists_find(Lists *lists, const char *mailbox, GError **error);
