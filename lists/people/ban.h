/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Ban addresses, which may then neither join nor post, and lift bans; store/people/ban.h keeps them. A change belongs
 * to the unit of work (lists/work.h) and takes effect when that is committed. It is noted by work_log(), and the change
 * of a list's ban also in the log of that list (lists/change.h).
 */
#include "lists/work.h"
#include "store/lists/list.h"

/* Ban an address, or with "^pattern" all addresses that match, from the list; from the whole site with list NULL. A
 * member who is banned stays a member. FAIL_EXISTS: the same text is banned already. FAIL_NEVER: it is no valid address
 * or pattern, or the list has too many patterns. FAIL_MISSING: there is no such list. */
bool ban_impose(Work *work, const List *list, const char *email, GError **error);
/* Ban exactly this address, as ban_impose() does, also when it begins with '^' as a pattern does. An address that is
 * banned already is no error. FAIL_NEVER: it is not a valid address. */
bool ban_address(Work *work, const List *list, const char *address, GError **error);
/* Remove the ban of an address or "^pattern", written as it was banned; list NULL: the site's. FAIL_MISSING:
 * there is none. */
bool ban_lift(Work *work, const List *list, const char *email, GError **error);
