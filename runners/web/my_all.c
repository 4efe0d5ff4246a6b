/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Mail of all own lists at once: it stops, comes again, or stays away from one day to another. */
#include "base/fail.h"
#include "lists/people/options.h"
#include "runners/web/my.h"

/* Read the button that was pressed, and the days. NULL: good; else the name of what is wrong. */
static const char *read_wish(WebCall *call, MailEverywhere *mail, MemberOptions *vacation)
{
    g_autoptr(GError) fault = NULL;
    const char *what = web_field(call, "mail");
    *mail = g_str_equal(what, "on") ? MAIL_COMES : g_str_equal(what, "off") ? MAIL_STOPS : MAIL_PAUSES;
    if (*mail != MAIL_PAUSES)
        return NULL;
    if (!g_str_equal(what, "away"))
        return "bad_option";
    g_autofree char *span = g_strdup_printf("%s..%s", web_field(call, "vacation_from"),
                                            web_field(call, "vacation_until"));
    return option_read(vacation, "vacation", span, &fault) ? NULL : "bad_vacation";
}

static void post_all(WebCall *call)
{
    GError *error = NULL;
    MailEverywhere mail;
    g_auto(MemberOptions) vacation = MEMBER_OPTIONS_NONE;
    const SignedIn *person = my_sender(call);
    if (!person)
        return;
    const char *wrong = read_wish(call, &mail, &vacation);
    g_autoptr(Work) work = wrong ? NULL : web_begin_people(call, NULL);
    if (!wrong && !work)
        return;
    if (work)
        work_become(work, ACTOR_MEMBER, person->address);
    if (work && !options_set_everywhere(work, person->address, mail, &vacation, &error)) {
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
