/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read the mail that a trial (trial.h) replays, in the order of arrival. It is the posts of a list's archive, those
 * that are held, and those that were refused (refused.h).
 */
#include <glib.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "lists/posts/refused.h"
#include "lists/trial/trial.h"
#include "store/lists/list.h"

typedef struct TrialMail {
    char *file;      /* in the archive, or NULL */
    int64_t held;    /* its number, or 0 */
    Refused refused; /* name NULL: it is archived, or held */
    int64_t arrival;
    GBytes *octets; /* the mail as it came; of an archived post without what handlers had added, such as List-Id */
    json_t *meta;   /* the entry's metadata from LMTP; for a mail without any, those that LMTP would give */
} TrialMail;

void trial_mail_clear(TrialMail *mail);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(TrialMail, trial_mail_clear)

typedef struct TrialMails TrialMails;

/* Find the mail of the list that arrived at trial->since or later; set tally->gap. list is that of trial->list_id. The
 * arguments are borrowed until trial_mails_free(). NULL: the archive, the store or the refused mail cannot be read. */
TrialMails *trial_mails_open(const Trial *trial, const List *list, TrialTally *tally, GError **error);
void trial_mails_free(TrialMails *mails);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TrialMails, trial_mails_free)

/* Return about how many mails are left. */
uint64_t trial_mails_count(const TrialMails *mails);

/* Read the next mail into *mail, which is cleared first. *more is false when there is none left. Files that are passed
 * over (tally->removed, tally->unreadable) and mails are counted in the tally. False: the archive or the store failed.
 */
bool trial_mails_next(TrialMails *mails, TrialMail *mail, bool *more, GError **error);
