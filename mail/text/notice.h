/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Compose mail that Listrunner itself writes: a text, and perhaps the message it is about. The result is a whole RFC
 * 5322 message with CRLF: From, To, Subject, Message-ID, Date, Auto-Submitted, Precedence, MIME fields, UTF-8.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef enum NoticeAttach {
    NOTICE_ALONE,
    NOTICE_HEADER,  /* the header of the message it is about (text/rfc822-headers) */
    NOTICE_MESSAGE, /* all of it (message/rfc822), unless `most` says less */
} NoticeAttach;

typedef struct Notice {
    const char *from_name; /* UTF-8; NULL: none */
    const char *from;      /* mailbox */
    const char *to;        /* mailbox */
    const char *reply_to;  /* mailbox; NULL: none */
    const char *text;      /* UTF-8; its first line is "Subject: ..." */
    const char *id;        /* Message-ID without brackets: notice_id() */
    const char *in_reply_to; /* Message-ID without brackets; NULL: none */
    int64_t date;
    bool personal; /* leave out Precedence: bulk, since some systems send no bounces for such mail */
    bool replied; /* say Auto-Submitted: auto-replied; else it says auto-generated */
    NoticeAttach attach;
    GBytes *about; /* the message, for NOTICE_HEADER and NOTICE_MESSAGE */
    const GPtrArray *further; /* more messages, of GBytes, attached as about is; NULL: none */
    /* The most bytes of about, and of each further message, that are attached; 0: no limit. Of a longer message the
     * start is attached, up to the end of a line if one is in its second half, and Content-Description says so. */
    size_t most;
    /* Makes the notice a report of RFC 3464, which needs about: the text of dsn_delivery_status(). NULL: no report. */
    const char *delivery_status;
} Notice;

/* Make the Message-ID of one notice, without brackets: kind (a word for people who read it), random bits and host. So
 * nobody can send another mail under it beforehand, which programs would keep in place of the notice. g_free(). */
char *notice_id(const char *kind, const char *host);

/* Compose the message, and return its pieces in their order: of GBytes, freed with the array. The bytes of `about` are
 * not copied. Each call draws a boundary that nobody could know when the attached message was written, and that stands
 * nowhere in the content. */
GPtrArray *notice_compose(const Notice *notice);
