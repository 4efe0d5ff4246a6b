/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/backup/spool_findings.h"

static void add(Findings *findings, json_t *row, const char *queue, const char *file, char *text)
{
    json_object_set_new(row, "queue", listing_text(queue));
    json_object_set_new(row, "file", listing_text(file));
    json_object_set_new(row, "text", listing_text(text));
    listing_row(findings->listing, row);
    g_free(text);
}

void findings_note(Findings *findings, const char *kind, const char *queue, const char *file, char *text)
{
    findings->notes++;
    add(findings, json_pack("{ss ss}", "level", "note", "kind", kind), queue, file, text);
}

void findings_fault(Findings *findings, const char *kind, const char *queue, const char *file, char *text)
{
    findings->faults++;
    add(findings, json_pack("{ss ss}", "level", "fault", "kind", kind), queue, file, text);
}

void findings_repaired(Findings *findings, const char *kind, const char *queue, const char *file, char *text)
{
    findings->repaired++;
    add(findings, json_pack("{ss ss}", "level", "repaired", "kind", kind), queue, file, text);
}
