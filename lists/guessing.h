/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Limit the guessing of tokens. After GUESSES_OF_ADDRESS unknown ones within an hour from one mailbox, or
 * GUESSES_OF_HOST from one network, a mail's token counts only when it comes from the address that it was sent to: so
 * nobody finds another's, and nobody can lock another out by writing in his name. Pages are counted by the network
 * alone.
 */
#include "lists/work.h"

#define GUESSES_OF_ADDRESS 20
#define GUESSES_OF_HOST 200

/* Counts an unknown token that was brought by mail or to a page. A limit that is reached is told in the log, once an
 * hour. */
bool guessing_note(Work *work, const char *list_id, GError **error);

/* May who asks bring a token that was sent to address (NULL: to nobody)? */
bool guessing_allows(Work *work, const char *address, bool *allowed, GError **error);
