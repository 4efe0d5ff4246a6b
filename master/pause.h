/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Let all children stand still for a moment, as if the host had stopped, so that somebody can see the whole spool as it
 * is at that moment. The master itself goes on: it ends the pause when it is told to, when the one who asked is gone,
 * when it stops, and in any case after PAUSE_LIMIT. Meanwhile no child is started, and none is taken for stalled. A
 * master that is killed in a pause leaves its children standing still; the next one lets them go on before it ends them
 * (orphans.c).
 */
#include <glib.h>
#include <stdbool.h>

#include "base/clock.h"
#include "master/supervisor.h"

#define PAUSE_LIMIT (20 * CLOCK_SECOND)

typedef struct Pause Pause;

/* Called once, when every child stands still, or with an error when that took too long and all go on. */
typedef void PauseDone(void *data, const GError *error);

/* Stop all children. data says whose the pause is. FAIL_LATER: there is one already. */
bool pause_begin(Master *master, PauseDone *done, void *data, GError **error);

/* Let all go on, if there is a pause and it is the one of data. False: there is none of that kind any more. */
bool pause_end(Master *master, const void *data);
/* Let all go on, whose pause ever it is; nothing if there is none. */
void pause_break(Master *master);
