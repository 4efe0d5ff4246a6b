/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* A list and its news group, by whoever asks. The runner nntp does the rest (runners/nntp). */
#include <glib.h>
#include <stdbool.h>

#include "lists/work.h"
#include "store/list.h"
#include "store/store.h"

/* Have the list take articles of its news group only from the one after this number on; with NEWS_NOWHERE, only those
 * that come from now on. Articles before that are left out. An entry is gathered that has the runner look at the group.
 * FAIL_RACE: the list gets no articles of a news group. */
bool news_catch_up(Work *work, const List *list, int64_t number, GError **error);
