/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Novell GroupWise. A user without domain is one of the system that writes. */
#include <string.h>

#include "mail/recognise/report.h"

static const Section sections[] = {
    {SECTION_LIST, "was undeliverable to the following:", "failed"},
    {SECTION_LIST, "undeliverable to the following:", "failed"},
    {SECTION_END, NULL, NULL},
};

static bool read_groupwise(Report *report)
{
    return (strstr(report->mailer, "groupwise") || report_says(report, "undeliverable to the following")) &&
           section_read(report, sections);
}

const Dialect dialect_groupwise = {.name = "groupwise", .read = read_groupwise};
