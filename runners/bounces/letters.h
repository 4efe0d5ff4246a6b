/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Write the letters of the bounces runner to people, from templates. No letter is ever an answer to a bounce, and all
 * but probes have the null sender, so a letter that cannot be delivered does not come back.
 */
#include "runners/bounces/case.h"

/* One member, and what became of it. */
typedef struct Letter {
    const char *address;
    const Failed *failed; /* NULL: time did it */
    int64_t score;        /* hundredths */
    int64_t warnings;     /* sent, this one included */
    int64_t next_at;
    unsigned acts;        /* flags of ScoreAct: which letters there are */
} Letter;

/* Fails only when the store does; a letter that cannot be made is told in the log. */
bool letters_send(Case *given, const Letter *letter, GError **error);

/* To the owner of the site: an owner or moderator cannot be reached. */
bool letters_unreachable(Case *given, const Failed *failed, GError **error);

/* The mail of the entry, with a word why; last: no more of them today. */
bool letters_forward(Case *given, const char *why, bool last, GError **error);
