/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/posts/header_rows.h"

#include "lists/change.h"

static void note(Work *work, const char *list_id, int64_t position, const char *result)
{
    work_log(work, list_id ? list_id : "-", "header-match=%" G_GINT64_FORMAT " by=<%s> result=%s", position,
             work_by(work), result);
}

/* "^yes: hold", as the list's log has a row; NULL for NULL. g_free() */
static char *row_text(const HeaderMatch *match)
{
    return match ? g_strdup_printf("%s: %s", match->pattern, match->target ? match->target : "default") : NULL;
}

/* Rows of the site are in no list's log. before or after NULL: there was, or is, none. */
static bool log_row(Work *work, const char *list_id, const HeaderMatch *before, const HeaderMatch *after,
                    GError **error)
{
    g_autofree char *old = row_text(before), *new = row_text(after);
    return !list_id ||
           change_log(work, list_id, &(Change){LOG_HEADER_MATCH, (after ? after : before)->header, old, new}, error);
}

bool header_rows_add(Work *work, HeaderMatch *match, GError **error)
{
    if (!header_match_add(work_store(work), match, error))
        return false;
    note(work, match->list_id, match->position, "added");
    return log_row(work, match->list_id, NULL, match, error);
}

bool header_rows_change(Work *work, int64_t position, HeaderMatch *match, GError **error)
{
    g_autoptr(HeaderMatch) before = header_match_find(work_store(work), match->list_id, position, error);
    if (!before || !header_match_change(work_store(work), position, match, error))
        return false;
    note(work, match->list_id, position, "changed");
    return log_row(work, match->list_id, before, match, error);
}

bool header_rows_remove(Work *work, const char *list_id, int64_t position, GError **error)
{
    g_autoptr(HeaderMatch) before = header_match_find(work_store(work), list_id, position, error);
    if (!before || !header_match_remove(work_store(work), list_id, position, error))
        return false;
    note(work, list_id, position, "removed");
    return log_row(work, list_id, before, NULL, error);
}

bool header_rows_clear(Work *work, const char *list_id, const char *tag, int64_t *removed, GError **error)
{
    Store *store = work_store(work);
    int64_t count = 0;
    g_autoptr(GPtrArray) all = list_id ? header_match_all(store, list_id, error) : NULL;
    if (list_id && !all)
        return false;
    for (guint i = 0; all && i < all->len; i++) { /* the list's log has a row for each that goes */
        const HeaderMatch *match = all->pdata[i];
        if ((!tag || g_strcmp0(match->tag, tag) == 0) && !log_row(work, list_id, match, NULL, error))
            return false;
    }
    if (!header_match_clear(store, list_id, tag, &count, error))
        return false;
    if (removed)
        *removed = count;
    work_log(work, list_id ? list_id : "-", "header-match=all%s%s count=%" G_GINT64_FORMAT " by=<%s> result=removed",
             tag ? " tag=" : "", tag ? tag : "", count,
             work_by(work));
    return true;
}
