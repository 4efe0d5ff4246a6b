/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/people/leave_brake.h"

#include <string.h>

#include "lists/letters/letter.h"
#include "lists/people/leave.h"
#include "lists/people/workflow.h"
#include "store/people/departure.h"
#include "store/people/leave_brake.h"

/* The clocks of hosts may differ by as much; a brake that is closed for longer was closed while the clock was ahead. */
#define AHEAD (60 * CLOCK_SECOND)

/* The mail domain in lower case. g_free() */
static char *domain_of(const char *address)
{
    return g_ascii_strdown(strrchr(address, '@') + 1, -1);
}

bool leave_brake_concerns(const Pending *request)
{
    bool by_program = request->way == LEAVE_BY_MAIL || request->way == LEAVE_BY_PAGE ||
                      request->way == LEAVE_BY_ONE_CLICK || request->way == LEAVE_BY_COMPLAINT;
    return by_program && !(request->facts & (FACT_ANSWERED | FACT_APPROVED));
}

bool leave_brake_ask(Work *work, const List *list, const Pending *request, bool *waits, GError **error)
{
    LeaveBrake brake;
    Store *store = work_store(work);
    int64_t now = work_now(work), present = 0;
    g_autofree char *domain = domain_of(request->address->text);
    *waits = false;
    if (!leave_brake_concerns(request))
        return true;
    if (!leave_brake_find(store, list->list_id, domain, &brake, error))
        return false;
    *waits = brake.closed_until > now && brake.closed_until <= now + LEAVE_BRAKE_WINDOW + AHEAD;
    if (!*waits) {
        /* Members are counted only when enough have left, and no more of them than the answer needs: those who left
         * were members, too. */
        if (!departure_count(store, list->list_id, domain, now - LEAVE_BRAKE_WINDOW, &brake.gone, error))
            return false;
        if (brake.gone < LEAVE_BRAKE_LEAST)
            return true;
        int64_t enough = brake.gone * (LEAVE_BRAKE_SHARE - 1);
        if (!leave_brake_members(store, list->list_id, domain, enough, &present, error))
            return false;
        *waits = present < enough;
        if (!*waits)
            return true;
        work_log(work, list->list_id,
                 "domain=%s left=%" G_GINT64_FORMAT " result=leaving-waits (more than a twentieth "
                 "of the members at the domain left within ten minutes by links, signed addresses or complaints; "
                 "further ones wait for a moderator)",
                 domain, brake.gone);
    }
    brake.closed_until = now + LEAVE_BRAKE_WINDOW;
    return leave_brake_close(store, list->list_id, domain, &brake, now, error);
}

bool leave_brake_tell_owners(Work *work, const List *list, const Pending *request, GError **error)
{
    bool due;
    LeaveBrake brake;
    g_autofree char *domain = domain_of(request->address->text);
    int64_t now = work_now(work);
    if (!leave_brake_tell(work_store(work), list->list_id, domain, now, &due, error) ||
        (due && !leave_brake_find(work_store(work), list->list_id, domain, &brake, error)))
        return false;
    if (!due)
        return true;
    g_autofree char *owner = list_address(list, "owner"), *bounces = list_address(list, "bounces");
    g_autofree char *gone = g_strdup_printf("%" G_GINT64_FORMAT, brake.gone);
    g_autofree char *waiting = g_strdup_printf("%" G_GINT64_FORMAT, brake.waiting);
    const TemplateValue values[] = {{"domain", domain}, {"left", gone}, {"waiting", waiting}, {0}};
    char **all = letter_owners(work_store(work), list, work_site(work)->site_owner, error);
    ListLetter letter = {
        .template = "leave_brake", .values = values, .to = owner, .recipients = all, .envelope_sender = bounces};
    return all && work_letter(work, list, &letter, error);
}
