/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Hold what a delivery sends: the envelope sender and the message. They are the same for all recipients, or each
 * recipient has a copy made from the pieces of mail/copy.h. Of a copy only the parts that differ are made, when its
 * transaction begins.
 */
#include <glib.h>
#include <stdbool.h>

#include "mail/copy.h"
#include "net/smtp_client.h"
#include "runners/posts/copy_sign.h"
#include "switchboard/entry.h"

struct Batch;

typedef struct Content {
    const char *sender; /* the envelope sender, of the entry's metadata */
    const char *xverp;  /* KEY_XVERP of the metadata; NULL: none */
    bool smtputf8;
    CopyPlan *plan;     /* each recipient has a copy of their own; NULL: all have the same */
    SmtpBody *body;     /* with a plan, the pattern of the copies */
    bool long_lines;    /* of more than 998 bytes, which are encoded for all servers */
    SmtpBody *seven;    /* for servers that take no 8-bit bytes; NULL: not asked for yet */
    SmtpBody *lines;    /* without long lines; NULL: not made yet */
    GBytes *message;
    const GPtrArray *keys; /* of DkimKey */
    CopySign sign;      /* how copies that differ, or are converted, are signed */
    const char *trace;
} Content;

/* Read the content from the entry, whose metadata is borrowed, and so are the keys. content must not be moved in
 * memory. FAIL_NEVER: the entry can never be delivered. Call content_clear() in either case. */
bool content_init(Content *content, Entry *entry, const GPtrArray *keys, GError **error);
void content_clear(Content *content);

/* Does each recipient need a transaction of their own? */
static inline bool content_single(const Content *content)
{
    return content->plan != NULL;
}

/* Cut a recipient line, as it was read from the entry, down to the address: lines for copies hold more. */
void content_address(const Content *content, Recipient *recipient);

/* Ask servers that know DSN (RFC 3461) to send back failures alone and without the text, as letters about the entry of
 * this trace and the address that a member gave. The author of the post has no say in it: his mail has reached the
 * list. Mail without a sender is to cause no report. */
void content_ask_reports(const struct Batch *batch, SmtpTransaction *transaction);

/* Fill the transaction of a batch, but for its recipients and its data pointer. A copy is made here; it belongs to the
 * batch. */
void content_describe(struct Batch *batch, SmtpTransaction *transaction);
