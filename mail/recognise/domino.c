/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Lotus Notes and Domino. */
#include "mail/recognise/report.h"

static const Section sections[] = {
    {SECTION_LIST, "was not delivered to:", "failed"},
    {SECTION_LIST, "failure reasons --------", "failed"},
    {SECTION_END, NULL, NULL},
};

static bool read_domino(Report *report)
{
    return report->automatic && section_read(report, sections);
}

const Dialect dialect_domino = {.name = "domino", .read = read_domino};
