/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Letters that ask moderators to decide. Each owner and moderator of the list (where there are none, the site's owner)
 * gets one in their own language. Where the letter asks about something, each has a token of its own, and an answer to
 * it decides (lists/moderate.h).
 */
#include "lists/letter.h"
#include "store/ticket.h"

/* All borrowed. */
typedef struct ModeratorLetter {
    ListLetter letter;           /* moderator_letter() sets its values, language, mark and addresses */
    const TemplateValue *values; /* more than mark, days, attached, items and page, which are set for you */
    Ticket about;                /* its numbers are what may be decided about; none: no token */
    const char *attached;  /* key of the sentence that is $attached; NULL: none */
    const char *items;     /* what is $items; NULL: nothing */
    int64_t more;          /* a sentence behind items says how many others there are; 0: no sentence */
} ModeratorLetter;

/* False only when the store failed. */
bool moderator_letter(Work *work, const List *list, const ModeratorLetter *letter, GError **error);
