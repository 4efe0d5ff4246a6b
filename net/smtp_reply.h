/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read the replies of an SMTP or LMTP server piece by piece, as they arrive: lines "CODE-text", ended by a line
 * "CODE text". Lines end with CRLF or LF. The code of the last line counts.
 *
 * An SmtpReply is the state of the reader and, once smtp_reply_feed() has returned SMTP_REPLY_DONE, the reply. It
 * allocates nothing. The next call of smtp_reply_feed() begins the next reply.
 */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

#define SMTP_REPLY_TEXT_MAX 4095        /* bytes of text that are kept */
#define SMTP_REPLY_OCTETS_MAX (64 * 1024) /* a reply with more bytes is broken */
#define SMTP_REPLY_LINE_MAX 1023        /* bytes of a line that are read; the rest is dropped */

/* An enhanced status code with its NUL: class, subject and detail of up to 3 digits. */
#define SMTP_STATUS_SIZE 10

typedef enum SmtpReplyState {
    SMTP_REPLY_MORE,   /* all bytes were taken, and the reply goes on */
    SMTP_REPLY_DONE,   /* the reply is complete */
    SMTP_REPLY_BROKEN, /* this is no SMTP, or too long: close the connection */
} SmtpReplyState;

typedef struct SmtpReply {
    unsigned code; /* 100 to 599; SMTP defines no 1yz, but some servers send it */
    /* The enhanced code of the reply if its class agrees with code, else
     * "C.0.0" where C is code's first digit. */
    char status[SMTP_STATUS_SIZE];
    bool has_status; /* the server gave it */
    /* The lines without their codes, separated by LF: valid UTF-8 without
     * control characters, cut at SMTP_REPLY_TEXT_MAX. */
    char text[SMTP_REPLY_TEXT_MAX + 1];
    size_t text_length;

    /* The state of the reader. */
    bool finished;
    bool started;
    size_t octets;
    char line[SMTP_REPLY_LINE_MAX + 1];
    size_t line_length;
} SmtpReply;

void smtp_reply_init(SmtpReply *reply);

/* Read from data up to the end of one reply, and set *used to the number of bytes taken. */
SmtpReplyState smtp_reply_feed(SmtpReply *reply, const char *data, size_t length, size_t *used);

/* Return the first digit of the code, 1 to 5. */
static inline unsigned smtp_reply_class(const SmtpReply *reply)
{
    return reply->code / 100;
}

/* Return the reply on one line, "550 5.1.1 no such user", for logs and bounces. An enhanced code that every line
 * repeats appears once. g_free(). */
char *smtp_reply_print(const SmtpReply *reply);
