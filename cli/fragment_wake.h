/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Telling the defragment runner that something was decided about parts that
 * wait: an entry without mail in its queue (KEY_WAKE).
 */
#include <glib.h>
#include <stdbool.h>

#include "store/store.h"
#include "switchboard/spool.h"

/* The runner looks at the parts of this set again. */
bool fragment_wake(Spool *spool, const FragmentSet *set, GError **error);

/* For a list that is about to be removed: the entries that are to be stored when it is (of Draft, owned), as many as
 * each slice needs to learn of it; *sets and *parts: what waits for it on this host. */
GPtrArray *fragment_wake_prepare(Store *store, const char *list_id, const char *host, int64_t *sets, int64_t *parts,
                                 GError **error);
bool fragment_wake_store(Spool *spool, const GPtrArray *drafts, GError **error);
