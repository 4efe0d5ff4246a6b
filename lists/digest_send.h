/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * A list's digest is to be sent, by whoever asks: an operator, an owner, or the clock. Sending itself is the digest
 * runner's (runners/digest/README.md): asking leaves an entry for it, in the unit of work.
 *
 * The clock: with digest_send_periodic, posts that came before the last hour of sending (digest_period, digest_hour, in
 * local time) are due. That follows from the posts alone, so a machine that was off at that hour sends when it is up.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "lists/work.h"
#include "store/digest.h"
#include "store/list.h"
#include "store/store.h"

/* Ask for what waits now. *waiting tells how many posts do; with none, nothing is asked. */
bool digest_send_ask(Work *work, const List *list, int64_t *waiting, GError **error);

/* The lists whose time has come by now; g_strfreev(). Reads alone. */
char **digest_send_lists(Store *store, int64_t now, GError **error);

/* For one of them: ask, unless that has become needless. *posts grows by the number of posts that wait. Harmless to
 * repeat: an issue that was asked for twice is made once. */
bool digest_send_due(Work *work, const List *list, int64_t *posts, GError **error);

/* Begin a new volume: the next issue is its first. *digest, which the caller clears, is how the list stands then. */
bool digest_send_bump(Work *work, const List *list, Digest *digest, GError **error);

/* The last time of sending at or before now, and the next one after it. */
int64_t digest_send_last_time(const List *list, int64_t now);
int64_t digest_send_next_time(const List *list, int64_t now);

/* Volume and number of an issue that is made now: those that digest says, unless digest_volume_frequency ended the
 * volume since the last issue. */
void digest_send_number(const List *list, const Digest *digest, int64_t now, int64_t *volume, int64_t *number);
