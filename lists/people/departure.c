/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/people/departure.h"

#include <string.h>

#include "base/fail.h"
#include "lists/event.h"
#include "lists/letters/letter.h"
#include "lists/letters/token_return.h"
#include "lists/people/leave.h"
#include "lists/people/leave_brake.h"
#include "lists/people/own_address.h"
#include "lists/people/roster.h"
#include "lists/people/subscription_internal.h"
#include "store/lists/list_setting.h"
#include "store/people/departure.h"
#include "store/people/standing.h"

/* ---- leaving ---- */

/* token NULL: nothing undoes it. language is that of the member, who is one no more. */
static bool say_goodbye(Work *work, const List *list, const Pending *request, const char *token, const char *language,
                        GError **error)
{
    static const char *const hows[] = {[LEAVE_BY_MAIL] = "left_by_mail",
                                       [LEAVE_BY_PAGE] = "left_by_page",
                                       [LEAVE_BY_ONE_CLICK] = "left_by_click",
                                       [LEAVE_BY_COMPLAINT] = "left_by_complaint"};
    g_auto(TokenReturn) back = {0};
    if (token)
        token_return_make(work, list, token, &back);
    g_autofree char *days = g_strdup_printf("%d", (int)(DEPARTURE_KEPT / (24 * 3600 * CLOCK_SECOND)));
    const TemplateValue of_undo[] = {{"token", token}, {"days", days}, {0}};
    g_autofree char *sentence = letter_sentence(work, list, language, token ? "undo" : "undo_none", of_undo);
    g_autofree char *page = token ? letter_page(work, list, language, "confirm", token) : NULL;
    g_autofree char *undo = g_strconcat(sentence, page ? "\n" : NULL, page, NULL);
    g_autofree char *how = letter_sentence(work, list, language, token ? hows[request->way] : "undo_none", NULL);
    const TemplateValue values[] = {
        {"address", request->address}, {"undo", undo}, {"how", how}, {"mark", back.mark ? back.mark : ""}, {0}};
    ListLetter letter = {.template = list->settings->send_goodbye_message ? "goodbye" : "left",
                         .values = values,
                         .language = language,
                         .from = back.address,
                         .from_name = token ? list->settings->display_name : NULL,
                         .to = request->address,
                         .must_say = "undo"};
    return work_letter(work, list, &letter, error);
}

bool departure_carry_out(Work *work, const List *list, const Pending *request, bool *left, bool *told, GError **error)
{
    Member *found;
    char token[PENDING_TOKEN_CHARS + 1];
    Store *store = work_store(work);
    bool undone = leave_way_undone((LeaveWay)request->way);
    *left = *told = false;
    if (!member_look_up(store, list->list_id, ROLE_MEMBER, request->address, &found, error))
        return false;
    g_autoptr(Member) member = found;
    if (!member)
        return true;
    *left = true;
    *told = undone || list->settings->send_goodbye_message;
    if (*told && !subscription_may_write(work, list, request, "goodbye", told, error))
        return false;
    g_autofree char *language = letter_language(work, list, member->address);
    const Departure departure = {.list_id = list->list_id,
                                 .address = member->address,
                                 .way = request->way,
                                 .counts = leave_brake_concerns(request),
                                 .left_at = work_now(work)};
    bool with_token = undone && *told;
    if ((with_token && !pending_token_new(token, error)) ||
        !(undone ? departure_record(store, &departure, with_token ? token : NULL, error)
                 : departure_withdraw(store, list->list_id, member->address, error)) ||
        !member_remove(store, list->list_id, ROLE_MEMBER, member->address, error) ||
        !roster_left(work, list->list_id, request->address, leave_way_text((LeaveWay)request->way), error))
        return false;
    return !*told || say_goodbye(work, list, request, with_token ? token : NULL, language, error);
}

/* ---- coming back ---- */

/* Find the reason that keeps the address from being a member, and set *result to it; SUBSCRIPTION_RESTORED: there is
 * none. */
static bool find_hindrance(Work *work, const List *list, const char *address, SubscriptionResult *result,
                           GError **error)
{
    char *sentence;
    g_auto(AddressStanding) standing = {0};
    if (!standing_read(work_store(work), list->list_id, address, &standing, error) ||
        !own_address_bars(work, list->list_id, ROLE_MEMBER, address, &sentence, error))
        return false;
    g_autofree char *why = sentence;
    *result = standing.banned      ? SUBSCRIPTION_BANNED
              : why                ? SUBSCRIPTION_OWN_ADDRESS
              : standing.is_member ? SUBSCRIPTION_NO_CHANGE
                                   : SUBSCRIPTION_RESTORED;
    return true;
}

static bool restore(Work *work, const List *list, const Departure *departure, const char *token, GError **error)
{
    const Pending request = {.kind = PENDING_JOIN, .list_id = list->list_id, .address = departure->address};
    if (!departure_undo(work_store(work), token, work_now(work), error) ||
        !roster_came(work, list->list_id, ROLE_MEMBER, departure->address, error))
        return false;
    return !list->settings->admin_notify_mchanges ||
           subscription_tell_owners(work, list, &request, "member_joined", NULL, error);
}

bool departure_confirm(Work *work, const List *list, const char *token, Consent consent, Subscription *subscription,
                       GError **error)
{
    g_autoptr(GError) missing = NULL;
    g_autoptr(Departure) departure = departure_find_token(work_store(work), token, work_now(work), &missing);
    if (!departure && !g_error_matches(missing, FAIL, FAIL_MISSING))
        return fail_with(error, &missing);
    *subscription = (Subscription){.result = SUBSCRIPTION_BAD_TOKEN};
    if (!departure || (list && strcmp(departure->list_id, list->list_id) != 0))
        return true;
    g_autoptr(List) own = list_by_id(work_store(work), departure->list_id, error);
    SubscriptionResult result = SUBSCRIPTION_NOT_SAID;
    if (!own || (consent == CONSENT_SAID && !find_hindrance(work, own, departure->address, &result, error)) ||
        (result == SUBSCRIPTION_RESTORED && !restore(work, own, departure, token, error)))
        return false;
    *subscription = (Subscription){.result = result,
                                   .kind = PENDING_JOIN,
                                   .list_id = g_strdup(own->list_id),
                                   .address = g_strdup(departure->address)};
    work_log(work, own->list_id, "undo=<%s> by=<%s> left-way=%s result=%s", departure->address, work_by(work),
             leave_way_text((LeaveWay)departure->way), subscription_result_text(result));
    return true;
}
