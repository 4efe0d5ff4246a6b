/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Declare what the two files of readable.h share: readable.c takes the mail apart, readable_text.c makes blocks of a
 * text. For this folder only. */
#include "mail/text/readable.h"

/* The bounds, less what was used, for a mail and the messages within. */
typedef struct ReadableBudget {
    size_t text; /* bytes */
    unsigned blocks;
    unsigned parts[READABLE_DEPTH + 1]; /* by the depth of the message that has them */
    size_t files;                       /* their number as yet */
    unsigned folds;                     /* the last number that a quotation got */
} ReadableBudget;

/* How the text of a part is to be read. */
typedef struct ReadableForm {
    bool flowed, drop_blank; /* RFC 3676: format=flowed, DelSp=yes */
    bool fixed, patch;       /* all of it as it stands */
} ReadableForm;

/* Append an empty block, or a note, and count it, even when the budget has no more blocks. Return it, borrowed. */
ReadableBlock *readable_block_add(Readable *to, ReadableBudget *budget, ReadableKind kind);
ReadableBlock *readable_note_add(Readable *to, ReadableBudget *budget, ReadableNote note);

/* Append the blocks of a visible text with LF as line end, none when it is blank. The first says that it begins a part.
 * The budget's text is not changed. */
void readable_text_add(Readable *to, ReadableBudget *budget, const GString *text, const ReadableForm *form);
