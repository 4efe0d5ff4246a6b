/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Declare what the files of readable.h share: readable.c takes the mail apart, readable_head.c reads its fields,
 * readable_text.c makes blocks of a text, with readable_quote.c and readable_patch.c, readable_calendar.c makes a text
 * of an invitation, and readable_file.c keeps what is for download. For this folder only. */
#include "mail/message.h"
#include "mail/mime/mime.h"
#include "mail/text/readable.h"

/* The bounds, less what was used, for a mail and the messages within. */
typedef struct ReadableBudget {
    size_t text; /* bytes */
    unsigned blocks;
    unsigned parts[READABLE_DEPTH + 1]; /* by the depth of the message that has them */
    size_t files;                       /* their number as yet */
    unsigned folds;                     /* the last number that a quotation got */
} ReadableBudget;

/* ---- the head ---- */

void readable_head_read(ReadableHead *head, const Message *message);
void readable_head_clear(ReadableHead *head);

/* ---- blocks ---- */

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

/* Return where the attribution begins at the end of a text that stands above a quotation; length: there is none. */
size_t readable_attribution_start(const char *text, size_t length);

/* Return the length of the lines that some programs put above a mail that they copy without marks, if they begin at
 * `at`; 0: they do not. They are "-----Original Message-----" and a block of From, Sent and Subject. */
size_t readable_original_length(const char *at, const char *end);

/* Return the length of the patch that begins at at, where a line begins; 0: there is none. */
size_t readable_patch_length(const char *at, const char *end);

/* Return the events of a calendar in iCalendar (RFC 5545), in UTF-8: of each its title, time, place and description. */
GString *readable_calendar_text(const char *calendar);

/* Has a paragraph columns, so that it wants a fixed pitch? */
bool readable_is_table(const char *text, size_t length);

/* ---- files ---- */

/* Does the part's Content-Disposition say that it is for download? */
bool readable_is_attachment(const MimePart *part);

/* Return the name that the mail gives to the file in a part; g_free(). NULL: it gives none. */
char *readable_part_name(const MimePart *part);

/* Make a file of a part; octets is what the part points into. */
ReadableFile *readable_file_new(const MimePart *part, GBytes *octets, size_t number);
void readable_file_free(void *file);

/* Does a name end like that of a patch? */
bool readable_is_patch_name(const char *name);
