/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Write the letters of the bounces runner to people, from templates. No letter is ever an answer to a bounce. All but
 * probes have the null sender, so a letter that cannot be delivered does not come back.
 */
#include "runners/bounces/case.h"

/* A member, and the acts that letters are about; all is borrowed. */
typedef struct Letter {
    const char *address;
    const Failed *failed; /* the failure that led to the acts; NULL: a time had come (score_due()) */
    int64_t score;        /* hundredths */
    int64_t warnings;     /* how many warnings were sent, this one included */
    int64_t next_at;
    unsigned acts;        /* flags of ScoreAct: which letters there are */
} Letter;

/* Write the letters for the acts: a probe, a warning, a letter to the list's owners; and note the event of a removed
 * or disabled member. False: the store failed. A letter that cannot be made is only logged. */
bool letters_send(Case *given, const Letter *letter, GError **error);

/* Write to the owner of the site that an owner or moderator of the list cannot be reached. */
bool letters_unreachable(Case *given, const Failed *failed, GError **error);

/* Forward the mail of the entry, with the reason why; last: the letter adds that no more come today. */
bool letters_forward(Case *given, const char *why, bool last, GError **error);
