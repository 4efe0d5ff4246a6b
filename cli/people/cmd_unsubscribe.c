/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner unsubscribe: redeems the token of a one-click link (RFC 8058), for a web server's program. */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "cli/command.h"
#include "cli/work_site.h"
#include "lists/people/leave.h"
#include "store/secret.h"

static int run(Site *site, int argc, char **argv, GError **error)
{
    WorkPlace place;
    g_auto(Subscription) made = {0};
    if (!work_place_open(&place, site, error))
        return TOOL_LATER;
    g_autoptr(GPtrArray) secrets = secret_all(place.store, error);
    g_autoptr(VerpKeys) keys = secrets ? verp_keys_new(secrets) : NULL;
    place.site.keys = keys;
    g_autoptr(Work) work = keys ? work_place_unit(&place, error) : NULL;
    if (!work || !leave_token(work, argv[0], LEAVE_BY_ONE_CLICK, &made, error) ||
        !work_commit(work, place.spool, error))
        return TOOL_LATER;
    switch (made.result) {
    case SUBSCRIPTION_BAD_TOKEN:
        fail(error, FAIL_MISSING, "this token was not made here, or too long ago; one is in each List-Unsubscribe");
        return TOOL_MISSING;
    case SUBSCRIPTION_NO_CHANGE:
        printf("%s is not on %s any more; nothing was changed\n", made.address, made.list_id);
        return TOOL_OK;
    case SUBSCRIPTION_ASKED_MODERATOR:
    case SUBSCRIPTION_MODERATOR_WAITS:
        printf("%s leaves %s when a moderator agrees\n", made.address, made.list_id);
        return TOOL_OK;
    default:
        printf("%s is no longer on %s\n", made.address, made.list_id);
        return TOOL_OK;
    }
}

const Command cmd_unsubscribe = {
    .name = "unsubscribe", .arguments = "TOKEN", .summary = "Redeem the token of a one-click unsubscribe link",
    .least = 1, .most = 1, .run = run,
};
