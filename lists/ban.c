/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/ban.h"

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

bool ban_lift(Work *work, const List *list, const char *email, GError **error)
{
    if (!ban_remove(work_store(work), list ? list->list_id : NULL, email, error))
        return false;
    note(work, list, email, "allowed");
    return true;
}
