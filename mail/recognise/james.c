/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Apache James, and gateways of mobile networks built with it: an error, then details of the mail. */
#include "mail/recognise/report.h"

static const Section sections[] = {
    {SECTION_NEXT, "rcpt to:", "failed"},
    {SECTION_END, NULL, NULL},
};

static bool read_james(Report *report)
{
    return report_says(report, "error message below:") && report_says(report, "message details:") &&
           section_read(report, sections);
}

const Dialect dialect_james = {.name = "james", .read = read_james};
