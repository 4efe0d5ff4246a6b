/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Microsoft Exchange: the Internet Mail Service, and the connector before it. */
#include <string.h>

#include "mail/recognise/report.h"

static const Section sections[] = {
    {SECTION_LIST, "did not reach the following recipient(s):", "failed"},
    {SECTION_LIST, "the following recipient(s) could not be reached:", "failed"},
    {SECTION_LIST, "the following recipients could not be reached:", "failed"},
    {SECTION_LIST, "the following recipient(s) cannot be reached:", "failed"},
    {SECTION_END, NULL, NULL},
};

/* X.400 with the address inside: "c=US;a= ;p=X;o=Y;dda:SMTP=joe@example.com; on ..." */
static void add_x400(Report *report)
{
    for (guint at = 0; at < report->lines->len; at++) {
        const char *line = report_line(report, at), *mark = strstr(line, "SMTP=");
        size_t length;
        const char *address = mark ? address_begins(mark + 5, &length) : NULL;
        g_autofree char *text = NULL;
        if (address && at + 1 < report->lines->len)
            text = g_strconcat(report_line(report, at + 1), " ",
                               at + 2 < report->lines->len ? report_line(report, at + 2) : "", NULL);
        if (address)
            report_add(report, &(Finding){address, length, "failed", NULL, text});
    }
}

static bool read_exchange(Report *report)
{
    if (!report->automatic || (!report_says(report, "reach the following") && !report_says(report, "be reached:")))
        return false;
    add_x400(report);
    return report_found(report) || section_read(report, sections);
}

const Dialect dialect_exchange = {.name = "exchange", .read = read_exchange};
