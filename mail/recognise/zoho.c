/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Zoho: the error stands behind the address. */
#include <string.h>

#include "mail/recognise/report.h"

static const Section sections[] = {
    {SECTION_LIST, "recipients. this is a permanent error.", "failed"},
    {SECTION_END, NULL, NULL},
};

static bool read_zoho(Report *report)
{
    return strstr(report->mailer, "zoho") && section_read(report, sections);
}

const Dialect dialect_zoho = {.name = "zoho", .read = read_zoho};
