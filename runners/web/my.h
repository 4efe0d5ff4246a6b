/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Declare what the pages below /my share. my.c has signing in, the page of all lists, and sessions; my_person.c has
 * memberships, addresses and language, and the removal of a person.
 */
#include "runners/web/web.h"
#include "store/lists/list.h"

#define MY_DAY (86400 * CLOCK_SECOND)

/* Return the person who is signed in, borrowed from the call. NULL: the call was answered; a stranger was sent to the
 * page to sign in. */
const SignedIn *my_person(WebCall *call);
/* Return the person as my_person() does, for a form that was sent. The form must carry the mark of this session, or the
 * call is answered with 400. */
const SignedIn *my_sender(WebCall *call);

/* Return a new view with what each of these pages shows: mark, me, signed_in. */
json_t *my_view(WebCall *call, const SignedIn *person);
/* Return the view of a membership or role as one line of a page. */
json_t *my_member_line(const WebCall *call, const Member *member, const List *list);
/* Put the lines of my_member_line() into "lists" of the view for members (of Member). Set also whether the person
 * "receives" mail of a list, "runs" one, "owns" one. */
bool my_set_lines(WebCall *call, const GPtrArray *members, json_t *view, GError **error);
/* Look whether the person owns the site or a domain: *owns. false: the store failed. */
bool my_owns_place(Store *store, const SignedIn *person, bool *owns, GError **error);
/* Return the text in the language of the page, borrowed. */
const char *my_say(const WebCall *call, const char *text);
/* Return the day of a time (us), as "2026-12-20"; g_free(). */
char *my_day(int64_t time);

/* Answer with the page of all lists; more (taken) says what was done. */
void my_show(WebCall *call, const SignedIn *person, json_t *more);

/* Return the languages in which there are letters, as options of a select; json_decref(). chosen is the language that
 * is selected, or "default": the option that stands for no choice, whose text is `none`. */
json_t *my_language_choices(const WebCall *call, const char *chosen, const char *none);
