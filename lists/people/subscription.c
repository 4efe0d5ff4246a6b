/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/people/subscription.h"

#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "lists/event.h"
#include "lists/letters/letter.h"
#include "lists/letters/moderator_letter.h"
#include "lists/letters/token_return.h"
#include "lists/people/roster.h"
#include "lists/people/subscription_internal.h"
#include "store/lists/list_setting.h"
#include "store/people/ban.h"
#include "store/people/departure.h"
#include "store/people/user.h"
#include "store/posts/autoresponse.h"

#define TOKEN_VALUES 4

void subscription_clear(Subscription *subscription)
{
    g_clear_pointer(&subscription->list_id, g_free);
    g_clear_pointer(&subscription->address, g_free);
}

const char *subscription_result_text(SubscriptionResult result)
{
    static const char *const texts[] = {
        [SUBSCRIPTION_DONE] = "done",
        [SUBSCRIPTION_ASKED_PERSON] = "asked-person",
        [SUBSCRIPTION_PERSON_WAITS] = "nothing-sent (the person was asked within a day)",
        [SUBSCRIPTION_ASKED_MODERATOR] = "asked-moderator",
        [SUBSCRIPTION_MODERATOR_WAITS] = "nothing-sent (it waits for a moderator)",
        [SUBSCRIPTION_NO_CHANGE] = "no-change",
        [SUBSCRIPTION_LIMITED] = "nothing-sent (too many letters today)",
        [SUBSCRIPTION_BAD_ADDRESS] = "bad-address",
        [SUBSCRIPTION_OWN_ADDRESS] = "own-address (mail to it comes to a list of this site)",
        [SUBSCRIPTION_BANNED] = "banned",
        [SUBSCRIPTION_BAD_TOKEN] = "bad-token",
        [SUBSCRIPTION_NOT_SAID] = "ignored (the answer does not say that it confirms)",
        [SUBSCRIPTION_POSTED] = "posted",
        [SUBSCRIPTION_RESTORED] = "restored",
        [SUBSCRIPTION_REFUSED] = "refused",
        [SUBSCRIPTION_KEPT] = "kept",
        [SUBSCRIPTION_TAKEN] = "refused (the new address has an account of its own)",
    };
    return texts[result];
}

const char *leave_way_text(LeaveWay way)
{
    static const char *const way_texts[] = {
        [LEAVE_BY_MAIL] = "mail",           [LEAVE_BY_PAGE] = "page", [LEAVE_BY_ONE_CLICK] = "one-click",
        [LEAVE_BY_COMPLAINT] = "complaint", [LEAVE_BY_REST] = "rest", [LEAVE_BY_SHELL] = "shell",
        [LEAVE_BY_BOUNCES] = "bounces",
    };
    return way < G_N_ELEMENTS(way_texts) ? way_texts[way] : "unknown";
}

LeaveWay leave_way_of(ActorDoor door)
{
    static const LeaveWay ways[] = {[DOOR_MAIL] = LEAVE_BY_MAIL,
                                    [DOOR_REST] = LEAVE_BY_REST,
                                    [DOOR_PAGE] = LEAVE_BY_PAGE,
                                    [DOOR_SHELL] = LEAVE_BY_SHELL,
                                    [DOOR_TIMER] = LEAVE_BY_BOUNCES};
    return ways[door];
}

/* May a program have done it in the person's place? Then a letter brings a token that undoes it. */
static bool is_by_program(const Pending *request)
{
    return request->way == LEAVE_BY_MAIL || request->way == LEAVE_BY_PAGE || request->way == LEAVE_BY_ONE_CLICK ||
           request->way == LEAVE_BY_COMPLAINT;
}

/* ---- what a request needs next: the table ---- */

#define PERSON WORKFLOW_ASK_PERSON
#define MODERATOR WORKFLOW_ASK_MODERATOR
#define DO WORKFLOW_DO

/* An address that nobody has shown to be his own is asked in any case, and before a moderator is troubled. */
static const WorkflowStep table[][WORKFLOW_FACTS] = {
    /* known:                        -       V       C          V C        A       A V     A C  A V C */
    [POLICY_OPEN] =                 {PERSON, DO,     DO,        DO,        PERSON, DO,     DO,  DO},
    [POLICY_CONFIRM] =              {PERSON, PERSON, DO,        DO,        PERSON, PERSON, DO,  DO},
    [POLICY_MODERATE] =             {PERSON, MODERATOR, MODERATOR, MODERATOR, PERSON, DO,  DO,  DO},
    [POLICY_CONFIRM_THEN_MODERATE] = {PERSON, PERSON, MODERATOR, MODERATOR, PERSON, PERSON, DO, DO},
};

