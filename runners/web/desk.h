/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The desk: pages for those who run lists (doc/desk.md has its routes and who may see what). A page opens the desk with
 * the right that it wants, which finds the person, the standing and the list of the path, or answers:
 *
 *     g_auto(Desk) desk = {0};
 *     if (desk_open(&desk, call, MAY_LIST))
 *         desk_page(&desk, 200, "desk_list", json_object());
 */
#include "lists/authority.h"
#include "lists/standing.h"
#include "runners/web/web.h"
#include "store/list.h"

typedef struct Desk {
    WebCall *call;
    const SignedIn *person;
    Standing *standing;
    List *list;   /* NULL: the page is of no list */
    Authority by; /* how the person stands to the list */
} Desk;

void desk_clear(Desk *desk);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Desk, desk_clear)

/* Open the page of the list that the first part of the path names, for those who have the right (MAY_MODERATOR,
 * MAY_LIST); 0: a page of no list, for all who run one. A POST must bring the mark of the session. false: the call was
 * answered. */
bool desk_open(Desk *desk, WebCall *call, unsigned right);
/* Open a page for owners of the site. false: the call was answered. */
bool desk_open_site(Desk *desk, WebCall *call);

/* The store, which a begin may have opened anew. */
static inline Store *desk_store(const Desk *desk)
{
    return desk->call->web->store;
}

/* Begin a unit of work as the person, who asks as owner, moderator or operator. NULL: the call was answered. */
Work *desk_begin(const Desk *desk);

/* Set NAME to text that a template shows in one line. */
void desk_set_line(json_t *view, const char *name, const char *text);

/* Give the view what desk_page() gives it. */
void desk_complete(const Desk *desk, json_t *view);
/* Answer with a template, whose view (taken) gets the mark, and what all pages of a list have: "list" with path, name,
 * address, is_owner. */
void desk_page(const Desk *desk, int status, const char *name, json_t *view);
/* Answer 303 with the path below /desk, or below the list's pages: "/members?removed=2". */
void desk_see(const Desk *desk, const char *path);

/* Show a refusal (error is taken) as "fault" of the view (taken) on the page that show() makes, or answer 503 for what
 * is no refusal. */
typedef void DeskShow(Desk *desk, int status, json_t *view);
void desk_refuse(Desk *desk, GError *error, DeskShow *show, json_t *view);

#define DESK_PAGE 100 /* rows on a page */
