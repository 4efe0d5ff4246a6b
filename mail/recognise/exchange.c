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
        g_autofree char *address = address_x400(report_line(report, at)), *text = NULL;
        if (address && at + 1 < report->lines->len)
            text = g_strconcat(report_line(report, at + 1), " ",
                               at + 2 < report->lines->len ? report_line(report, at + 2) : "", NULL);
        if (address)
            report_add(report, &(Finding){.address = address, .address_length = strlen(address), .action = "failed",
                                          .text = text});
    }
}

static bool is_x400(const Report *report)
{
    return report_says(report, "c=") && report_says(report, "a=") &&
           (report_says(report, "smtp=") || report_says(report, "rfc-822="));
}

static bool read_exchange(Report *report)
{
    if (!report->automatic)
        return false;
    if (is_x400(report))
        add_x400(report);
    if (report_found(report))
        return true;
    return (report_says(report, "reach the following") || report_says(report, "be reached:")) &&
           section_read(report, sections);
}

const Dialect dialect_exchange = {.name = "exchange", .read = read_exchange};
