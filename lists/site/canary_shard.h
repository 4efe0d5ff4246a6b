/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Compute the shard keys of canary mails. These are test mails that a host sends to itself through its MTA
 * (lists/site/round_trip.h). The shard key of an entry decides which slice of a queue takes it. It follows from the
 * Message-ID here, so the sender of such a mail can choose a slice of "out" and one of "in" by choosing the Message-ID.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/config.h"

/* Is list_id one of those under which canary mails go out or come back? NULL: false. */
bool canary_is_list(const char *list_id);

/* Return for how long the delivery of a canary mail is tried, us. It is short, since newer mails tell more. */
int64_t canary_lifetime(const Config *config);

/* Return the shard key (META_SHARD) in the queue "in" or "out" of the mail with this Message-ID, without brackets;
 * g_free(). NULL: the mail is no canary mail by its list_id, or message_id is NULL. */
char *canary_shard(const char *list_id, const char *message_id, const char *queue);
