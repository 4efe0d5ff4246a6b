/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Declarations that the pages below /my share: my.c has signing in, the page of all lists and sessions, my_list.c one
 * membership, my_all.c all of them at once, my_person.c addresses and language, my_forget.c the removal of a person.
 */
#include "runners/web/web.h"
#include "store/list.h"

#define MY_DAY (86400 * CLOCK_SECOND)

/* Return the person who is signed in; NULL: the call was answered, a stranger by the form to sign in. */
const SignedIn *my_person(WebCall *call);
/* The same for a form, whose mark must be of this session. */
const SignedIn *my_sender(WebCall *call);

/* A view that has what each of these pages has. */
json_t *my_view(WebCall *call, const SignedIn *person);
/* A membership or role, as a line of a page. */
json_t *my_member_line(const WebCall *call, const Member *member, const List *list);
/* Put such lines into "lists" of the view for members (of Member; NULL: error is set), and say whether the person
 * "receives" mail of one, "runs" one, "owns" one. */
bool my_set_lines(WebCall *call, const GPtrArray *members, json_t *view, GError **error);
/* Does the person own the site or a domain? */
bool my_owns_place(Store *store, const SignedIn *person, bool *owns, GError **error);
/* The text in the language of the page. */
const char *my_say(const WebCall *call, const char *text);
/* "2026-12-20"; g_free() */
char *my_day(int64_t time);

/* Answer with the page of all lists; more (taken) says what was done. */
void my_show(WebCall *call, const SignedIn *person, json_t *more);

/* Languages in which there are letters, as options of a select; chosen is one of them, or "default", whose text is
 * `none`. json_decref() */
json_t *my_language_choices(const WebCall *call, const char *chosen, const char *none);
