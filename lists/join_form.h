/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Asking to join by a form of a page (page_form.h): nobody is told who is a member, is banned or got a letter today.
 */
#include "lists/join.h"
#include "lists/page_form.h"

/* Take the form; joiner has an address, and maybe a name. *result is ASKED_PERSON when an entry was left, else
 * BAD_ADDRESS or OWN_ADDRESS, which depend on the address and on the names of lists alone. */
bool join_form_take(Work *work, const List *list, const Joiner *joiner, SubscriptionResult *result, GError **error);

/* In the runner, for a form of TO_JOIN: ask for what it wishes, by join_ask(). */
bool join_form_work(Work *work, const List *list, const json_t *meta, GError **error);
