/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Find out for a shadow (shadow.h) what Listrunner would do with a post. That is its fate by the rules, its recipients,
 * and the copy that one of them would get. Nothing is delivered, and nothing is written into the store of the site.
 * Rules work on a copy of the list in a store of its own (doc/try.md). A list is copied when a post of it comes, and
 * again when the copy is ten minutes old.
 */
#include <glib.h>
#include <stdbool.h>

#include "base/config.h"
#include "lists/trial/trial.h"
#include "lists/trial/trial_mail.h"

typedef struct ShadowJudge ShadowJudge;

/* config and names (as Trial.names) are borrowed. */
ShadowJudge *shadow_judge_new(const Config *config, const Names *names);
void shadow_judge_free(ShadowJudge *judge);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ShadowJudge, shadow_judge_free)

/* Return the store of the site, to read from, borrowed until the next call. If another database has taken its place, it
 * is opened anew. NULL: it cannot be opened. */
Store *shadow_judge_store(ShadowJudge *judge, GError **error);

/* Drop the copies of lists, with what rules have counted in them. The next post of each list copies it anew. */
void shadow_judge_forget(ShadowJudge *judge);

typedef struct ShadowOutcome {
    TrialFate fate;
    char *reasons;          /* why it was not accepted; "": it was */
    GHashTable *recipients; /* address_key() -> address: who gets a copy */
    GBytes *octets;         /* the copy of the recipient that was asked for; NULL: there is none */
} ShadowOutcome;
void shadow_outcome_clear(ShadowOutcome *outcome);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ShadowOutcome, shadow_outcome_clear)

typedef struct ShadowQuestion {
    const char *list_id;
    const char *trace;     /* names the post in messages */
    const char *recipient; /* the address whose copy is wanted; "": that of any recipient */
    const TrialMail *mail;
} ShadowQuestion;
/* Judge the post of the question. *outcome is zero before; clear it also after false. FAIL_MISSING: there is no such
 * list. */
bool shadow_judge_post(ShadowJudge *judge, const ShadowQuestion *question, ShadowOutcome *outcome, GError **error);
