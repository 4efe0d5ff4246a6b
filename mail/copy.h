/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Make for each recipient a copy of its own of a message: fixed bytes, and holes that are filled for each recipient.
 * The message is cut once, when it is made. A copy is then a list of pieces for writev(2), in which the fixed ones are
 * borrowed from the message: nothing is read, copied or parsed again.
 *
 *   make     text is composed with copy_mark() where a hole shall be, whatever
 *            composes it; copy_cut() takes the marks out and notes the holes
 *   keep     copy_holes_write() beside the message
 *   deliver  copy_plan_new() once, copy_fill() for each recipient
 *
 * A mark is made of letters and digits that nobody can guess, so nothing that a sender wrote is ever taken for one. An
 * encoding that leaves letters and digits alone leaves a mark whole.
 */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum CopyField {
    COPY_ADDRESS,         /* anne@example.org */
    COPY_NAME,            /* Anne Person; "" when not known */
    COPY_NAME_OR_ADDRESS,
    COPY_MAILBOX,         /* Anne Person <anne@example.org>, for a header field */
    COPY_UNSUBSCRIBE,     /* token that ends this membership and nothing else */
    COPY_NAMED,           /* "yes" for who stands in To or Cc, too, so that the mail came without the list; else "no" */
    COPY_CHARSET,         /* "us-ascii" for a copy whose COPY_UTF8 holes are filled with ASCII, else "utf-8" */
    COPY_TRANSFER,        /* "7bit" for such a copy, else "8bit" */
    COPY_FIELDS,
} CopyField;

/* The encoding of the bytes around a hole, which decides what may be put into it. */
typedef enum CopyEncoding {
    COPY_ASCII,  /* text: anything else becomes "?" */
    COPY_UTF8,   /* text */
    COPY_QP,     /* text in UTF-8, quoted-printable */
    COPY_HEADER, /* the value of a header field */
    COPY_ENCODINGS,
} CopyEncoding;

const char *copy_field_name(CopyField field); /* "user_address", as templates call it */

typedef struct CopyHole {
    size_t offset; /* in the message without its marks */
    CopyField field;
    CopyEncoding encoding;
} CopyHole;

/* --- making --- */

/* Return the mark that stands for a hole while a text is composed: COPY_MARK_LENGTH letters and digits; g_free().
 * secret is one random_word() (base/secret.h) a message. */
#define COPY_MARK_LENGTH 36
char *copy_mark(const char *secret, CopyField field, CopyEncoding encoding);

/* Does text, of which length bytes are left, begin with a mark made from this secret? */
bool copy_is_mark(const char *secret, const char *text, size_t length);

/* Change the encoding of all marks in text, in place: call it before a text is put where another encoding holds. */
void copy_set_encoding(const char *secret, char *text, CopyEncoding encoding);

/* Return the bytes without their marks, or a new reference to the same bytes when there is no mark. Append a CopyHole
 * to holes for each mark; its offset is base and the place in the result. */
GBytes *copy_cut(const char *secret, GBytes *octets, size_t base, GArray *holes);

/* Return the holes as text for copy_plan_new(), "120:user_name:utf8 340:user_address:ascii"; g_free(). */
char *copy_holes_write(const GArray *holes);

/* --- delivering --- */

typedef struct CopyPlan CopyPlan;

/* Make the plan for the copies of a message of length bytes, from the text that copy_holes_write() returned (NULL or
 * "": no holes). FAIL_NEVER: the text has not that form, or a hole lies outside the message or before an earlier one.
 * */
CopyPlan *copy_plan_new(const char *holes, size_t length, GError **error);
void copy_plan_free(CopyPlan *plan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CopyPlan, copy_plan_free)

/* Return how many holes the plan has. */
size_t copy_plan_holes(const CopyPlan *plan);
/* Return the offset in the message of this hole, which counts from 0. */
size_t copy_plan_offset(const CopyPlan *plan, size_t hole);

/* The recipient of a copy, as read from a line of the entry "address TAB sender TAB token TAB name TAB named", of which
 * all but the address may be empty or missing. Nothing is NUL-terminated. */
typedef struct CopyRecipient {
    const char *address;
    size_t address_length;
    const char *sender; /* of the envelope; length 0: the message's */
    size_t sender_length;
    const char *token; /* for COPY_UNSUBSCRIBE */
    size_t token_length;
    const char *name; /* UTF-8 */
    size_t name_length;
    bool named; /* for COPY_NAMED */
} CopyRecipient;

/* Append the line of one recipient, as CopyRecipient has it. Tabs and line ends within a part become blanks; a part may
 * be NULL for "". */
void copy_recipient_write(GString *line, const char *address, const char *sender, const char *token, const char *name,
                          bool named);
/* Cut a line into its parts, which point into it. */
CopyRecipient copy_recipient_read(const char *line, size_t length);

typedef struct CopyFill {
    size_t offset; /* where it goes, in the message */
    char *text;    /* owned by the array */
    size_t length;
} CopyFill;

/* Return the text for each hole, in order, as an array of CopyFill; g_array_unref(). */
GArray *copy_fill(const CopyPlan *plan, const CopyRecipient *recipient);
