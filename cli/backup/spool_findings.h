/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Print and count the findings of `listrunner spool check`, each as a row of a listing. */
#include <glib.h>
#include <stdbool.h>

#include "cli/listing.h"

typedef struct Findings {
    Listing *listing;
    unsigned notes, faults, repaired;
} Findings;

/* In the three functions, kind is one word for programs; queue and file may be NULL; text is taken and freed. */
/* Add a row about something that is worth knowing; nothing is wrong. */
void findings_note(Findings *findings, const char *kind, const char *queue, const char *file, char *text);
/* Add a row about a fault: a person should do something. */
void findings_fault(Findings *findings, const char *kind, const char *queue, const char *file, char *text);
/* Add a row about a fault that was mended just now. */
void findings_repaired(Findings *findings, const char *kind, const char *queue, const char *file, char *text);
