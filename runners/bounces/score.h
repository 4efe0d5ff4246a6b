/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The rules: what a bounce, and the passing of time, make of a member. They
 * change the numbers of a BounceScore and say what is to be done; nothing is
 * written here.
 *
 *   clean -> scored: a bounce; each day counts once, with its gravest
 *   scored -> clean: nothing came back for stale_us
 *   scored -> probed: the threshold is reached; the score begins anew
 *   scored, probed -> disabled: the threshold without probes, or the probe came back
 *   disabled -> warned ... -> removed: each interval_us
 */
#include "store/bounce.h"
#include "store/list.h"

#define SCORE_POINT 100 /* BounceScore counts hundredths */

typedef struct ScoreRules {
    int64_t threshold; /* hundredths; 0: never */
    int64_t stale_us;
    int64_t warnings, interval_us;
    bool probes;
} ScoreRules;

ScoreRules score_rules(const List *list, bool probes);

/* Acts to be done, or done: flags, also kept with the record of an effect. */
typedef enum ScoreAct {
    SCORE_GREW = 1,
    SCORE_PROBE = 2,
    SCORE_DISABLE = 4,
    SCORE_WARN = 8,
    SCORE_REMOVE = 16,
    SCORE_TELL_OWNER = 32, /* not by the rules: set when the owners are told of it */
    SCORE_LEFT = 64,       /* nor this: the member left by a complaint, of which lists/leave.h tells the rest */
} ScoreAct;

/* Somebody enabled a member whom we had disabled, or disabled it for another reason: all begins anew. */
void score_forgive(BounceScore *score);

/* added: by how many hundredths the day became graver. */
unsigned score_bounced(const ScoreRules *rules, BounceScore *score, int64_t added, int64_t at);

/* A probe came back. Nothing when none is out. */
unsigned score_probe_bounced(const ScoreRules *rules, BounceScore *score, int64_t at);

/* Its next_at has come. */
unsigned score_due(const ScoreRules *rules, BounceScore *score, int64_t now);
