/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/people/sign_in.h"

#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/mailbox.h"
#include "lists/keys.h"
#include "lists/letters/letter.h"
#include "store/lists/domain.h"
#include "store/lists/list.h"
#include "store/people/account.h"
#include "store/people/member.h"
#include "store/people/pending.h"
#include "store/people/user.h"

#define RUNNING ((1u << ROLE_OWNER) | (1u << ROLE_MODERATOR))
#define PEOPLE ((1u << ROLE_MEMBER) | RUNNING)

void signed_in_free(SignedIn *person)
{
    if (!person)
        return;
    mailbox_free(person->address);
    g_free(person->user_id);
    g_free(person);
}

/* ---- the form ---- */

bool sign_in_take(Work *work, const char *address, bool *valid, GError **error)
{
    (void)error;
    const PageForm form = {.to = TO_SIGN_IN, .address = address};
    *valid = mailbox_valid(address);
    if (*valid)
        page_form_leave(work, &form);
    return true;
}

/* The List-Id of a list on which the person has one of these roles. */
static bool find_role(Store *store, const SignedIn *person, unsigned roles, char **list_id, GError **error)
{
    MemberCriteria criteria = sign_in_criteria(person);
    criteria.roles = roles;
    g_autoptr(GPtrArray) members = member_page(store, &criteria, NULL, 1, NULL, error);
    *list_id = members && members->len > 0 ? g_strdup(((const Member *)members->pdata[0])->list_id) : NULL;
    return members != NULL;
}

/* The List-Id of a list that the person runs, by a role or by owning its domain or the site. */
static bool find_run(Store *store, const SignedIn *person, char **list_id, GError **error)
{
    if (!find_role(store, person, RUNNING, list_id, error))
        return false;
    if (*list_id || !*person->user_id)
        return true;
    g_autoptr(User) user = user_find(store, person->user_id, error);
    g_auto(GStrv) domains = user ? domain_owned(store, person->user_id, error) : NULL;
    if (!domains)
        return false;
    for (char **domain = domains; !*list_id && (*domain || user->server_owner); domain++) {
        const ListCriteria criteria = {.domain = *domain};
        g_autoptr(GPtrArray) lists = list_page(store, &criteria, NULL, 0, 1, error);
        if (!lists)
            return false;
        *list_id = lists->len > 0 ? g_strdup(((const List *)lists->pdata[0])->list_id) : NULL;
        if (!*domain)
            break;
    }
    return true;
}

bool sign_in_is_full(const Work *work, bool *full, GError **error)
{
    int64_t sent, most = work_site(work)->form_letters;
    if (!account_count(work_store(work), ACCOUNT_SIGN_IN_ALL, ACCOUNT_OF_SITE, work_now(work), &sent, error))
        return false;
    *full = most > 0 && sent >= most;
    return true;
}

bool sign_in_work(Work *work, const json_t *meta, GError **error)
{
    Store *store = work_store(work);
    const char *typed = page_form_read(meta).address;
    g_autofree char *list_id = NULL;
    g_autoptr(SignedIn) person = sign_in_vouched(store, typed, error);
    g_autoptr(Mailbox) address = person ? address_stored(store, person->address, error) : NULL;
    if (!address || !find_run(store, person, &list_id, error))
        return false;
    bool runs_lists = list_id != NULL, allowed;
    if (!runs_lists && !find_role(store, person, PEOPLE, &list_id, error))
        return false;
    work_log(work, "-", "sign-in address=<%s> result=%s", typed, list_id ? "asked" : "nobody");
    if (!list_id)
        return true;

    /* A letter in the name of the site, which needs a list to go out by. */
    char token[PENDING_TOKEN_CHARS + 1], minutes[16];
    g_autoptr(List) list = list_by_id(store, list_id, error);
    const LetterAsking asking = {
        .address = address, .kind = "sign-in", .of_site = true, .sign_in = true, .runs_lists = runs_lists};
    if (!list || !letter_asking_allowed(work, list, &asking, &allowed, error))
        return false;
    if (!allowed)
        return true;
    if (!pending_token_new(token, error) || !session_add_link(store, address, token, work_now(work), error))
        return false;
    g_autofree char *language = letter_language(work, NULL, address);
    g_autofree char *page = letter_page(work, list, language, "sign-in", token);
    g_snprintf(minutes, sizeof(minutes), "%d", (int)(SESSION_LINK_LIFE / (60 * CLOCK_SECOND)));
    const TemplateValue values[] = {{"address", address->text}, {"page", page}, {"minutes", minutes}, {0}};
    const ListLetter letter = {.template = "sign_in",
                               .values = values,
                               .must_say = "page",
                               .language = language,
                               .from = work_site(work)->site_owner,
                               .to = address->text,
                               .personal = true};
    return work_letter(work, list, &letter, error);
}

