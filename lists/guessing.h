/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Limit the guessing of tokens. After GUESSES_OF_ADDRESS unknown ones within an hour from one mailbox, or
 * GUESSES_OF_HOST from one network, a mail's token counts only when it comes from the address that it was sent to: so
 * nobody finds another's, and nobody can lock another out by writing in his name. A page is counted by its
 * network alone, and beyond the limit no token counts there. Whoever asks is the actor of the Work; nothing but mail
 * and pages is limited. A function returns false only when the store failed.
 */
#include "lists/work.h"

#define GUESSES_OF_ADDRESS 20
#define GUESSES_OF_HOST 200

/* Count an unknown token that was brought by mail or to a page. When a limit is reached, the log says so under list_id;
 * the limit itself is not that of one list. */
bool guessing_note(Work *work, const char *list_id, GError **error);

/* Set whether a token counts that was sent to address. With NULL it was sent to nobody, and counts below the limits
 * only. */
bool guessing_allows(Work *work, const char *address, bool *allowed, GError **error);
