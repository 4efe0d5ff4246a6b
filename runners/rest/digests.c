/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* /lists/{list}/digest: where the digests stand, sending one, and beginning a volume. */
#include "base/fail.h"
#include "lists/posts/digest_send.h"
#include "runners/rest/resources.h"
#include "store/lists/list_setting.h"

static void get(Call *call)
{
    g_auto(Digest) digest = {0};
    GError *error = NULL;
    g_autoptr(List) list = rest_list(call);
    bool read = list && digest_read(call->rest->store, list->list_id, &digest, &error);
    answer_found(call, read ? json_pack("{sI sI}", "next_digest_number", (json_int_t)digest.next_number, "volume",
                                        (json_int_t)digest.volume)
                            : NULL, &error);
}

/* periodic: only when the list sends digests by the clock. */
static bool act(Call *call, Work *work, const List *list, GError **error)
{
    bool send = false, bump = false, periodic = false;
    int64_t waiting;
    g_auto(Digest) digest = {0};
    if (!form_bool(call, "send", &send) || !form_bool(call, "bump", &bump) || !form_bool(call, "periodic", &periodic))
        return false;
    if (send && periodic) {
        answer_refusal(call, 400, "send and periodic exclude each other");
        return false;
    }
    if (bump && !digest_send_bump(work, list, &digest, error))
        return false;
    return !(send || (periodic && list->settings->digest_send_periodic)) ||
           digest_send_ask(work, list, &waiting, error);
}

static void post(Call *call)
{
    GError *error = NULL;
    bool asked = call->form.names->len > 0;
    g_autoptr(List) list = form_expect(call, "", "send bump periodic") ? rest_list(call) : NULL;
    g_autoptr(Work) work = list ? rest_begin(call) : NULL;
    if (!work || !act(call, work, list, &error))
        rest_fail(call, error);
    else if (rest_commit(call, work))
        answer_empty(call, asked ? 202 : 200);
}

static const RestField fields[] = {
    {"next_digest_number", MAY_LIST, MAY_NOBODY},
    {"volume", MAY_LIST, MAY_NOBODY},
    {"send", MAY_NOBODY, MAY_LIST},
    {"bump", MAY_NOBODY, MAY_LIST},
    {"periodic", MAY_NOBODY, MAY_LIST},
    {0},
};

const RestRoute rest_digests[] = {
    {"GET", "lists/{list}/digest", OF_LIST, MAY_LIST, fields, get, NULL},
    {"POST", "lists/{list}/digest", OF_LIST, MAY_LIST, fields, post, NULL},
    {0},
};
