/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Mail of all own lists at once: it stops, comes again, or stays away from one day to another. */
#include <limits.h>

#include "base/fail.h"
#include "lists/options.h"
#include "runners/web/my.h"
#include "store/list.h"

/* Read the button that was pressed, and the days. NULL: good; else the name of what is wrong. */
static const char *read_wish(WebCall *call, MemberOptions *wanted, bool *again)
{
    g_autoptr(GError) fault = NULL;
    const char *what = web_field(call, "mail");
    *again = g_str_equal(what, "on");
    if (*again)
        return option_read(wanted, "vacation", "off", &fault) ? NULL : "bad_option";
    if (g_str_equal(what, "off"))
        return option_read(wanted, "delivery", "off", &fault) ? NULL : "bad_option";
    if (!g_str_equal(what, "away"))
        return "bad_option";
    g_autofree char *span = g_strdup_printf("%s..%s", web_field(call, "vacation_from"),
                                            web_field(call, "vacation_until"));
    return option_read(wanted, "vacation", span, &fault) ? NULL : "bad_vacation";
}

/* Mail comes again where the person or bounces stopped it; what the people who run a list stopped stays so. */
static void enable(const Member *member, MemberOptions *wanted)
{
    int now = member->effective.delivery_status;
    wanted->wanted.delivery_status = now == DELIVERY_BY_USER || now == DELIVERY_BY_BOUNCES ? DELIVERY_ENABLED : -1;
}

static bool set_one(Work *work, const Member *member, const MemberOptions *wanted, GError **error)
{
    g_autoptr(List) list = list_by_id(work_store(work), member->list_id, error);
    if (list)
        work_become(work, ACTOR_MEMBER, member->address);
    return list && options_set(work, list, ROLE_MEMBER, member->address, wanted, error);
}

/* All or none of them. */
static bool set_all(Work *work, const SignedIn *person, MemberOptions *wanted, bool again, GError **error)
{
    g_autoptr(GPtrArray) members = sign_in_members(work_store(work), person, NULL, INT_MAX, error);
    for (guint i = 0; members && i < members->len; i++) {
        const Member *member = members->pdata[i];
        if (member->role != ROLE_MEMBER)
            continue;
        if (again)
            enable(member, wanted);
        if (!set_one(work, member, wanted, error))
            return false;
    }
    return members != NULL;
}

static void post_all(WebCall *call)
{
    GError *error = NULL;
    bool again;
    g_auto(MemberOptions) wanted = MEMBER_OPTIONS_NONE;
    const SignedIn *person = my_sender(call);
    if (!person)
        return;
    const char *wrong = read_wish(call, &wanted, &again);
    g_autoptr(Work) work = wrong ? NULL : web_begin(call);
    if (!wrong && !work)
        return;
    if (work && !set_all(work, person, &wanted, again, &error)) {
        if (!g_error_matches(error, FAIL, FAIL_NEVER)) {
            web_missing(call, error);
            return;
        }
        g_clear_error(&error);
        wrong = "vacation_over";
        work_cancel(work);
    }
    if (wrong || web_commit(call, work))
        my_show(call, person, json_pack("{sb}", wrong ? wrong : "saved", true));
}

const WebRoute web_my_all[] = {
    {"POST", "/my/all", post_all},
    {.verb = NULL},
};