/* ---- the link ---- */

bool sign_in_peek(Work *work, const char *link, SignIn *result, char **address, GError **error)
{
    g_autoptr(GError) fault = NULL;
    g_autoptr(Session) found = session_find_link(work_store(work), link, work_now(work), &fault);
    if (!found && !g_error_matches(fault, FAIL, FAIL_MISSING))
        return fail_with(error, &fault);
    *result = found ? SIGN_IN_DONE : SIGN_IN_UNKNOWN;
    *address = found ? g_strdup(found->address->text) : NULL;
    return true;
}

bool sign_in_begin(Work *work, const char *link, const char *agent, SignIn *result, char **token, GError **error)
{
    Store *store = work_store(work);
    char fresh[PENDING_TOKEN_CHARS + 1];
    g_autoptr(GError) fault = NULL;
    g_autoptr(Session) session = session_find_link(store, link, work_now(work), &fault);
    *result = SIGN_IN_UNKNOWN;
    if (session && !pending_token_new(fresh, error))
        return false;
    if (!session || !session_begin(store, link, fresh, agent, work_now(work), &fault))
        return fail_unless(error, FAIL_MISSING, &fault);
    work_log(work, "-", "sign-in address=<%s> result=done", session->address->text);
    *result = SIGN_IN_DONE;
    *token = g_strdup(fresh);
    /* The person who has the link has shown that the address is his own, from the first time on. */
    KnownAddress *found;
    if (!address_look_up(store, session->address, &found, error))
        return false;
    g_autoptr(KnownAddress) known = found;
    return !known || known->verified_at != 0 || address_set_verified(store, session->address, work_now(work), error);
}

/* ---- who is signed in ---- */

SignedIn *sign_in_vouched(Store *store, const char *address, GError **error)
{
    g_autoptr(GError) fault = NULL;
    g_autoptr(Mailbox) mailbox = mailbox_new(address);
    if (!mailbox->valid) {
        fail(error, FAIL_NEVER, "\"%s\" is no address", address);
        return NULL;
    }
    g_autoptr(User) user = user_find(store, address, &fault);
    if (!user && !g_error_matches(fault, FAIL, FAIL_MISSING)) {
        g_propagate_error(error, g_steal_pointer(&fault));
        return NULL;
    }
    SignedIn *person = g_new0(SignedIn, 1);
    person->address = g_steal_pointer(&mailbox);
    person->user_id = g_strdup(user ? user->id : "");
    return person;
}

SignedIn *sign_in_person(Store *store, const char *token, int64_t now, GError **error)
{
    g_autoptr(GError) fault = NULL;
    g_autoptr(Session) session = session_find(store, token, now, error);
    if (!session)
        return NULL;
    /* A database that takes nothing now keeps nobody from reading. */
    if (now - session->seen_at > SESSION_SEEN && !session_touch(store, session->key, now, &fault))
        log_warn("the use of a session was not noted: %s", fault->message);
    SignedIn *person = sign_in_vouched(store, session->address->text, error);
    if (person)
        person->session = session->key;
    return person;
}

MemberCriteria sign_in_criteria(const SignedIn *person)
{
    MemberCriteria criteria = MEMBER_CRITERIA_ALL;
    criteria.roles = PEOPLE;
    if (*person->user_id)
        criteria.user_id = person->user_id;
    else
        criteria.address = person->address->text;
    return criteria;
}

GPtrArray *sign_in_members(Store *store, const SignedIn *person, const char *list_id, unsigned limit, GError **error)
{
    MemberCriteria criteria = sign_in_criteria(person);
    criteria.list_id = list_id;
    return member_page(store, &criteria, NULL, limit, NULL, error);
}
