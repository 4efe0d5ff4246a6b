/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The exit codes of listrunner(1). The numbers from 64 on are those
 * of sysexits.h; scripts may rely on all of them.
 */
enum ToolExit {
    TOOL_OK = 0,
    TOOL_NOT_SO = 1,      /* done in part, or the answer is no: exists already, lines were bad */
    TOOL_WAITING = 2,     /* status: the processes are well, and something waits for a person */
    TOOL_NOT_RUNNING = 3, /* start, stop, status and the like: no master runs */
    TOOL_USAGE = 64,      /* called wrongly: an unknown verb or option, an argument that can never be right */
    TOOL_MISSING = 66,    /* the list, member, entry, file asked for does not exist */
    TOOL_SOFTWARE = 70,   /* our bug */
    TOOL_LATER = 75,      /* the system's fault, may pass: disk full, database busy, no permission */
    TOOL_CONFIG = 78,     /* a person must mend the configuration */
};
