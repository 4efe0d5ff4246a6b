/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Shared by the verbs of listrunner list source. */
#include "cli/command.h"
#include "cli/work_site.h"
#include "lists/source.h"

extern const Command list_source_add, list_source_set, list_source_remove;

/* A place where sources are refreshed from the shell. */
typedef struct SourceShell {
    WorkPlace place;
    Site *site;
    SourceRun run;
} SourceShell;

/* Open the store and ready shell->run. The shell must not be moved in memory afterwards, since run points into it. */
bool source_shell_open(SourceShell *shell, Site *site, GError **error);
