/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Bans: who may neither join nor post (store/ban.h). */
#include "lists/work.h"
#include "store/list.h"

/* Bans an address, or "^pattern", from the list; from the whole site with list NULL. Who is a member stays one. Errors
 * are those of ban_add(). */
bool ban_impose(Work *work, const List *list, const char *email, GError **error);
/* Bans this address, also when it begins as a pattern does. That it is banned already is no error. FAIL_NEVER: it is no
 * address. */
bool ban_address(Work *work, const List *list, const char *address, GError **error);
/* FAIL_MISSING: there is no such ban. */
bool ban_lift(Work *work, const List *list, const char *email, GError **error);
