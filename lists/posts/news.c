/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/posts/news.h"

#include "base/fail.h"
#include "lists/keys.h"
#include "store/lists/list_setting.h"
#include "store/lists/news.h"
#include "switchboard/meta.h"

#define NEWS_QUEUE "nntp"

/* The runner that finds the list nowhere in its group takes the group's last number; the entry wakes it. */
bool news_catch_up(Work *work, const List *list, int64_t number, GError **error)
{
    const char *group = list->settings->linked_newsgroup;
    if (!list->settings->gateway_to_mail || !group || !*group)
        return fail(error, FAIL_RACE, "%s gets no articles of a news group; that needs linked_newsgroup and "
                    "gateway_to_mail", list->posting_address);
    if (!news_set_watermark(work_store(work), list->list_id, group, number, error))
        return false;
    json_t *meta = json_object();
    meta_set_string(meta, META_LIST, list->list_id);
    meta_set_bool(meta, KEY_NEWS_LOOK, true);
    static const char text[] = "The news group of this list is to be looked at.\r\n";
    GPtrArray *pieces = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
    g_ptr_array_add(pieces, g_bytes_new_static(text, sizeof text - 1));
    work_entry(work, NEWS_QUEUE, meta, pieces, NULL);
    work_log(work, list->list_id, "result=news-catch-up newsgroup=%s", group);
    return true;
}
