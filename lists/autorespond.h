/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Automatic answers of a list to mail for its owners, to posts, and to mail for its -request address (the settings
 * autorespond_..., autoresponse_...). A person gets one of each kind in a grace period; programs get none (RFC 3834).
 */
#include <glib.h>
#include <stdbool.h>

#include "lists/work.h"
#include "store/list.h"

/* The reason for which a mail is discarded that AUTORESPOND_AND_DISCARD answers. */
#define AUTORESPOND_KEEPS_NONE "The list answers such mail and keeps none."

typedef enum AutorespondTo { AUTORESPOND_TO_OWNER, AUTORESPOND_TO_POSTINGS, AUTORESPOND_TO_REQUESTS } AutorespondTo;

/* The mail; all borrowed. */
typedef struct AutorespondMail {
    AutorespondTo to;
    bool may_answer;        /* RFC 3834: answer_allowed() (mail/answer.h) */
    const char *sender;     /* of the envelope */
    const char *message_id; /* NULL: it has none */
    const char *subject;    /* for people; NULL: it has none */
    const char *entry;      /* "in:4cd1...", as its effect is recorded: should it come again, it is answered again */
} AutorespondMail;

/* Return the automatic answer that the list's settings choose for mail to this address. */
Autorespond autorespond_action(const List *list, AutorespondTo to);

/* Answers the mail, if the list wants that and its sender got no such answer in the grace period, nor too many letters
 * today. Within a transaction. */
bool autorespond(Work *work, const List *list, const AutorespondMail *mail, GError **error);
