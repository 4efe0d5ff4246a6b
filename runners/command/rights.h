/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The rights of those who write commands by mail (lists/authority.h). Anybody can write any address into From, so
 * the asker is a stranger, and gets nothing done for an address but by a token that was mailed there. Answers go to
 * the address in From, and say no more than its holder may know.
 */
#include "lists/authority.h"
#include "runners/command/parse.h"

typedef struct MailRight {
    const char *word;  /* "join" */
    unsigned asks;     /* the right to ask for it; a command without is not run */
    unsigned has_done; /* the right to have it done: whose consent it takes, or who gets to know */
    const char *about; /* how that is found out, for people */
} MailRight;

/* By CommandWord. */
extern const MailRight mail_rights[COMMAND_WORDS];
