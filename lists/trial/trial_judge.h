/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Run one mail through the rules and the handlers of a list, without any effect outside (doc/try.md). They work on a
 * scratch store, which is a copy with this list alone. The site's own programs are not run, but taken to answer "pass",
 * and nothing is signed. Trials of settings (trial.h) and the shadow of another list server (shadow.h) use it.
 *
 *   trial_rules_init(&shared, config, names);                                 once
 *   side.store = scratch_new(store, list_id, &error), trial_side_open(...)   once a list
 *   trial_begin(&shared, &side, &mail, message, &post), trial_judge(&post, &fate, &reasons, &error)   for each mail
 */
#include "lists/trial/trial.h"
#include "lists/trial/trial_mail.h"
#include "posting/list_cache.h"
#include "posting/setup.h"

/* The settings of the site, which all posts share. */
typedef struct TrialRules {
    PostSetup setup;
    GArray *archivers; /* of PostArchiver, zero-terminated */
    const Names *names;
    bool no_requests; /* as in Post */
} TrialRules;

/* Read the site's part from the configuration. config and names (NULL: the DNS is not asked) are borrowed. */
void trial_rules_init(TrialRules *shared, const Config *config, const Names *names);
void trial_rules_clear(TrialRules *shared);

/* The list with one set of settings: as it is, or with a change. The side owns its store, which is of scratch_new(). */
typedef struct TrialSide {
    Store *store;
    ListCache *lists;
    const List *list; /* of lists */
} TrialSide;

/* Read the list from side->store, which the caller has set. Clear the side also after false. FAIL_MISSING: there is no
 * such list. */
bool trial_side_open(TrialSide *side, const char *list_id, GError **error);
void trial_side_clear(TrialSide *side);

/* Make *post ready for trial_judge(); the caller clears it with post_clear(). The caller has made `message` from
 * mail->octets; a moderator's password is taken out of it. All arguments are borrowed for the life of the post. The
 * caller then sets post->trace, and may set post->post_id. */
void trial_begin(const TrialRules *shared, const TrialSide *side, const TrialMail *mail, Message *message, Post *post);

/* Run the rules over the post, and, if they accept it, the handlers. Set *fate to the end that it came to, and *reasons
 * (g_free()) to why it was not accepted, in sentences; "": it was. False: a rule or handler failed, or the store. */
bool trial_judge(Post *post, TrialFate *fate, char **reasons, GError **error);
/* Return the mail of this way as it leaves, with places that differ for each recipient (send->holes) not filled. */
GBytes *trial_leaves(const Post *post, const PostSend *send);
