/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Asking to join by a form of a page, whose sender has proved nothing. Neither what he is answered nor how long that
 * takes may tell who is a member, is banned or got a letter today: so for each address that could be a member the same
 * is done, which is to leave an entry for the queue command, and the runner of that queue does the rest: a while later,
 * since its transaction lasts longer where a letter goes, and keeps waiting whoever sends another form just then.
 */
#include "lists/join.h"

/* Take the form; joiner has an address, and maybe a name. *result is ASKED_PERSON when an entry was left, else
 * BAD_ADDRESS or OWN_ADDRESS, which depend on the address and on the names of lists alone. */
bool join_form_take(Work *work, const List *list, const Joiner *joiner, SubscriptionResult *result, GError **error);

/* In the runner: is the entry a form? meta is its metadata. */
bool join_form_is_one(const json_t *meta);
/* Return a unit of work for whoever sent it; NULL: it lacks something (FAIL_NEVER). Borrows of meta. */
Work *join_form_unit(Store *store, const WorkSite *site, const json_t *meta, GError **error);
/* Ask for what it wishes, by join_ask(). */
bool join_form_work(Work *work, const List *list, const json_t *meta, GError **error);
