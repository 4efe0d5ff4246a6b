/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/people/ban.h"

#include "base/fail.h"
#include "base/mailbox.h"
#include "lists/change.h"
#include "store/people/ban.h"

/* Bans of the site are in no list's log. */
static bool note(Work *work, const List *list, const char *email, bool banned, GError **error)
{
    const char *result = banned ? "banned" : "allowed";
    g_autofree char *lower = *email == '^' ? g_strdup(email) : g_utf8_strdown(email, -1);
    work_log(work, list ? list->list_id : "-", "ban=<%s> by=<%s> result=%s", email, work_by(work), result);
    return !list || change_log(work, list->list_id,
                               &(Change){LOG_BAN, lower, banned ? NULL : "banned", banned ? "banned" : NULL}, error);
}

bool ban_impose(Work *work, const List *list, const char *email, GError **error)
{
    if (!ban_add(work_store(work), list ? list->list_id : NULL, email, error))
        return false;
    return note(work, list, email, true, error);
}

bool ban_address(Work *work, const List *list, const char *address, GError **error)
{
    g_autoptr(GError) refusal = NULL;
    g_autofree char *escaped = g_regex_escape_string(address, -1);
    g_autofree char *pattern = g_strdup_printf("^%s$", escaped);
    if (!mailbox_valid(address))
        return fail(error, FAIL_NEVER, "\"%s\" is no address", address);
    if (ban_impose(work, list, *address == '^' ? pattern : address, &refusal) ||
        g_error_matches(refusal, FAIL, FAIL_EXISTS))
        return true;
    return fail_with(error, &refusal);
}

bool ban_lift(Work *work, const List *list, const char *email, GError **error)
{
    if (!ban_remove(work_store(work), list ? list->list_id : NULL, email, error))
        return false;
    return note(work, list, email, false, error);
}