WorkflowStep workflow_next(SubscriptionPolicy policy, unsigned facts)
{
    if ((facts & (FACT_INVITED | FACT_CONFIRMED)) == FACT_INVITED)
        return WORKFLOW_ASK_PERSON;
    WorkflowStep step = table[policy][facts % WORKFLOW_FACTS];
    bool braked = (facts & FACT_BRAKED) && !(facts & (FACT_ANSWERED | FACT_APPROVED));
    return braked && step == WORKFLOW_DO ? WORKFLOW_ASK_MODERATOR : step;
}

#undef PERSON
#undef MODERATOR
#undef DO

/* ---- letters ---- */

bool subscription_tell_owners(Work *work, const List *list, const Pending *request, const char *template,
                              const char *name, GError **error)
{
    g_autofree char *owner = list_address(list, "owner"), *bounces = list_address(list, "bounces");
    g_autofree char *number = g_strdup_printf("%" G_GINT64_FORMAT, request->number);
    const TemplateValue values[] = {
        {"address", request->address->text}, {"number", number}, {name ? "user_name" : NULL, name}, {0}};
    char **all = letter_owners(work_store(work), list, work_site(work)->site_owner, error);
    ListLetter letter = {.template = template, .values = values, .to = owner, .recipients = all,
                         .envelope_sender = bounces};
    return all && work_letter(work, list, &letter, error);
}

/* A sentence that says who asked, from where and when, so that a person can tell the own request from another's;
 * g_free(). The new address of somebody is told about the answer of the old one. */
static char *asked_text(const Work *work, const List *list, const Pending *request, const char *language)
{
    const Actor *actor = work_actor(work);
    g_autoptr(GDateTime) now = g_date_time_new_from_unix_utc(work_now(work) / CLOCK_SECOND);
    g_autofree char *time = g_date_time_format(now, "%Y-%m-%d %H:%M UTC");
    bool approved = request->kind != PENDING_CHANGE_ADDRESS && (request->facts & FACT_APPROVED);
    const char *key = approved                                                    ? "asked_moderator"
                      : actor->door == DOOR_MAIL && actor->address && actor->host ? "asked_mail"
                      : actor->door == DOOR_MAIL && actor->address                ? "asked_mail_here"
                      : actor->door == DOOR_REST || actor->door == DOOR_PAGE      ? "asked_rest"
                                                                                  : "asked_site";
    const TemplateValue values[] = {{"sender", actor->address}, {"host", actor->host}, {"time", time}, {0}};
    return letter_sentence(work, list, language, key, values);
}

/* ---- the brake ----
 *
 * A program may make many members leave: a scanner that follows each link of a mail, a complaint loop gone wrong, mail
 * in the names of many. The brake holds for a mail domain when within LEAVE_BRAKE_WINDOW more than a twentieth of a
 * list's members there, and at least LEAVE_BRAKE_LEAST, left. Further requests of that domain then wait for a
 * moderator. That ends when none came for as long as LEAVE_BRAKE_WINDOW. The owners are told, once in LEAVE_BRAKE_TOLD
 * (store/people/departure.h). A member who answered a letter, or leaves by REST, by the shell or with a moderator's
 * consent, is not counted and does not wait. */

/* The clocks of hosts may differ by as much; a brake that is closed for longer was closed while the clock was ahead. */
#define AHEAD (60 * CLOCK_SECOND)

/* The mail domain in lower case, as departures have it. g_free() */
static char *domain_of(const Mailbox *address)
{
    return g_strndup(address->folded, strcspn(address->folded, " "));
}

/* Is this request to leave counted, so that it may have to wait? */
static bool is_counted(const Pending *request)
{
    return is_by_program(request) && !(request->facts & (FACT_ANSWERED | FACT_APPROVED));
}

/* Set *waits to whether the request has to wait for a moderator. Call it just before the request would be carried out:
 * one that has to wait prolongs the brake. */
