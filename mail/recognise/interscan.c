/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Trend Micro InterScan: the command that failed, or a sentence. */
#include "mail/recognise/report.h"

static const Section sections[] = {
    {SECTION_NEXT, "sent <<< rcpt to:", "failed"},
    {SECTION_NEXT, "unable to deliver message to <", "failed"},
    {SECTION_END, NULL, NULL},
};

static bool read_interscan(Report *report)
{
    return (report_says(report, "interscan") || report_says(report, "sent <<< rcpt to:")) &&
           section_read(report, sections);
}

const Dialect dialect_interscan = {.name = "interscan", .read = read_interscan};
