/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Send automatic answers of a list to mail for its owners, to posts, and to mail for its -request address (the settings
 * autorespond_..., autoresponse_...). A person gets one of each kind in a grace period; programs get none (RFC 3834).
 */
#include <glib.h>
#include <stdbool.h>

#include "lists/work.h"
#include "store/lists/list.h"

/* The reason that is given for discarding a mail after an answer by AUTORESPOND_AND_DISCARD. */
#define AUTORESPOND_KEEPS_NONE "The list answers such mail and keeps none."

typedef enum AutorespondTo { AUTORESPOND_TO_OWNER, AUTORESPOND_TO_POSTINGS, AUTORESPOND_TO_REQUESTS } AutorespondTo;

/* The mail that may be answered; all is borrowed. */
typedef struct AutorespondMail {
    AutorespondTo to;
    bool may_answer;        /* RFC 3834: answer_allowed() (mail/answer.h) */
    const char *sender;     /* of the envelope */
    const char *message_id; /* NULL: it has none */
    const char *subject;    /* for people; NULL: it has none */
    const char *entry;      /* "in:4cd1...": when this same entry is worked again after a crash, it is answered again */
} AutorespondMail;

/* Return the automatic answer that the list's settings choose for mail to this address. */
Autorespond autorespond_action(const List *list, AutorespondTo to);

/* Answer the mail, if the list's settings want that, and its sender got no such answer in the grace period and not too
 * many letters today. True also when no answer is due. The answer is sent when the unit of work is committed. */
bool autorespond(Work *work, const List *list, const AutorespondMail *mail, GError **error);
