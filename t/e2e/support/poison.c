/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* A runner with a bug: some posts make it crash. What it handles goes on to the queue `handled`. */
#include <stdlib.h>

#include "runners/runner.h"

static bool handle(Runner *runner, Entry *entry, Outcome *outcome, GError **error)
{
    g_autoptr(GBytes) message = entry_message(entry);
    gsize length;
    const char *octets = g_bytes_get_data(message, &length);
    if (g_strstr_len(octets, (gssize)length, " poison\r\n"))
        abort();
    outcome_add(outcome, draft_from_entry("handled", entry));
    return true;
}

static const RunnerSpec spec = {.name = "poison", .handle = handle};

int main(int argc, char **argv)
{
    return runner_main(&spec, argc, argv);
}
