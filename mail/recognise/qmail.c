/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* qmail and its relatives, whose words each site writes anew: the shape of their paragraphs is what stays. */
#include <string.h>

#include "mail/recognise/report.h"

static bool read_qmail(Report *report)
{
    bool spoken = report_says(report, "this is the qmail") ||
                  report_says(report, "wasn't able to deliver your message") ||
                  report_says(report, "not able to deliver your message");
    bool named = strstr(report->subject, "failure notice") || strstr(report->from, "mailer-daemon");
    return report->automatic && (spoken || named) && section_brackets(report, "failed");
}

const Dialect dialect_qmail = {.name = "qmail", .read = read_qmail};
