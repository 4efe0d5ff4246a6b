/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Let all children stand still for a moment, as if the host had stopped. So somebody can see the whole spool as it is
 * at that moment. The master itself goes on: it ends the pause when it is told to, when the one who asked is gone, when
 * it stops, and in any case after PAUSE_LIMIT. Meanwhile no child is started, and none is taken for stalled. A master
 * that is killed in a pause leaves its children standing still; the next one lets them go on before it ends them
 * (slices.h).
 */
#include <glib.h>
#include <stdbool.h>

#include "base/clock.h"
#include "master/supervisor.h"

#define PAUSE_LIMIT (20 * CLOCK_SECOND)

typedef struct Pause Pause;

/* Called once from the loop: when every child stands still, with error NULL; or when that took longer than PAUSE_LIMIT
 * and all go on again, with FAIL_LATER. It is not called if the pause ends before. */
typedef void PauseDone(void *data, const GError *error);

/* Begin to stop all children (SIGSTOP); done tells when they stand still. data is passed to done, and is the key for
 * pause_end(). FAIL_LATER: there is a pause already. */
bool pause_begin(Master *master, PauseDone *done, void *data, GError **error);

/* End the pause that was begun with this data, and let all children go on. False: that pause has ended already. */
bool pause_end(Master *master, const void *data);
/* End whatever pause there is, and let all children go on. */
void pause_break(Master *master);
