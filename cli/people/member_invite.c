/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner member invite: asks people by mail whether they want to join. */
#include "cli/command.h"

#include <stdio.h>

#include "base/fail.h"
#include "lists/people/member_line.h"
#include "cli/plain.h"
#include "cli/work_site.h"
#include "lists/people/join.h"
#include "lists/people/workflow.h"

/* In a transaction of its own. Returns an exit code; *error is set for what must end the command. */
static int invite_one(WorkPlace *place, const List *list, const char *text, GError **error)
{
    g_autoptr(GError) refusal = NULL;
    g_autofree char *address = NULL, *name = NULL;
    g_auto(Subscription) made = {0};
    if (!member_line_mailbox(text, &address, &name, &refusal)) {
        plain_complain("listrunner member invite: %s", refusal->message);
        return TOOL_USAGE;
    }
    g_autoptr(Work) work = work_place_unit(place, error);
    Joiner joiner = {.address = address, .name = name, .facts = FACT_APPROVED | FACT_INVITED};
    if (!work || !join_ask(work, list, &joiner, &made, error) || !work_commit(work, place->spool, error))
        return TOOL_LATER;
    if (made.result == SUBSCRIPTION_ASKED_PERSON) {
        printf("%s is invited\n", address);
        return TOOL_OK;
    }
    const char *why = made.result == SUBSCRIPTION_NO_CHANGE      ? "is a member already"
                      : made.result == SUBSCRIPTION_PERSON_WAITS ? "was asked within a day"
                      : made.result == SUBSCRIPTION_BANNED       ? "is banned"
                      : made.result == SUBSCRIPTION_LIMITED      ? "got too many letters today"
                      : made.result == SUBSCRIPTION_OWN_ADDRESS  ? "is an address of a list of this site"
                                                                 : "is no address that can be on this list";
    plain_complain("listrunner member invite: %s %s", address, why);
    bool bad = made.result == SUBSCRIPTION_BAD_ADDRESS || made.result == SUBSCRIPTION_OWN_ADDRESS;
    return bad ? TOOL_USAGE : TOOL_NOT_SO;
}

static int run(Site *site, int argc, char **argv, GError **error)
{
    WorkPlace place;
    int worst = TOOL_OK;
    if (!work_place_open(&place, site, error))
        return TOOL_LATER;
    g_autoptr(List) list = site_list_find(place.store, argv[0], error);
    if (!list)
        return TOOL_LATER;
    for (int at = 1; at < argc; at++) {
        int code = invite_one(&place, list, argv[at], error);
        if (code == TOOL_LATER)
            return code;
        worst = MAX(worst, code);
    }
    return worst;
}

const Command member_invite = {
    .name = "invite", .arguments = "LIST ADDRESS...", .least = 2, .most = -1, .run = run,
    .summary = "Ask people by mail to join, as ADDRESS or 'Name <ADDRESS>'",
    .details = "Who answers the letter is a member; no moderator is asked any more, whatever subscription_policy says.",
};
