/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/ban.h"

#include "base/fail.h"
#include "base/mailbox.h"
#include "store/ban.h"

static void note(Work *work, const List *list, const char *email, const char *result)
{
    work_log(work, list ? list->list_id : "-", "ban=<%s> by=<%s> result=%s", email, work_by(work), result);
}

bool ban_impose(Work *work, const List *list, const char *email, GError **error)
{
    if (!ban_add(work_store(work), list ? list->list_id : NULL, email, error))
        return false;
    note(work, list, email, "banned");
    return true;
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
    g_propagate_error(error, g_steal_pointer(&refusal));
    return false;
}

bool ban_lift(Work *work, const List *list, const char *email, GError **error)
{
    if (!ban_remove(work_store(work), list ? list->list_id : NULL, email, error))
        return false;
    note(work, list, email, "allowed");
    return true;
}
