/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Letters that ask moderators to decide. Each owner and moderator of the list (where there are none, the site's owner)
 * gets one in their own language, with a token of their own: who answers it decides (lists/moderate.h).
 */
#include "lists/letter.h"
#include "store/ticket.h"

/* All borrowed. */
typedef struct ModeratorLetter {
    ListLetter letter;     /* without values and all that says to whom */
    const TemplateValue *values; /* besides mark, days, attached, items, page */
    Ticket about;          /* its numbers: what may be decided about */
    const char *attached;  /* key of the sentence that is $attached; NULL: none */
    const char *items;     /* what is $items; NULL: nothing */
    int64_t more;          /* things that items do not name: a sentence behind them says how many */
} ModeratorLetter;

/* False only when the store failed. */
bool moderator_letter(Work *work, const List *list, const ModeratorLetter *letter, GError **error);
