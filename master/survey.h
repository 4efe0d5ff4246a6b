/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Count the entries that wait for a person, by the names in the spool's queue directories: those in shunt, hold and
 * corrupt, those preserved in any queue (NAME.psv), and all of a queue that no runner works.
 *
 * A look is made when somebody asks, and once at the start. It reads a little in each turn of the loop, so that ten
 * million files do not hold up the master: for SURVEY_WAIT at full pace while somebody waits, then at a twentieth of
 * one processor until its end. Whoever asked gets the counts known by then; a queue that this look has not come to has
 * those of the look before.
 */
#include <glib.h>
#include <jansson.h>
#include <stdbool.h>

#include "base/clock.h"
#include "master/supervisor.h"

#define SURVEY_WAIT (CLOCK_SECOND / 2)

typedef struct Survey Survey;
typedef struct SurveyWish SurveyWish;

/* waiting (a new reference): [{kind, queue, count, since, age}]. kind is "shunt", "hold", "corrupt", "preserved",
 * "strange" (preserved, and a directory, a link or a device) or "unworked"; since is the time of the oldest
 * ("2026-11-20T13:20:00Z") or null, age the same in seconds. pending is the number of queues that no look has been
 * through yet. */
typedef void SurveyDone(void *data, json_t *waiting, unsigned pending);

/* master is borrowed. */
Survey *survey_new(const Master *master);
void survey_free(Survey *survey);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Survey, survey_free)

/* With `old`, the counts of a look are good enough for so many times as long as the look took. */
#define SURVEY_REST 800

/* Begin a look unless one is under way, or, with old, the last one is young enough. done is called once, from the loop,
 * and then the wish is gone; with NULL for done nobody waits, and NULL is returned. */
SurveyWish *survey_ask(Survey *survey, bool old, SurveyDone *done, void *data);

/* Withdraw a wish: its done will not be called. */
void survey_forget(Survey *survey, SurveyWish *wish);
