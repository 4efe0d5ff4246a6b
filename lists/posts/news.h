/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Change from which article on a list takes the articles of its news group. The runner nntp (runners/nntp) fetches
 * them. */
#include <glib.h>
#include <stdbool.h>

#include "lists/work.h"
#include "store/lists/list.h"
#include "store/store.h"

/* Have the list take only articles of its news group that come after the one of this number. With NEWS_NOWHERE
 * (store/lists/news.h) it takes those that come from now on. Earlier articles are left out for good. Besides, gather an
 * entry that has the runner look at the group after the commit. FAIL_RACE: the list gets no articles of a news
 * group. */
bool news_catch_up(Work *work, const List *list, int64_t number, GError **error);