static bool ask_brake(Work *work, const List *list, const Pending *request, bool *waits, GError **error)
{
    LeaveBrake brake;
    Store *store = work_store(work);
    int64_t now = work_now(work), present = 0;
    g_autofree char *domain = domain_of(request->address);
    *waits = false;
    if (!is_counted(request))
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
        if (!member_count_at(store, list->list_id, domain, enough, &present, error))
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

/* Tell the owners that requests from the mail domain of this request wait, unless they were told lately. */
static bool tell_braked(Work *work, const List *list, const Pending *request, GError **error)
{
    bool due;
    LeaveBrake brake;
    g_autofree char *domain = domain_of(request->address);
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

/* ---- steps ---- */

static void tell_opened(Work *work, const List *list, const Pending *request, const char *waits_for)
{
    if (request->kind == PENDING_JOIN || request->kind == PENDING_LEAVE)
        event_tell(work, EVENT_REQUEST_OPENED, list->list_id,
                   json_pack("{ss ss sI ss}", "kind", pending_kind_text(request->kind), "email", request->address->text,
                             "number", (json_int_t)request->number, "waits_for", waits_for));
}

bool subscription_send_token(Work *work, const List *list, Pending *request, const TokenLetter *about,
                             SubscriptionResult *result, GError **error)
{
    char token[PENDING_TOKEN_CHARS + 1];
    bool allowed;
    /* Where the answer concerns more than the list, neither its language nor its name is used. */
    bool of_site = request->kind == PENDING_CHANGE_ADDRESS;
    g_autoptr(Mailbox) to = address_stored(work_store(work), about->to, error);
    const LetterAsking asking = {.address = about->to,
                                 .kind = pending_kind_text(request->kind),
                                 .of_site = of_site,
                                 .of_member = request->kind != PENDING_JOIN &&
                                              strcmp(about->to->folded, request->address->folded) == 0,
                                 .vouched = request->facts & (FACT_CONFIRMED | FACT_APPROVED)};
    if (!to || !letter_asking_allowed(work, list, &asking, &allowed, error))
        return false;
    *result = allowed ? SUBSCRIPTION_ASKED_PERSON : SUBSCRIPTION_LIMITED;
    if (!allowed)
        return true;
    request->waits_for = PENDING_PERSON;
    request->asked_at = work_now(work);
    request->expires_at = work_now(work) + work_site(work)->pending_request_life;
    if (!pending_token_new(token, error) || !pending_put(work_store(work), request, token, error))
        return false;

    g_auto(TokenReturn) back = {0};
    token_return_make(work, list, about->no_answer ? "" : token, &back);
    int64_t days = (request->expires_at - work_now(work)) / (24 * 3600 * CLOCK_SECOND);
    g_autofree char *left = g_strdup_printf("%" G_GINT64_FORMAT, MAX(days, 1));
    g_autofree char *language = letter_language(work, of_site ? NULL : list, to);
    g_autofree char *asked = asked_text(work, list, request, language);
    g_autofree char *page = about->no_answer ? g_strdup("") : letter_page(work, list, language, "confirm", token);
    TemplateValue values[7 + TOKEN_VALUES + 1] = {{"address", request->address->text},
                                                  {"token", about->no_answer ? "" : token},
                                                  {"confirm_email", back.address},
                                                  {"mark", back.mark},
                                                  {"days", left},
                                                  {"asked", asked},
                                                  {"page", page}};
    for (size_t at = 0; about->values && about->values[at].name && at < TOKEN_VALUES; at++)
        values[7 + at] = about->values[at];
    ListLetter letter = {.template = about->template,
                         .values = values,
                         .language = language,
                         .from_name = of_site ? NULL : list->settings->display_name,
                         .from = about->no_answer ? work_site(work)->site_owner : back.address,
                         .to = to->text,
                         .personal = true};
    if (!work_letter(work, list, &letter, error))
        return false;
    tell_opened(work, list, request, "subscriber");
    return true;
}

/* *first: the address got no letter of this kind about the list within a day; it is taken to get one now. */
static bool first_today(Work *work, const List *list, const Mailbox *address, const char *kind, bool *first,
                        GError **error)
{
    g_autofree char *entry = g_strdup_printf("%s.%" G_GINT64_FORMAT, kind, work_now(work));
    const Autoresponse once = {list->list_id, kind, address->text, entry, work_now(work), SUBSCRIPTION_ASK_AGAIN};
    if (!autoresponse_record(work_store(work), &once, first, error))
        return false;
    if (!*first)
        work_log(work, list->list_id, "to=<%s> result=no-letter (it got a %s within a day)", address->text, kind);
    return true;
}

static const char *asking_template(const Pending *request)
{
    return request->kind == PENDING_LEAVE    ? "confirm_leave"
           : request->facts & FACT_INVITED ? "invitation"
                                           : "confirm_join";
}

bool subscription_answered(Work *work, const List *list, const Pending *request, GError **error)
{
    return autoresponse_forget(work_store(work), list->list_id, asking_template(request), request->address->text,
                               error);
}

static bool ask_moderator(Work *work, const List *list, Pending *request, SubscriptionResult *result, GError **error)
{
    *result = SUBSCRIPTION_ASKED_MODERATOR;
    request->waits_for = PENDING_MODERATOR;
    request->asked_at = work_now(work);
    request->expires_at = work_now(work) + work_site(work)->moderator_request_life;
    if (!pending_put(work_store(work), request, NULL, error))
        return false;
    tell_opened(work, list, request, "moderator");
    if (request->facts & FACT_BRAKED) /* of which there may be very many: one letter about all */
        return tell_braked(work, list, request, error);
    if (!list->settings->admin_immed_notify)
        return true;
    g_autofree char *number = g_strdup_printf("%" G_GINT64_FORMAT, request->number);
    const char *name = request->display_name;
    const TemplateValue values[] = {
        {"address", request->address->text}, {"number", number}, {name ? "user_name" : NULL, name}, {0}};
    const ModeratorLetter letter = {
        .letter = {.template = request->kind == PENDING_JOIN ? "request_join" : "request_leave"}, .values = values,
        .about = {.first_request = request->number, .last_request = request->number}};
    return moderator_letter(work, list, &letter, error);
}

bool subscription_end(Work *work, const Pending *request, GError **error)
{
    return request->number == 0 || pending_remove(work_store(work), request->number, TOKEN_USED, error);
}

/* Set *may to whether the person may get a letter about what was done. A person who confirmed it by mail or on a page
 * always may. Anybody else may once a day for each list and kind of letter, since others may ask in that name again
 * and again. */
static bool may_write(Work *work, const List *list, const Pending *request, const char *kind, bool *may,
                            GError **error)
{
    ActorDoor door = work_actor(work)->door;
    *may = (request->facts & FACT_CONFIRMED) &&
           (door == DOOR_MAIL || door == DOOR_PAGE || request->way == LEAVE_BY_ONE_CLICK);
    return *may || first_today(work, list, request->address, kind, may, error);
}

/* A person who confirmed has shown that the address is theirs, which counts from the first time on; a holder of a list
 * cannot say so for other lists, nor obtain it by a letter whose words hide what the answer says. Nobody may know the
 * address yet: members are written down when they are added. */
static bool note_verified(Work *work, const Pending *request, GError **error)
{
    bool proved = (request->facts & FACT_CONFIRMED) && !(request->facts & (FACT_VOUCHED | FACT_WORDED));
    return !proved || address_note_verified(work_store(work), request->address, work_now(work), error);
}

/* ---- what is asked for is done ---- */

static bool do_join(Work *work, const List *list, Pending *request, SubscriptionResult *result, GError **error)
{
    Store *store = work_store(work);
    const char *list_id = list->list_id;
    const Mailbox *address = request->address;
    g_autoptr(GError) refusal = NULL;
    Preferences wants = preferences_unset;
    wants.delivery_mode = request->delivery_mode;
    wants.delivery_status = request->delivery_status;
    bool added = request->as_user
                     ? member_add_user(store, list_id, ROLE_MEMBER, address, &refusal)
                     : member_add(store, list_id, ROLE_MEMBER, address, request->display_name, &wants, &refusal);
    if (!added && !fail_unless(error, FAIL_EXISTS, &refusal))
        return false;
    if (added && request->as_user && !preferences_are_unset(&wants) &&
        !member_set_preferences(store, list_id, ROLE_MEMBER, address, &wants, error))
        return false;
    if (!note_verified(work, request, error))
        return false;
    *result = added ? SUBSCRIPTION_DONE : SUBSCRIPTION_NO_CHANGE;
    if (!added)
        return subscription_end(work, request, error);
    if (!roster_came(work, list_id, ROLE_MEMBER, address->text, error))
        return false;

    const TemplateValue values[] = {{"address", address->text}, {0}};
    ListLetter welcome = {.template = "welcome", .values = values, .to = address->text};
    bool welcomed = request->welcome == WELCOME_YES ||
                    (request->welcome == WELCOME_AS_LIST && list->settings->send_welcome_message);
    if (welcomed && !may_write(work, list, request, welcome.template, &welcomed, error))
        return false;
    return subscription_end(work, request, error) && (!welcomed || work_letter(work, list, &welcome, error)) &&
           (!list->settings->admin_notify_mchanges ||
            subscription_tell_owners(work, list, request, "member_joined", NULL, error));
}

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
        {"address", request->address->text}, {"undo", undo}, {"how", how}, {"mark", back.mark ? back.mark : ""}, {0}};
    ListLetter letter = {.template = list->settings->send_goodbye_message ? "goodbye" : "left",
                         .values = values,
                         .language = language,
                         .from = back.address,
                         .from_name = token ? list->settings->display_name : NULL,
                         .to = request->address->text,
                         .must_say = "undo"};
    return work_letter(work, list, &letter, error);
}

