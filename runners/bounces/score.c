/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/bounces/score.h"

#include "store/lists/list_setting.h"

#define PROBE_LIFE (10 * BOUNCE_DAY) /* then it has arrived */

ScoreRules score_rules(const List *list, bool probes)
{
    return (ScoreRules){.threshold = list->settings->bounce_score_threshold * SCORE_POINT,
                        .stale_us = list->settings->bounce_info_stale_after,
                        .warnings = list->settings->bounce_you_are_disabled_warnings,
                        .interval_us = list->settings->bounce_you_are_disabled_warnings_interval,
                        .probes = probes};
}

void score_forgive(BounceScore *score)
{
    score->score = score->probe_at = score->disabled_at = score->warnings = score->warned_at = score->next_at = 0;
}

void score_believe(BounceScore *score, int64_t now)
{
    int64_t *const times[] = {&score->last_bounce_at, &score->probe_at, &score->disabled_at, &score->warned_at};
    int64_t last = 0;
    for (size_t at = 0; at < G_N_ELEMENTS(times); at++)
        last = MAX(last, *times[at]);
    if (score->next_at > 0)
        score->next_at = now + MAX(score->next_at - last, 0);
    for (size_t at = 0; at < G_N_ELEMENTS(times); at++)
        *times[at] = MIN(*times[at], now);
}

static bool is_stale(const ScoreRules *rules, const BounceScore *score, int64_t now)
{
    return score->last_bounce_at + rules->stale_us < now;
}

/* When the score turns stale or the probe has arrived, whichever comes first. */
static void set_next(const ScoreRules *rules, BounceScore *score)
{
    int64_t stale_at = score->last_bounce_at + rules->stale_us + 1, arrived_at = score->probe_at + PROBE_LIFE;
    if (score->score == 0)
        score->next_at = score->probe_at ? arrived_at : 0;
    else
        score->next_at = score->probe_at ? MIN(stale_at, arrived_at) : stale_at;
}

static unsigned disable(BounceScore *score, int64_t at)
{
    score->score = 0;
    score->probe_at = 0;
    score->disabled_at = at;
    score->warnings = 0;
    score->next_at = at; /* the first warning, or the removal, at once */
    return SCORE_DISABLE;
}

unsigned score_bounced(const ScoreRules *rules, BounceScore *score, int64_t added, int64_t at)
{
    if (score->disabled_at || added <= 0)
        return 0;
    if (is_stale(rules, score, at))
        score->score = 0;
    score->score += added;
    score->last_bounce_at = MAX(at, score->last_bounce_at);
    unsigned acts = SCORE_GREW;
    if (rules->threshold > 0 && score->score >= rules->threshold) {
        if (!rules->probes)
            return acts | disable(score, at);
        score->score = 0;
        score->probe_at = at;
        acts |= SCORE_PROBE;
    }
    set_next(rules, score);
    return acts;
}

unsigned score_probe_bounced(const ScoreRules *rules, BounceScore *score, int64_t at)
{
    (void)rules;
    return score->disabled_at || !score->probe_at ? 0 : disable(score, at);
}

unsigned score_due(const ScoreRules *rules, BounceScore *score, int64_t now)
{
    if (!score->disabled_at) {
        if (score->probe_at && now >= score->probe_at + PROBE_LIFE)
            score->probe_at = 0;
        if (is_stale(rules, score, now))
            score->score = 0;
        set_next(rules, score);
        return 0;
    }
    if (score->warnings >= rules->warnings)
        return SCORE_REMOVE;
    score->warnings++;
    score->warned_at = now;
    score->next_at = now + rules->interval_us;
    return SCORE_WARN;
}
