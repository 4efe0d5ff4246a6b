/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Sign in on the pages by a link that is mailed: there is no password. Whoever types an address has proved nothing, so
 * the page does not tell whether the address is known (page_form.h); the runner mails a link to those who are a member,
 * owner or moderator of a list, or own a domain with lists or the site. The link begins a session (store/session.h),
 * once. A mailbox gets three links an hour.
 */
#include "lists/page_form.h"
#include "store/member.h"
#include "store/session.h"

/* Gather an entry for the queue command, with the address that was typed. *valid is false, and nothing is gathered, if
 * it cannot be an address. */
bool sign_in_take(Work *work, const char *address, bool *valid, GError **error);

/* In the runner of the queue command, for an entry of TO_SIGN_IN: gather the letter with the link, if the person has a
 * list, domain or site as above and the limit on letters allows it. Else true is returned, too. */
bool sign_in_work(Work *work, const json_t *meta, GError **error);

typedef enum SignIn { SIGN_IN_DONE, SIGN_IN_UNKNOWN, SIGN_IN_GUESSING } SignIn;

/* Find whose link it is, without using it up. With SIGN_IN_DONE, *address is the person's (g_free()); with
 * SIGN_IN_UNKNOWN it is NULL, and the guess is counted (lists/guessing.h). With SIGN_IN_GUESSING, too many were
 * counted: nothing is looked up, and *address is not written. */
bool sign_in_peek(Work *work, const char *link, SignIn *result, char **address, GError **error);

/* Begin a session by the link, which shows that the address is the person's own: *token is what the browser keeps,
 * g_free(). agent: what it says it is. In a unit
 * that was begun; an unknown link is not counted, which sign_in_peek() does. */
bool sign_in_begin(Work *work, const char *link, const char *agent, SignIn *result, char **token, GError **error);

/* ---- who is signed in ---- */

/* Somebody who has shown that an address is his own. */
typedef struct SignedIn {
    char *address;
    char *user_id;   /* "": the address belongs to no user */
    int64_t session; /* key of the session; 0: the site's proxy vouches for him */
} SignedIn;
void signed_in_free(SignedIn *person);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SignedIn, signed_in_free)

/* Find who has the token, whose session then lasts anew. FAIL_MISSING: nobody. */
SignedIn *sign_in_person(Store *store, const char *token, int64_t now, GError **error);
/* The same for an address that a proxy of the site vouches for. FAIL_NEVER: it is none. */
SignedIn *sign_in_vouched(Store *store, const char *address, GError **error);

/* Choose all roles of the person but those of nonmembers. Borrows of the person. */
MemberCriteria sign_in_criteria(const SignedIn *person);
/* The person's memberships and roles but those of nonmembers, by List-Id, at most limit; of Member. */
GPtrArray *sign_in_members(Store *store, const SignedIn *person, const char *list_id, unsigned limit, GError **error);
