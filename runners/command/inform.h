/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Answer the commands by mail that only tell something: "who", "info" and "lists", and those for posts of the archive.
 * The answer goes to `who` (the address in From) and nowhere else; so it may say what that address may know, though a
 * From proves nothing.
 */
#include <glib.h>
#include <stdbool.h>

#include "base/config.h"
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

/* List the members that pass the filter, at most INFORM_LINES_MAX, to those who may see them
 * (member_roster_visibility). Say also how many of them hide their addresses, and whether there are more. Of a large
 * list only the first 50,000 or so members are looked at. */
Informing inform_who;
/* Tell about the list. */
Informing inform_list;
/* List the advertised lists of this list's domain, at most INFORM_LINES_MAX. */
Informing inform_lists;

#define INFORM_LINES_MAX 1000

#define GET_POSTS_MAX 50
#define GET_OCTETS_MAX (1024 * 1024)

/* Answer a command for posts of the archive; range is a text for post_range_read(). Append what became of it to answer,
 * and leave a letter with the posts in the unit of work (asked->work). FAIL_LATER: the archive cannot be read now. */
bool inform_archive(const InformAsked *asked, const Config *config, const char *range, GString *answer, GError **error);