/* Remove the member, and write one letter: the list's goodbye, or a short one where the list sends none. After a way
 * that a program may have used (is_by_program()) its token restores the membership with every option, once, within
 * DEPARTURE_KEPT; any other way makes the token of an earlier departure good no more. */
static bool do_leave(Work *work, const List *list, Pending *request, Subscription *subscription, GError **error)
{
    Store *store = work_store(work);
    char token[PENDING_TOKEN_CHARS + 1];
    Member *found;
    if (!member_look_up(store, list->list_id, ROLE_MEMBER, request->address, &found, error))
        return false;
    g_autoptr(Member) member = found;
    subscription->result = member ? SUBSCRIPTION_DONE : SUBSCRIPTION_NO_CHANGE;
    if (!member)
        return subscription_end(work, request, error);

    bool undone = is_by_program(request);
    bool told = undone || list->settings->send_goodbye_message;
    if (told && !may_write(work, list, request, "goodbye", &told, error))
        return false;
    subscription->told = told;
    bool with_token = undone && told;
    /* The letters are about a member; so what is known of one is read before the row goes. */
    g_autoptr(Mailbox) stored = mailbox_new(member->address);
    g_autofree char *name = letter_member_name(work, list, request->address->text);
    g_autofree char *language = letter_language(work, list, stored);
    const Departure departure = {.list_id = list->list_id,
                                 .address = stored,
                                 .way = request->way,
                                 .counts = is_counted(request),
                                 .left_at = work_now(work)};
    if ((with_token && !pending_token_new(token, error)) ||
        !(undone ? departure_record(store, &departure, with_token ? token : NULL, error)
                 : departure_withdraw(store, list->list_id, stored, error)) ||
        !member_remove(store, list->list_id, ROLE_MEMBER, stored, error) ||
        !roster_left(work, list->list_id, request->address->text, leave_way_text((LeaveWay)request->way), error))
        return false;
    return (!told || say_goodbye(work, list, request, with_token ? token : NULL, language, error)) &&
           subscription_end(work, request, error) &&
           (!list->settings->admin_notify_mchanges ||
            subscription_tell_owners(work, list, request, "member_left", name, error));
}

