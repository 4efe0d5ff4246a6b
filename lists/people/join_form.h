/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Ask to join by a form of a page (page_form.h). The answer of the page does not show whether the address is a member
 * or is banned: the page only counts the form and leaves an entry, and a runner works it later.
 */
#include "lists/people/join.h"
#include "lists/people/page_form.h"

/* For the page: leave an entry for the form in the unit of work; joiner has an address, and maybe a name. *result is
 * ASKED_PERSON when an entry was left, BAD_ADDRESS or OWN_ADDRESS, which depend on the address and on the names of
 * lists alone, or LIMITED when too many forms came today (letter_form_allowed()). Commit the unit also then. */
bool join_form_take(Work *work, const List *list, const Joiner *joiner, SubscriptionResult *result, GError **error);

/* For the runner: carry out an entry of join_form_take() (KEY_TO is TO_JOIN) by join_ask(). meta is the entry's
 * metadata. */
bool join_form_work(Work *work, const List *list, const json_t *meta, GError **error);
