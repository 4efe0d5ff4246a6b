/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "switchboard/fault.h"

#include "base/clock.h"

void fault_set(Draft *draft, Entry *entry, const char *runner, const char *reason)
{
    int64_t times = meta_integer(entry_meta(entry), META_SHUNTED, 0) + 1;
    json_t *fault = json_object();
    meta_set_string(fault, "queue", queue_name(entry_queue(entry)));
    meta_set_string(fault, "runner", runner);
    meta_set_string(fault, "reason", reason);
    meta_set_string(fault, "name", entry_text(entry));
    meta_set_integer(fault, "time", clock_now());
    meta_set_integer(fault, "times", times);
    json_object_set(fault, "ordinal", json_object_get(entry_meta(entry), META_ORDINAL));
    json_object_set_new(draft_meta(draft), META_FAULT, fault);
    meta_set_integer(draft_meta(draft), META_SHUNTED, times);
}

Draft *outcome_shunt(Outcome *outcome, const char *runner, const char *reason)
{
    Draft *draft = draft_from_entry(SHUNT_QUEUE, outcome->parent);
    fault_set(draft, outcome->parent, runner, reason);
    outcome_add(outcome, draft);
    return draft;
}
