/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Refresh sources of members (lists/sources/source.h) from the shell, for the verbs of `listrunner list source`. */
#include "cli/command.h"
#include "cli/work_site.h"
#include "lists/sources/source.h"

extern const Command list_source_add, list_source_set, list_source_remove;

/* The arguments of the verbs for source_refresh(). It lies on the stack and owns nothing. */
typedef struct SourceShell {
    WorkPlace place;
    Site *site;
    SourceRun run;
} SourceShell;

/* Open the store, and fill *shell. Do not copy *shell afterwards, since shell->run points into it. */
bool source_shell_open(SourceShell *shell, Site *site, GError **error);
