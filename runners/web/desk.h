/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Share what the pages of the desk need. The desk is the part of the web pages for those who run lists (doc/desk.md
 * has its routes and who may see what). A page begins with desk_open(), which finds who is signed in, which lists that
 * person runs, and the list that the path names. If the person may not see the page, desk_open() answers the call:
 *
 *     g_auto(Desk) desk = {0};
 *     if (desk_open(&desk, call, MAY_LIST))
 *         desk_page(&desk, 200, "desk_list", json_object());
 */
#include "lists/authority.h"
#include "lists/people/standing.h"
#include "runners/web/web.h"
#include "store/lists/list.h"

typedef struct Desk {
    WebCall *call;
    const SignedIn *person;
    Standing *standing; /* the lists, domains or site that the person runs; owned */
    List *list;   /* owned; NULL: the page is of no list */
    Authority by; /* how the person stands to the list */
} Desk;

void desk_clear(Desk *desk);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Desk, desk_clear)

/* Open a page of the list that the first part of the path names, for persons with the right (MAY_MODERATOR, MAY_LIST).
 * right 0: open a page of no list, for everybody who runs a list. A POST must bring the mark of the session
 * (web_my_mark()). false: the call was answered, a stranger by the page to sign in. *desk is {0} before, and is to be
 * cleared in either case. */
bool desk_open(Desk *desk, WebCall *call, unsigned right);
/* Open a page as desk_open() with right 0 does, for a page that only owners of the site may see. */
bool desk_open_site(Desk *desk, WebCall *call);

/* Return the store of the call, borrowed. */
static inline Store *desk_store(const Desk *desk)
{
    return desk->call->store;
}

/* Begin a unit of work (lists/work.h) in the name of the person, as moderator or owner; end it with web_commit(). NULL:
 * the call was answered. */
Work *desk_begin(const Desk *desk);

/* Set NAME of the view to text, cut and cleaned so that a template can show it in one line. text may be NULL. */
void desk_set_line(json_t *view, const char *name, const char *text);

/* Set what each page of the desk shows: "mark", "is_site", "me", and on a page of a list "list" (with path, name,
 * address, is_owner) and "title". For a page that is not answered by desk_page(), which does so itself. */
void desk_complete(const Desk *desk, json_t *view);
/* Complete the view (taken), and answer with the template NAME filled with it. */
void desk_page(const Desk *desk, int status, const char *name, json_t *view);
/* Answer 303. path, such as "/members?removed=2", is below the pages of the list, or below /desk on a page of no
 * list. */
void desk_see(const Desk *desk, const char *path);

/* Make a page from a view (taken), and answer with it. */
typedef void DeskShow(Desk *desk, int status, json_t *view);
/* Answer a change that failed (error and view are taken). A refusal (FAIL_NEVER, FAIL_EXISTS, FAIL_MISSING) is shown
 * with status 400 on the page that show() makes, as "fault" of the view. Any other failure is answered by
 * web_fail(). */
void desk_refuse(Desk *desk, GError *error, DeskShow *show, json_t *view);

/* May the person give the setting this value, as list_get() has it? A word @LIST names the members of another list,
 * which must be one that the person owns, unless the list has the word now. FAIL_NEVER: not so. */
bool desk_words_allowed(const Desk *desk, const ListSetting *setting, const char *value, GError **error);

#define DESK_PAGE 100 /* rows on a page */
