/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Decide what a bounce, or the passing of time, means for a member. The functions change the numbers of a BounceScore,
 * and return the acts to be done, flags of ScoreAct. They write nothing: the caller stores the score and does the
 * acts.
 *
 *   clean -> scored: a bounce; each day counts once, with its gravest
 *   scored -> clean: nothing came back for stale_us
 *   scored -> probed: the threshold is reached; the score begins anew
 *   scored, probed -> disabled: the threshold without probes, or the probe came back
 *   disabled -> warned ... -> removed: each interval_us
 */
#include "store/lists/list.h"
#include "store/people/bounce.h"

#define SCORE_POINT 100 /* BounceScore counts hundredths */

typedef struct ScoreRules {
    int64_t threshold; /* hundredths at which a member is probed or disabled; 0: never */
    int64_t stale_us;  /* after so long without a bounce the score is forgotten */
    int64_t warnings, interval_us; /* how many warnings a disabled member gets, and the time between them */
    bool probes;       /* a probe is sent before a member is disabled */
} ScoreRules;

/* Return the rules that the list's settings make. */
ScoreRules score_rules(const List *list, bool probes);

/* Acts that are to be done, or were done; the flags are kept with the record of an effect (case.h). */
typedef enum ScoreAct {
    SCORE_GREW = 1,
    SCORE_PROBE = 2,
    SCORE_DISABLE = 4,
    SCORE_WARN = 8,
    SCORE_REMOVE = 16,
    SCORE_TELL_OWNER = 32, /* set by case.h, not by these rules: the owners are told */
    SCORE_TAKE_BACK = 128, /* set by case.h: points of others are taken back by an entry of our own */
    SCORE_LEFT = 64,       /* set by case.h: the member left by a complaint; lists/people/leave.h wrote the letters */
} ScoreAct;

/* Take in that the clock was ahead when the score was written: no time of it stays in the future, and the next one
 * comes as long after now as it would have come after the last. */
void score_believe(BounceScore *score, int64_t now);

/* Begin anew with a member: after somebody enabled one whom the rules had disabled, or disabled it for another
 * reason. */
void score_forgive(BounceScore *score);

/* Take in a bounce that came at this time. added: by how many hundredths it made the worst bounce of its day worse;
 * with 0, or for a disabled member, nothing changes. */
unsigned score_bounced(const ScoreRules *rules, BounceScore *score, int64_t added, int64_t at);

/* Take in a probe that came back: disable the member. Do nothing when no probe is out. */
unsigned score_probe_bounced(const ScoreRules *rules, BounceScore *score, int64_t at);

/* Take in that the score's next_at has come: forget what is stale, or warn or remove a disabled member. */
unsigned score_due(const ScoreRules *rules, BounceScore *score, int64_t now);
