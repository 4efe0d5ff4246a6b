/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Somebody who is signed in is forgotten: off all lists, and nothing is stored about the person any more but what the
 * page says. */
#include <limits.h>

#include "base/fail.h"
#include "lists/people/people.h"
#include "runners/web/my.h"
#include "store/people/user.h"

static bool set_lists(WebCall *call, const SignedIn *person, json_t *view, GError **error)
{
    g_autoptr(GPtrArray) members = sign_in_members(call->web->store, person, NULL, INT_MAX, error);
    return my_set_lines(call, members, view, error);
}

static void get_forget(WebCall *call)
{
    GError *error = NULL;
    bool runs;
    const SignedIn *person = my_person(call);
    if (!person)
        return;
    json_t *view = my_view(call, person);
    if (!my_owns_place(call->web->store, person, &runs, &error) || !set_lists(call, person, view, &error)) {
        json_decref(view);
        web_missing(call, error);
        return;
    }
    json_object_set_new(view, "refused", json_boolean(runs));
    web_page(call, 200, "my_forget", view);
}

static void post_forget(WebCall *call)
{
    GError *error = NULL;
    bool runs;
    const SignedIn *person = my_sender(call);
    g_autoptr(Work) work = person ? web_begin(call) : NULL;
    if (!work)
        return;
    work_become(work, ACTOR_MEMBER, person->address);
    if (!my_owns_place(work_store(work), person, &runs, &error)) {
        web_missing(call, error);
    } else if (runs) {
        work_cancel(work);
        get_forget(call);
    } else if (!people_forget(work, person->user_id, person->address, &error)) {
        web_missing(call, error);
    } else if (web_commit(call, work)) {
        web_set_session(call, NULL);
        web_notice(call, 200, "forgotten", NULL);
    }
}

const WebRoute web_my_forget[] = {
    {"GET", "/my/forget", get_forget},
    {"POST", "/my/forget", post_forget},
    {.verb = NULL},
};
