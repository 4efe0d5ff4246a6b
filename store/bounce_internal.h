/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * What bounce.c and bounce_score.c share: a member's standing as columns.
 * For this folder only.
 */
#include "store/bounce.h"
#include "store/member_internal.h"
#include "store/store_internal.h"

#define BOUNCE_SCORE_COLUMNS \
    "m.key, l.list_id, m.email, " EFFECTIVE_DELIVERY_STATUS \
    ", s.score, s.last_bounce_at, s.probe_at, s.disabled_at, s.warnings, s.next_at"
#define BOUNCE_SCORE_COLUMN_COUNT 10
#define BOUNCE_SCORE_JOINS \
    " FROM bounce_score s JOIN member m ON m.key = s.member JOIN list l ON l.key = m.list" \
    " LEFT JOIN address_preference a ON a.address = m.address" \
    " LEFT JOIN person_preference p ON p.person = m.person "

/* Fills *score from these columns; the strings become its own. */
void bounce_score_from(Query *query, BounceScore *score);