/* ---- what a request needs next ---- */

void subscription_note(Work *work, const List *list, const Pending *request, Subscription *subscription)
{
    subscription->kind = request->kind;
    subscription->request = request->number;
    subscription->list_id = g_strdup(list->list_id);
    subscription->address = g_strdup(request->address->text);
    bool leaves = request->kind == PENDING_LEAVE;
    if (subscription->result == SUBSCRIPTION_LIMITED && work_actor(work)->door == DOOR_PAGE)
        return; /* lists/letters/letter.c tells it once an hour: forms can be posted very often */
    work_log(work, list->list_id, "%s=<%s> by=<%s>%s%s result=%s", pending_kind_text(request->kind),
             request->address->text, work_by(work), leaves ? " way=" : "",
             leaves ? leave_way_text((LeaveWay)request->way) : "", subscription_result_text(subscription->result));
}

/* Return the policy for a request. A complaint ends the membership, whatever the list demands of people who ask to
 * leave. */
static SubscriptionPolicy policy_for(const List *list, const Pending *request)
{
    return request->kind == PENDING_JOIN        ? list->settings->subscription_policy
           : request->way == LEAVE_BY_COMPLAINT ? POLICY_OPEN
                                                : list->settings->unsubscription_policy;
}

/* Joining and leaving. */
static bool advance_membership(Work *work, const List *list, Pending *request, Subscription *subscription,
                               GError **error)
{
    bool join = request->kind == PENDING_JOIN, waits = false, worded, first = true, done;
    ActorRole role = work_actor(work)->role;
    TokenLetter asks = {.template = asking_template(request), .to = request->address};
    WorkflowStep step = workflow_next(policy_for(list, request), request->facts);
    if ((join && step != WORKFLOW_DO && !note_verified(work, request, error)) ||
        (!join && step == WORKFLOW_DO && !ask_brake(work, list, request, &waits, error)))
        return false;
    request->facts |= waits ? FACT_BRAKED : 0;
    switch (workflow_next(policy_for(list, request), request->facts)) {
    case WORKFLOW_ASK_PERSON:
        if (!letter_is_worded_below(work, list, request->address, asks.template, &worded, error))
            return false;
        request->facts = (request->facts & ~(unsigned)FACT_WORDED) | (worded ? FACT_WORDED : 0);
        /* A program that asks, has the request discarded and asks again, sends one letter a day. One that was answered
         * does not count, nor does mail, whose sender can have nothing discarded. */
        if ((role == ACTOR_OPERATOR || role == ACTOR_OWNER) &&
            !first_today(work, list, request->address, asks.template, &first, error))
            return false;
        subscription->result = SUBSCRIPTION_LIMITED;
        done = !first || subscription_send_token(work, list, request, &asks, &subscription->result, error);
        break;
    case WORKFLOW_ASK_MODERATOR:
        done = ask_moderator(work, list, request, &subscription->result, error);
        break;
    default:
        done = join ? do_join(work, list, request, &subscription->result, error)
                    : do_leave(work, list, request, subscription, error);
    }
    if (done)
        subscription_note(work, list, request, subscription);
    return done;
}

