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
    g_free(person->address);
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

/* A letter in the name of the site, which needs a list to go out by. */
static bool mail_link(Work *work, const char *address, const char *list_id, bool runs_lists, GError **error)
{
    char token[PENDING_TOKEN_CHARS + 1], minutes[16];
    bool allowed;
    g_autoptr(List) list = list_by_id(work_store(work), list_id, error);
    const LetterAsking asking = {.address = address, .kind = "sign-in", .of_site = true, .sign_in = true,
                                 .runs_lists = runs_lists};
    if (!list || !letter_asking_allowed(work, list, &asking, &allowed, error))
        return false;
    if (!allowed)
        return true;
    if (!pending_token_new(token, error) || !session_add_link(work_store(work), address, token, work_now(work), error))
        return false;
    g_autofree char *language = letter_language(work, NULL, address);
    g_autofree char *page = letter_page(work, list, language, "sign-in", token);
    g_snprintf(minutes, sizeof(minutes), "%d", (int)(SESSION_LINK_LIFE / (60 * CLOCK_SECOND)));
    const TemplateValue values[] = {{"address", address}, {"page", page}, {"minutes", minutes}, {0}};
    return work_letter(work, list,
                       &(ListLetter){.template = "sign_in",
                                     .values = values,
                                     .must_say = "page",
                                     .language = language,
                                     .from = work_site(work)->site_owner,
                                     .to = address,
                                     .personal = true},
                       error);
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

/* The List-Id of a list that is the person's, NULL: there is none; g_free(). *runs: the person runs it. */
static bool find_list(Store *store, const SignedIn *person, char **list_id, bool *runs, GError **error)
{
    if (!find_run(store, person, list_id, error))
        return false;
    *runs = *list_id != NULL;
    return *runs || find_role(store, person, PEOPLE, list_id, error);
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
    g_autoptr(GError) fault = NULL;
    const char *address = page_form_read(meta).address;
    g_autofree char *list_id = NULL, *stored = NULL;
    g_autoptr(SignedIn) person = sign_in_vouched(work_store(work), address, error);
    bool runs;
    if (person)
        stored = address_stored(work_store(work), address, error);
    if (!stored || !find_list(work_store(work), person, &list_id, &runs, error))
        return false;
    if (!list_id) {
        work_log(work, "-", "sign-in address=<%s> result=nobody", address);
        return true;
    }
    work_log(work, "-", "sign-in address=<%s> result=asked", address);
    return mail_link(work, stored, list_id, runs, error);
}

/* ---- the link ---- */

bool sign_in_peek(Work *work, const char *link, SignIn *result, char **address, GError **error)
{
    g_autoptr(GError) fault = NULL;
    g_autoptr(Session) found = session_find_link(work_store(work), link, work_now(work), &fault);
    if (!found && !g_error_matches(fault, FAIL, FAIL_MISSING))
        return fail_with(error, &fault);
    *result = found ? SIGN_IN_DONE : SIGN_IN_UNKNOWN;
    *address = found ? g_strdup(found->address) : NULL;
    return true;
}

/* Note the address as verified: the person who has the link has shown that it is his own, from the first time on. */
static bool note_verified(Work *work, const char *address, GError **error)
{
    KnownAddress *found;
    if (!address_look_up(work_store(work), address, &found, error))
        return false;
    g_autoptr(KnownAddress) known = found;
    return !known || known->verified_at != 0 || address_set_verified(work_store(work), address, work_now(work), error);
}

bool sign_in_begin(Work *work, const char *link, const char *agent, SignIn *result, char **token, GError **error)
{
    char fresh[PENDING_TOKEN_CHARS + 1];
    g_autoptr(GError) fault = NULL;
    g_autoptr(Session) found = session_find_link(work_store(work), link, work_now(work), &fault);
    if (found && !pending_token_new(fresh, error))
        return false;
    *result = SIGN_IN_UNKNOWN;
    if (found && session_begin(work_store(work), link, fresh, agent, work_now(work), &fault)) {
        work_log(work, "-", "sign-in address=<%s> result=done", found->address);
        *result = SIGN_IN_DONE;
        *token = g_strdup(fresh);
        return note_verified(work, found->address, error);
    }
    return fail_unless(error, FAIL_MISSING, &fault);
}

/* ---- who is signed in ---- */

SignedIn *sign_in_vouched(Store *store, const char *address, GError **error)
{
    g_autoptr(GError) fault = NULL;
    if (!mailbox_valid(address)) {
        fail(error, FAIL_NEVER, "\"%s\" is no address", address);
        return NULL;
    }
    g_autoptr(User) user = user_find(store, address, &fault);
    if (!user && !g_error_matches(fault, FAIL, FAIL_MISSING)) {
        g_propagate_error(error, g_steal_pointer(&fault));
        return NULL;
    }
    SignedIn *person = g_new0(SignedIn, 1);
    person->address = g_strdup(address);
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
    SignedIn *person = sign_in_vouched(store, session->address, error);
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
        criteria.address = person->address;
    return criteria;
}

GPtrArray *sign_in_members(Store *store, const SignedIn *person, const char *list_id, unsigned limit, GError **error)
{
    MemberCriteria criteria = sign_in_criteria(person);
    criteria.list_id = list_id;
    return member_page(store, &criteria, NULL, limit, NULL, error);
}
