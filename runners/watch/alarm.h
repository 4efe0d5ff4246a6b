/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Tells the operator of each fault once, and once when it is gone, by [watch] command and url. A file of the spool,
 * .watch, keeps what was told, so that a start tells nothing twice. What could not be told is told at the next look.
 */
#include <glib.h>
#include <stdbool.h>

#include "base/config.h"
#include "switchboard/spool.h"

typedef struct Alarm Alarm;

/* alive is called now and then while a program or server takes its time; false gives up. A file that cannot be read is
 * logged and begun anew. */
Alarm *alarm_new(const Config *config, Spool *spool, bool (*alive)(void *data), void *data);
void alarm_free(Alarm *alarm);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Alarm, alarm_free)

/* Look at what there is now, of Attention (lists/attention.h), and tell what is due. whole: all could be found out, so
 * that a fault that is not among them is gone. False: something could not be told, and the error says the last why. */
bool alarm_look(Alarm *alarm, const GPtrArray *faults, bool whole, GError **error);
