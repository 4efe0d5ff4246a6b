/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Find out what Listrunner would do with a post: rules, handlers and recipients, over scratch stores (doc/try.md).
 * Nothing is delivered, and nothing is written into the store of the site. A list is copied when a post of it comes,
 * and again when the copy is ten minutes old.
 */
#include <glib.h>
#include <stdbool.h>

#include "base/config.h"
#include "lists/trial.h"
#include "lists/trial_mail.h"

typedef struct ShadowJudge ShadowJudge;

/* config and names (as Trial.names) are borrowed. */
ShadowJudge *shadow_judge_new(const Config *config, const Names *names);
void shadow_judge_free(ShadowJudge *judge);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ShadowJudge, shadow_judge_free)

/* The store of the site, to read from; opened anew where another database took its place. Borrowed until the next
 * call. */
Store *shadow_judge_store(ShadowJudge *judge, GError **error);

/* Forget the copies of lists, with the accounts that rules keep there. */
void shadow_judge_forget(ShadowJudge *judge);

typedef struct ShadowOutcome {
    TrialFate fate;
    char *reasons;          /* why it was not accepted; "": it was */
    GHashTable *recipients; /* address_key() -> address: who gets a copy */
    GBytes *octets;         /* the copy of the recipient that was asked for; NULL: there is none */
} ShadowOutcome;
void shadow_outcome_clear(ShadowOutcome *outcome);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ShadowOutcome, shadow_outcome_clear)

/* Judge a post of the list. trace names it; recipient: whose copy is wanted, "": anybody's. FAIL_MISSING: there is no
 * such list. */
typedef struct ShadowQuestion {
    const char *list_id, *trace, *recipient;
    const TrialMail *mail;
} ShadowQuestion;
bool shadow_judge_post(ShadowJudge *judge, const ShadowQuestion *question, ShadowOutcome *outcome, GError **error);
