/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Tell the defragment runner that somebody decided about the parts of an incomplete message, which wait for one another
 * and are called a set. The runner is told by an entry without mail in its queue (KEY_WAKE), for the slice that has the
 * parts, and looks at the set again. Store the entry after the decision is committed, or in the same unit of work;
 * before, the runner would find nothing changed.
 */
#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

#include "store/posts/fragment.h"
#include "switchboard/spool.h"

/* Store an entry that makes the runner look at the set. FAIL_LATER: it is not stored; the runner still looks at all
 * sets once an hour and at its start. */
bool fragment_wake(Spool *spool, const FragmentSet *set, GError **error);

/* Return the metadata of the entry that fragment_wake() stores, for a caller that stores it in another way;
 * json_decref(). */
json_t *fragment_wake_meta(const FragmentSet *set);
