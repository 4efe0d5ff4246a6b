/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/sign_in.h"

#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/mailbox.h"
#include "lists/guessing.h"
#include "lists/letter.h"
#include "runners/keys.h"
#include "store/list.h"
#include "store/member.h"
#include "store/pending.h"
#include "store/user.h"
#include "switchboard/meta.h"

#define LATEST (2 * CLOCK_SECOND) /* until an entry is worked; how long is left to chance */
#define PEOPLE ((1u << ROLE_MEMBER) | (1u << ROLE_OWNER) | (1u << ROLE_MODERATOR))

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
    static const char text[] = "Subject: a form of the pages\r\n\r\n";
    const Actor *actor = work_actor(work);
    *valid = mailbox_valid(address);
    if (!*valid)
        return true;
    json_t *meta = json_object();
    meta_set_string(meta, KEY_TO, TO_SIGN_IN);
    json_object_set_new(meta, KEY_SIGN_IN,
                        json_pack("{ss ss* ss*}", "address", address, "host", actor->host, "from", actor->from));
    GPtrArray *pieces = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
    g_ptr_array_add(pieces, g_bytes_new_static(text, strlen(text)));
    work_entry(work, "command", meta, pieces, NULL);
    work_entry_due(work, work_now(work) + g_random_int_range(0, LATEST));
    return true;
}

bool sign_in_is_one(const json_t *meta)
{
    return json_object_get(meta, KEY_SIGN_IN) != NULL;
}

Work *sign_in_unit(Store *store, const WorkSite *site, const json_t *meta, GError **error)
{
    const json_t *form = json_object_get(meta, KEY_SIGN_IN);
    const Actor actor = {.role = ACTOR_ADDRESS,
                         .door = DOOR_PAGE,
                         .host = meta_string(form, "host", NULL),
                         .from = meta_string(form, "from", "-")};
    if (meta_string(form, "address", NULL))
        return work_new(store, site, &actor);
    fail(error, FAIL_NEVER, "a form of a page has no address in " KEY_SIGN_IN);
    return NULL;
}

/* A letter in the name of the site, which needs a list to go out by: the person's first one. */
static bool mail_link(Work *work, const char *address, const char *list_id, GError **error)
{
    char token[PENDING_TOKEN_CHARS + 1], minutes[16];
    bool allowed;
    g_autoptr(List) list = list_by_id(work_store(work), list_id, error);
    const LetterAsking asking = {.address = address, .kind = "sign-in", .of_site = true, .sign_in = true};
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

bool sign_in_work(Work *work, const json_t *meta, GError **error)
{
    g_autoptr(GError) fault = NULL;
    const char *address = meta_string(json_object_get(meta, KEY_SIGN_IN), "address", "");
    g_autoptr(SignedIn) person = sign_in_vouched(work_store(work), address, error);
    g_autoptr(GPtrArray) members = person ? sign_in_members(work_store(work), person, NULL, 1, error) : NULL;
    if (!members)
        return false;
    if (members->len == 0) {
        work_log(work, "-", "sign-in address=<%s> result=nobody", address);
        return true;
    }
    work_log(work, "-", "sign-in address=<%s> result=asked", address);
    return mail_link(work, address, ((Member *)members->pdata[0])->list_id, error);
}

/* ---- the link ---- */

bool sign_in_peek(Work *work, const char *link, SignIn *result, char **address, GError **error)
{
    bool allowed;
    g_autoptr(GError) fault = NULL;
    *result = SIGN_IN_GUESSING;
    if (!guessing_allows(work, NULL, &allowed, error))
        return false;
    if (!allowed)
        return true;
    g_autoptr(Session) found = session_find_link(work_store(work), link, work_now(work), &fault);
    if (!found && !g_error_matches(fault, FAIL, FAIL_MISSING)) {
        g_propagate_error(error, g_steal_pointer(&fault));
        return false;
    }
    *result = found ? SIGN_IN_DONE : SIGN_IN_UNKNOWN;
    *address = found ? g_strdup(found->address) : NULL;
    return found || guessing_note(work, "-", error);
}

/* Whoever has the link has shown that the address is his own, from the first time on. */
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
    if (g_error_matches(fault, FAIL, FAIL_MISSING))
        return true;
    g_propagate_error(error, g_steal_pointer(&fault));
    return false;
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
    g_autoptr(Session) session = session_find(store, token, now, error);
    if (!session || (now - session->seen_at > SESSION_SEEN && !session_touch(store, session->key, now, error)))
        return NULL;
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
