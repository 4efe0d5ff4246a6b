/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* A list and its news group, by whoever asks. The runner nntp does the rest (runners/nntp). */
#include <glib.h>
#include <stdbool.h>

#include "lists/work.h"
#include "store/list.h"
#include "store/store.h"

/* Let the list go on behind that article of its news group or, with NEWS_NOWHERE, with what comes from now on: what is
 * there now is left out. FAIL_RACE: the list gets no articles of a group. */
bool news_catch_up(Work *work, const List *list, int64_t number, GError **error);
