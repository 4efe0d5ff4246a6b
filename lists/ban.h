/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Ban addresses, which may then neither join nor post, and lift bans. Each change is logged (store/ban.h, change.h). */
#include "lists/work.h"
#include "store/list.h"

/* Ban an address, or with "^pattern" all addresses that match, from the list; from the whole site with list NULL. A
 * member who is banned stays a member. Errors are those of ban_add(). */
bool ban_impose(Work *work, const List *list, const char *email, GError **error);
/* Ban exactly this address, also when it begins with '^' as a pattern does. An address that is banned already is no
 * error. FAIL_NEVER: it is not a valid address. */
bool ban_address(Work *work, const List *list, const char *address, GError **error);
/* Remove the ban of an address or "^pattern", written as it was banned; list NULL: the site's. FAIL_MISSING:
 * there is none. */
bool ban_lift(Work *work, const List *list, const char *email, GError **error);
