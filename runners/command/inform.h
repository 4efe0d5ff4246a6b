/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Answer the commands by mail that only tell something: "who", "info" and "lists". The answer goes to `who` (the
 * address in From) and nowhere else; so it may say what that address may know, though a From proves nothing.
 */
#include <glib.h>
#include <stdbool.h>

#include "lists/work.h"
#include "runners/command/parse.h"
#include "store/lists/list.h"

/* A question: the person who asks, the list, and the language of the answer. */
typedef struct InformAsked {
    Work *work;
    const List *list;
    const char *who, *language;
    WhoFilter filter; /* for inform_who() */
} InformAsked;

/* Append the answer to a command, as indented lines. False: the store failed. */
typedef bool Informing(const InformAsked *asked, GString *answer, GError **error);

/* Has the address that asks one of these roles (1u << ROLE_..., joined by |) on the list? */
bool inform_has_role(const InformAsked *asked, unsigned roles, bool *has, GError **error);

/* List the members that pass the filter, at most INFORM_LINES_MAX, to those who may see them
 * (member_roster_visibility). Say also how many of them hide their addresses, and whether there are more. Of a large
 * list only the first 50,000 or so members are looked at. */
Informing inform_who;
/* Tell about the list. */
Informing inform_list;
/* List the advertised lists of this list's domain, at most INFORM_LINES_MAX. */
Informing inform_lists;

#define INFORM_LINES_MAX 1000
