/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Limit the guessing of tokens. The limit is GUESSES_OF_ADDRESS unknown tokens within an hour from one mailbox, or
 * GUESSES_OF_HOST from one network. Beyond it a token in a mail is taken only if the mail comes from the address to
 * which the token was sent. So nobody finds a token of another person, and nobody locks another out by writing in that
 * name. A request to a page is counted for its network alone, and beyond the limit no token is taken there.
 *
 * The source is the actor of the unit of work; only mail and pages are limited. The counts are in the unit, so it has
 * to be committed even if the token was refused. A function returns false only when the store failed.
 */
#include "lists/work.h"

#define GUESSES_OF_ADDRESS 20
#define GUESSES_OF_HOST 200

/* Count an unknown token that was brought by mail or to a page. When a limit is reached, the log says so under list_id
 * ("-": no list is known); the limit itself is not that of one list. */
bool guessing_note(Work *work, const char *list_id, GError **error);

/* Set *allowed to whether a token that was sent to address may be taken from the actor. It counts nothing. address
 * NULL: the token was sent to nobody that is known, so beyond the limits it is not taken. */
bool guessing_allows(Work *work, const char *address, bool *allowed, GError **error);
