/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Decide about a post before its handlers run: by the chain that its list has chosen, then by the accounts of the rules
 * and the room for held posts. Shared by the runner in and by trials (lists/trial.h).
 */
#include <glib.h>
#include <stdbool.h>

#include "posting/post.h"

/* Say to the store what judge_run() will most likely ask it about the post, all of which is set but its list. */
void judge_soon(Post *post, const char *list_id);

/* Run the post through the chain of its list, for posts or for mail to the owners. A post of a list whose chain the
 * configuration does not have is held. Only reads the store. */
bool judge_run(Post *post, Verdict *verdict, GError **error);

/* Enter the post into the accounts of the rules, as accepted or as held, in the transaction of the post. An accepted
 * one may be held then; one that is to be held is rejected where it is too large or where there is no room, and so is
 * not entered, and may come again. *stranger is set for one that stays held: none of its senders is on the list. */
bool judge_enter(Post *post, Verdict *verdict, bool *stranger, GError **error);
