/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Show help, which is made from the table of commands (cli/command.h). path is the words before the verb, "listrunner
 * list"; verbs is the table of one group, or `commands`.
 */
#include <stdio.h>

#include "cli/command.h"

/* Find the verb of that name; NULL: there is none. */
const Command *help_find(const Command *const *verbs, const char *name);

/* Write a verb's or a group's help; command NULL: the overview. path is then that of the command itself. Return
 * TOOL_OK. */
int help_show(const Command *command, const char *path, FILE *to);

/* Say on standard error that there is no such verb, and which one may be meant. */
void help_unknown(const Command *const *verbs, const char *path, const char *word);

/* Run `listrunner help [--words] [VERB ...]`, and return an exit code. argv[0] is "help". --words is for shell
 * completion: it prints verbs, options and arguments one a line. */
int help_run(int argc, char **argv);
