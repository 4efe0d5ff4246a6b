/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Run one mail through the rules and the handlers of a list, with what makes that a trial: a scratch store, programs of
 * the site that all answer "pass", no signatures (doc/try.md). Shared by trials of settings (trial.h) and by the shadow
 * of another list server (shadow.h).
 *
 *   trial_rules_init(&shared, config, names);                                 once
 *   side.store = scratch_new(store, list_id, &error), trial_side_open(...)   once a list
 *   trial_begin(&shared, &side, &mail, message, &post), trial_judge(&post, &verdict, &error)   for each mail
 */
#include "lists/trial.h"
#include "lists/trial_mail.h"
#include "posting/list_cache.h"
#include "posting/setup.h"

/* The site, which all posts share. */
typedef struct TrialRules {
    PostSetup setup;
    GArray *archivers; /* of PostArchiver, zero-terminated */
    const Names *names;
    bool no_requests; /* as in Post */
} TrialRules;

/* config and names (NULL: nothing is asked) are borrowed. */
void trial_rules_init(TrialRules *shared, const Config *config, const Names *names);
void trial_rules_clear(TrialRules *shared);

/* One way in which the list is set. The store is of scratch_new(), and belongs to the side. */
typedef struct TrialSide {
    Store *store;
    ListCache *lists;
    const List *list; /* of lists */
} TrialSide;

/* Read the list from side->store, which the caller has set. FAIL_MISSING: there is no such list. */
bool trial_side_open(TrialSide *side, const char *list_id, GError **error);
void trial_side_clear(TrialSide *side);

/* Ready *post, which the caller clears with post_clear(). The caller has made message from mail->octets; a moderator's
 * password in it is taken out. All arguments are borrowed for the life of the post. The caller then sets post->trace,
 * and may set post->post_id. */
void trial_begin(const TrialRules *shared, const TrialSide *side, const TrialMail *mail, Message *message, Post *post);

/* Run the rules over the post, and, if they accept it, the handlers. */
bool trial_judge(Post *post, Verdict *verdict, GError **error);
TrialFate trial_fate_of(const Post *post, Verdict verdict);
