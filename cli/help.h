/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Help, derived from the table of commands. path is the words so far,
 * "listrunner list".
 */
#include <stdio.h>

#include "cli/command.h"

/* NULL when there is none of that name. */
const Command *help_find(const Command *const *verbs, const char *name);

/* Show a verb's or a group's help; command NULL: the overview. Returns an
 * exit code. */
int help_show(const Command *command, const char *path, FILE *to);

/* Say on standard error that there is no such verb, and which one may be meant. */
void help_unknown(const Command *const *verbs, const char *path, const char *word);

/* `listrunner help [--words] [VERB ...]`; argv[0] is "help". */
int help_run(int argc, char **argv);
