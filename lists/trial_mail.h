/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* The mail that a trial (trial.h) replays: a list's archive, what is held, and what was refused (refused.h), in the
 * order of arrival. */
#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "lists/refused.h"
#include "lists/trial.h"
#include "store/list.h"

typedef struct TrialMail {
    char *file;      /* in the archive, or NULL */
    int64_t held;    /* its number, or 0 */
    Refused refused; /* name NULL: it is archived, or held */
    int64_t arrival;
    GBytes *octets; /* as it came, as far as that is known */
    json_t *meta;   /* as LMTP gave it, or would */
} TrialMail;

void trial_mail_clear(TrialMail *mail);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TrialMail, trial_mail_clear)

typedef struct TrialMails TrialMails;

/* Find the mail of trial->list_id since trial->since; list is that list. Sets tally->gap. */
TrialMails *trial_mails_open(const Trial *trial, const List *list, TrialTally *tally, GError **error);
void trial_mails_free(TrialMails *mails);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TrialMails, trial_mails_free)

/* Return about how many mails are left. */
uint64_t trial_mails_count(const TrialMails *mails);

/* Read the next mail into *mail, which is cleared first. *more is false when there is none left. Files that are passed
 * over are counted in the tally. False: the reading failed. */
bool trial_mails_next(TrialMails *mails, TrialMail *mail, bool *more, GError **error);
