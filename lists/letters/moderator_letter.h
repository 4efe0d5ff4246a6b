/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Write to the moderators of a list and ask them to decide. Each owner and moderator (where there are none, the site's
 * owner) gets a letter in their own language. Where a letter asks about posts or requests, it has a token of its own,
 * and the answer to it decides (lists/posts/moderate.h).
 */
#include "lists/letters/letter.h"
#include "store/posts/ticket.h"

/* The content that the letters have in common. All is borrowed. */
typedef struct ModeratorLetter {
    ListLetter letter;           /* moderator_letter() sets its values, language, mark and addresses */
    const TemplateValue *values; /* further placeholders; mark, days, attached, items and page are always there */
    Ticket about;          /* numbers (first to last) of posts and requests that the answer may decide; 0: no token */
    const char *attached;  /* key of the sentence that is $attached; NULL: none */
    const char *items;     /* what is $items; NULL: nothing */
    int64_t more;          /* a sentence behind items says how many others there are; 0: no sentence */
} ModeratorLetter;

/* Gather the letters in the unit of work, and store a ticket with a token for each. Call it between work_begin() and
 * the commit, and roll back after false. */
bool moderator_letter(Work *work, const List *list, const ModeratorLetter *letter, GError **error);
