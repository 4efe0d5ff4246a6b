/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Find out which right (lists/authority.h) a command by mail needs. Anybody can write any address into From, so the
 * asker is a stranger. Nothing is done for an address without a token that was mailed there. Answers go to the address
 * in From, and say no more than its holder may know.
 */
#include "lists/authority.h"
#include "runners/command/parse.h"

typedef struct MailRight {
    const char *word;  /* "join" */
    unsigned asks;     /* the right that the asker needs for the command to be run at all */
    unsigned has_done; /* the right to have it done: the person whose consent it takes, or who gets the answer */
    const char *about; /* how it is found out whether the right is there, as text for people */
} MailRight;

/* The rights of each command, by CommandWord. */
extern const MailRight mail_rights[COMMAND_WORDS];