bool subscription_advance(Work *work, const List *list, Pending *request, Subscription *subscription, GError **error)
{
    g_autofree char *banned = NULL;
    if (request->kind == PENDING_CHANGE_ADDRESS)
        return change_address_advance(work, list, request, subscription, error);
    if (request->kind == PENDING_SET)
        return options_advance(work, list, request, subscription, error);

    /* The request has waited, so the address may have been banned meanwhile. */
    if (request->kind == PENDING_JOIN && !(request->facts & FACT_APPROVED) &&
        !ban_check(work_store(work), list->list_id, request->address, NULL, &banned, error))
        return false;
    if (!banned)
        return advance_membership(work, list, request, subscription, error);
    subscription->result = SUBSCRIPTION_BANNED;
    subscription_note(work, list, request, subscription);
    return subscription_end(work, request, error);
}

/* Does what waits already need nothing more now? */
static bool waits(Work *work, const List *list, const Pending *there, const Pending *request,
                  SubscriptionResult *result)
{
    WorkflowStep step = workflow_next(policy_for(list, request), request->facts);
    if (step == WORKFLOW_ASK_PERSON && there->waits_for == PENDING_PERSON &&
        work_now(work) - there->asked_at < SUBSCRIPTION_ASK_AGAIN) {
        *result = SUBSCRIPTION_PERSON_WAITS;
        return true;
    }
    *result = SUBSCRIPTION_MODERATOR_WAITS;
    return step == WORKFLOW_ASK_MODERATOR && there->waits_for == PENDING_MODERATOR;
}

bool subscription_ask(Work *work, const List *list, Pending *request, Subscription *subscription, GError **error)
{
    g_autoptr(Pending) there = NULL;
    if (!pending_find_like(work_store(work), request, work_now(work), &there, error))
        return false;
    request->made_at = there ? there->made_at : work_now(work);
    if (there) {
        unsigned known = there->facts;
        request->number = there->number;
        request->facts |= known;
        if (request->facts != known && !pending_add_facts(work_store(work), there->number, request->facts, error))
            return false;
        if (waits(work, list, there, request, &subscription->result)) {
            subscription_note(work, list, request, subscription);
            return true;
        }
    }
    return advance_membership(work, list, request, subscription, error);
}
