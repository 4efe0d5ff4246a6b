/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Yahoo. An older form names nobody but the To of the mail that came back. */
#include <string.h>

#include "mail/recognise/report.h"

static const Section sections[] = {
    {SECTION_NEXT, "this is a permanent error; i've given up. sorry it didn't work out. to:", "failed"},
    {SECTION_END, NULL, NULL},
};

static bool read_yahoo(Report *report)
{
    if (!strstr(report->from, "yahoo") && !report_says(report, "unable to deliver message to the following address") &&
        !report_says(report, "unable to deliver your message to the following address"))
        return false;
    if (section_brackets(report, "failed") || section_read(report, sections))
        return true;
    if (!report_says(report, "able to deliver the following message"))
        return false;
    for (guint at = 0; at < report->lines->len; at++) {
        const char *line = report_line(report, at) + strspn(report_line(report, at), " ");
        size_t length;
        const char *address = g_ascii_strncasecmp(line, "To:", 3) == 0 ? address_scan(line, &length) : NULL;
        if (address)
            report_add(report, &(Finding){.address = address, .address_length = length, .action = "failed",
                                          .text = "This is a permanent error"});
    }
    return report_found(report);
}

const Dialect dialect_yahoo = {.name = "yahoo", .read = read_yahoo};
