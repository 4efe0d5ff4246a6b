/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Tell the operator of each fault once, and once when it is gone, by [watch] command and url. The file .watch of the
 * spool keeps the faults that were told, so that a start tells none twice. A fault that could not be told is told at
 * the next look.
 */
#include <glib.h>
#include <stdbool.h>

#include "base/config.h"
#include "switchboard/spool.h"

typedef struct Alarm Alarm;

/* Read the file; if it cannot be read, log that and begin anew. alive is called now and then while the command or the
 * server takes its time; when it returns false, the alarm is given up. */
Alarm *alarm_new(const Config *config, Spool *spool, bool (*alive)(void *data), void *data);
void alarm_free(Alarm *alarm);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Alarm, alarm_free)

/* Compare the faults that there are now (of Attention, lists/site/attention.h) with those that were told, and tell the
 * news. whole: all faults could be found out, so a fault that is not among them is gone. False: something could not be
 * told, and error is the last reason. */
bool alarm_look(Alarm *alarm, const GPtrArray *faults, bool whole, GError **error);
