/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Ask that a list's digest is sent: for an operator, an owner, or the clock. To ask is to leave an entry for the digest
 * runner in the unit of work. That runner sends the digest when the unit is committed (runners/digest/README.md).
 *
 * The clock works so: with digest_send_periodic, posts that came before the last hour of sending are due
 * (digest_period, digest_hour, in local time). That follows from the posts alone, so a machine that was off at that
 * hour sends when it is up.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "lists/work.h"
#include "store/lists/list.h"
#include "store/posts/digest.h"
#include "store/store.h"

/* Ask that all posts that wait now are sent. *waiting is their number; with 0 nothing is asked. */
bool digest_send_ask(Work *work, const List *list, int64_t *waiting, GError **error);

/* Return the List-Ids of the lists whose posts are due at the time now; g_strfreev(). It only reads. */
char **digest_send_lists(Store *store, int64_t now, GError **error);

/* Ask that the digest of one of the lists of digest_send_lists() is sent, unless its posts are no longer due. *posts
 * grows by the number of posts that wait. It may be repeated: an issue that was asked for twice is made once. */
bool digest_send_due(Work *work, const List *list, int64_t *posts, GError **error);

/* Begin a new volume: the next issue is its first. *digest, which the caller clears, is the list's state afterwards. */
bool digest_send_bump(Work *work, const List *list, Digest *digest, GError **error);

/* Return the last regular time of sending at or before now; digest_send_next_time() returns the next one after now. */
int64_t digest_send_last_time(const List *list, int64_t now);
int64_t digest_send_next_time(const List *list, int64_t now);

/* Set volume and number of an issue that is made now: those that digest says, or 1 of the next volume where
 * digest_volume_frequency ended the volume since the last issue. */
void digest_send_number(const List *list, const Digest *digest, int64_t now, int64_t *volume, int64_t *number);
