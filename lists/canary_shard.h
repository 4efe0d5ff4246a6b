/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Lead the mails that a host sends itself (lists/round_trip.h) through the slices that their sender chose, on both legs
 * of their way: their entries have a shard key that follows from the Message-ID.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/config.h"

/* Is it one of the lists of these mails? list_id may be NULL. */
bool canary_is_list(const char *list_id);

/* For how long such a mail is tried, us: the next ones tell more than an old one. */
int64_t canary_lifetime(const Config *config);

/* The shard key (META_SHARD) of the mail with this Message-ID, without brackets, in the queue "in" or "out"; NULL: the
 * list is none of the canary's. g_free(). */
char *canary_shard(const char *list_id, const char *message_id, const char *queue);
