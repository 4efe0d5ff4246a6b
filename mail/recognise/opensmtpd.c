/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* OpenSMTPD. */
#include <string.h>

#include "mail/recognise/report.h"

static const Section failures[] = {
    {SECTION_LIST, "the following list of recipients:", "failed"},
    {SECTION_END, NULL, NULL},
};

static const Section delays[] = {
    {SECTION_LIST, "the following list of recipients:", "delayed"},
    {SECTION_END, NULL, NULL},
};

static bool read_opensmtpd(Report *report)
{
    bool delayed = strstr(report->subject, "warning") || report_says(report, "a message is delayed for more than");
    return report_says(report, "this is the mailer-daemon, please do not reply") &&
           section_read(report, delayed ? delays : failures);
}

const Dialect dialect_opensmtpd = {.name = "opensmtpd", .read = read_opensmtpd};
