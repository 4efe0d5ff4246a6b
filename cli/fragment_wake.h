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
