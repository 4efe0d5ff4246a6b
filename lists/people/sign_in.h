/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Sign in on the pages by a link that is mailed: there is no password. A person who types an address has proved
 * nothing, so the page does not tell whether the address is known (page_form.h). The runner of the queue command mails
 * a link to people who belong to a list, or who own a domain with lists or the site. The link begins a session
 * (store/people/session.h), once. A mailbox gets three links an hour.
 */
#include "lists/people/page_form.h"
#include "store/people/member.h"
#include "store/people/session.h"

/* Gather an entry for the queue command, with the address that was typed. *valid is false, and nothing is gathered, if
 * it cannot be an address. */
bool sign_in_take(Work *work, const char *address, bool *valid, GError **error);

/* Set *full to whether as many links went out today as the site allows (max_form_letters_per_day): then only people who
 * run a list, a domain or the site get one. */
bool sign_in_is_full(const Work *work, bool *full, GError **error);

/* In the runner of the queue command, for an entry of TO_SIGN_IN: gather the letter with the link. Nothing is gathered,
 * and true is returned all the same, if the person runs or reads no list here, or the limit on letters is reached.
 * FAIL_NEVER: the form has no valid address. */
bool sign_in_work(Work *work, const json_t *meta, GError **error);

typedef enum SignIn {
    SIGN_IN_DONE,    /* the link is one of ours */
    SIGN_IN_UNKNOWN, /* the link is unknown, used up or expired */
} SignIn;

/* Find whose link it is, to show the address before the person confirms; the link is not used up. With SIGN_IN_DONE,
 * *address is the person's (g_free()). With SIGN_IN_UNKNOWN it is NULL. */
bool sign_in_peek(Work *work, const char *link, SignIn *result, char **address, GError **error);

/* Use up the link and begin a session, after sign_in_peek() and in the unit's transaction. *token (g_free()) is for the
 * browser to keep. agent is the browser's name for itself. The address counts as verified from then on. With
 * SIGN_IN_UNKNOWN there is no session, and *token is not written. */
bool sign_in_begin(Work *work, const char *link, const char *agent, SignIn *result, char **token, GError **error);

/* ---- who is signed in ---- */

/* Somebody who has shown that an address is his own. */
typedef struct SignedIn {
    Mailbox *address;
    char *user_id;   /* "": the address belongs to no user */
    int64_t session; /* key of the session; 0: the site's proxy vouches for him */
} SignedIn;
void signed_in_free(SignedIn *person);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SignedIn, signed_in_free)

/* Find the person whose browser sent this token; signed_in_free(). The session then lasts anew. FAIL_MISSING: the token
 * is that of no session. */
SignedIn *sign_in_person(Store *store, const char *token, int64_t now, GError **error);
/* Return the person at an address that a proxy of the site vouches for; signed_in_free(). The address need not be
 * known. FAIL_NEVER: it is no address. */
SignedIn *sign_in_vouched(Store *store, const char *address, GError **error);

/* Return criteria that choose the person as member, owner and moderator of all lists. They borrow from person. */
MemberCriteria sign_in_criteria(const SignedIn *person);
/* Return the person's rows (of Member) as member, owner and moderator, in order of List-Id, at most limit. list_id:
 * those on this list alone; NULL: on all. NULL is returned when the store failed. */
GPtrArray *sign_in_members(Store *store, const SignedIn *person, const char *list_id, unsigned limit, GError **error);
