/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Replies of an SMTP or LMTP server, read piece by piece as they come off the
 * wire: "CODE-text" lines, ended by a "CODE text" line. Line ends are CRLF
 * or LF. The code of the last line counts.
 *
 * One SmtpReply is both the reader's state and, when smtp_reply_feed() said
 * SMTP_REPLY_DONE, the reply; it needs no allocation and is used again for
 * the next reply without being told.
 */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

#define SMTP_REPLY_TEXT_MAX 4095        /* octets of text that are kept */
#define SMTP_REPLY_OCTETS_MAX (64 * 1024) /* a longer reply is broken */
#define SMTP_REPLY_LINE_MAX 1023        /* octets of a line that are looked at */

/* An enhanced status code with its NUL: class, subject and detail of up to 3 digits. */
#define SMTP_STATUS_SIZE 10

typedef enum SmtpReplyState {
    SMTP_REPLY_MORE,   /* all octets taken, the reply goes on */
    SMTP_REPLY_DONE,   /* one whole reply */
    SMTP_REPLY_BROKEN, /* this is no SMTP, or too long: close the connection */
} SmtpReplyState;

typedef struct SmtpReply {
    unsigned code; /* 100 .. 599; SMTP gives 1yz to nothing, but servers have said it */
    /* The enhanced code of the reply if its class agrees with code, else
     * "C.0.0" where C is code's first digit. */
    char status[SMTP_STATUS_SIZE];
    bool has_status; /* the server gave it */
    /* The lines without their codes, separated by LF: valid UTF-8 without
     * control characters, cut at SMTP_REPLY_TEXT_MAX. */
    char text[SMTP_REPLY_TEXT_MAX + 1];
    size_t text_length;

    /* The reader's own. */
    bool finished;
    bool started;
    size_t octets;
    char line[SMTP_REPLY_LINE_MAX + 1];
    size_t line_length;
} SmtpReply;

void smtp_reply_init(SmtpReply *reply);

/* Reads from data up to the end of one reply and sets *used to the number of
 * octets taken. */
SmtpReplyState smtp_reply_feed(SmtpReply *reply, const char *data, size_t length, size_t *used);

/* First digit of the code: 1 to 5. */
static inline unsigned smtp_reply_class(const SmtpReply *reply)
{
    return reply->code / 100;
}

/* The reply on one line, "550 5.1.1 no such user", for logs and bounces;
 * an enhanced code that each line repeats is given once. g_free(). */
char *smtp_reply_print(const SmtpReply *reply);
