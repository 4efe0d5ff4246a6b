/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/header_rows.h"

static void note(Work *work, const char *list_id, int64_t position, const char *result)
{
    work_log(work, list_id ? list_id : "-", "header-match=%" G_GINT64_FORMAT " by=<%s> result=%s", position,
             work_by(work), result);
}

bool header_rows_add(Work *work, HeaderMatch *match, GError **error)
{
    if (!header_match_add(work_store(work), match, error))
        return false;
    note(work, match->list_id, match->position, "added");
    return true;
}

bool header_rows_change(Work *work, int64_t position, HeaderMatch *match, GError **error)
{
    if (!header_match_change(work_store(work), position, match, error))
        return false;
    note(work, match->list_id, position, "changed");
    return true;
}

bool header_rows_remove(Work *work, const char *list_id, int64_t position, GError **error)
{
    if (!header_match_remove(work_store(work), list_id, position, error))
        return false;
    note(work, list_id, position, "removed");
    return true;
}

bool header_rows_clear(Work *work, const char *list_id, const char *tag, int64_t *removed, GError **error)
{
    int64_t count = 0;
    if (!header_match_clear(work_store(work), list_id, tag, &count, error))
        return false;
    if (removed)
        *removed = count;
    work_log(work, list_id ? list_id : "-", "header-match=all%s%s count=%" G_GINT64_FORMAT " by=<%s> result=removed",
             tag ? " tag=" : "", tag ? tag : "", count,
             work_by(work));
    return true;
}
