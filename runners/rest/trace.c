/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* /listrunner/trace: what became of a post (lists/posts/post_trace.h). */
#include "base/trail/trail.h"
#include "lists/posts/post_trace.h"
#include "runners/rest/resources.h"

#define ROWS 100

/* NULL: the call was answered, or no list is named. *fine: there was no fault. */
static List *named_list(Call *call, bool *fine)
{
    GError *error = NULL;
    *fine = true;
    List *list = form_has(call, "list_id") ? list_find(call->rest->store, form_text(call, "list_id"), &error) : NULL;
    if (error) {
        *fine = false;
        rest_unknown(call, error);
    }
    return list;
}

static void get(Call *call)
{
    GError *error = NULL;
    bool fine;
    int64_t since = 0;
    if (!form_expect(call, "message_id", "list_id email after") || !rest_store(call))
        return;
    g_autoptr(List) list = named_list(call, &fine);
    if (!fine)
        return;
    g_autofree char *key = post_trace_find_key(call->rest->store, form_text(call, "message_id"), &error);
    if (!key) {
        rest_unknown(call, error);
        return;
    }
    g_auto(PostTrace) trace = {.directory = config_string(call->rest->config, "trail", "directory"),
                               .key = key,
                               .list = list,
                               .address = form_is_empty(call, "email") ? NULL : form_text(call, "email"),
                               .most = ROWS};
    if (!post_trace_begin(&trace, form_text(call, "after"))) {
        form_refuse(call, "after", "it is not what an answer had as next");
        return;
    }
    g_autoptr(json_t) rows = json_array(),
                      not_asked = post_trace_not_asked(call->rest->store, call->rest->config, &error);
    if (!not_asked || !post_trace_read(&trace, rows, &error) || !trail_since(trace.directory, &since, &error)) {
        rest_fail(call, error);
        return;
    }
    answer_json(call, 200,
                json_pack("{sO so so sI sb sO}", "entries", rows, "next",
                          trace.next ? json_words(trace.next) : json_null(), "since",
                          since ? json_time(since) : json_null(), "damaged", (json_int_t)trace.damaged, "more_mails",
                          trace.more_mails, "not_asked", not_asked));
}

static const RestField fields[] = {
    {"message_id", MAY_LIST, MAY_NOBODY},
    {"list_id", MAY_LIST, MAY_NOBODY},
    {"email", MAY_LIST, MAY_NOBODY},
    {"after", MAY_LIST, MAY_NOBODY},
    {"entries", MAY_LIST, MAY_NOBODY},
    {"next", MAY_LIST, MAY_NOBODY},
    {"since", MAY_LIST, MAY_NOBODY},
    {"damaged", MAY_LIST, MAY_NOBODY},
    {"more_mails", MAY_LIST, MAY_NOBODY},
    {"not_asked", MAY_LIST, MAY_NOBODY},
    {0},
};

const RestRoute rest_trace[] = {
    {"GET", "listrunner/trace", OF_NAMED_LIST, MAY_LIST, fields, get,
     "What became of a post, for each recipient or one email"},
    {0},
};
