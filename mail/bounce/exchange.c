/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Microsoft Exchange, the old one and the new one. */
#include <string.h>

#include "mail/bounce/report.h"

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
            report_add_failed(report, address, strlen(address), text);
    }
}

static bool is_x400(const Report *report)
{
    return report_says(report, "c=") && report_says(report, "a=") &&
           (report_says(report, "smtp=") || report_says(report, "rfc-822="));
}

/* The Internet Mail Service, and the connector before it. */
bool exchange_read(Report *report)
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

static const Section lists[] = {
    {SECTION_LIST, "delivery has failed to these recipients or groups:", "failed"},
    {SECTION_LIST, "delivery has failed to these recipients or distribution lists:", "failed"},
    {SECTION_LIST, "de la remise pour ces destinataires ou groupes :", "failed"},
    {SECTION_LIST, "oder verteilerlisten:", "failed"},
    {SECTION_LIST, "a estos destinatarios o grupos:", "failed"},
    {SECTION_LIST, "rejected your message to the following e-mail addresses:", "failed"},
    {SECTION_LIST, "rejected your message to the following email addresses:", "failed"},
    {SECTION_LIST, "delivery to the following recipients failed.", "failed"},
    {SECTION_LIST, "delivery to the following recipients has been delayed.", "delayed"},
    {SECTION_LIST, "could not be delivered to the following recipients:", "failed"},
    {SECTION_END, NULL, NULL},
};

static const Section named[] = {
    {SECTION_NEXT, "your message to ", "failed"},
    {SECTION_END, NULL, NULL},
};

static const Section waiting[] = {
    {SECTION_LIST, "could not be delivered to the following recipients:", "delayed"},
    {SECTION_END, NULL, NULL},
};

/* In every language alike: the address on a line of its own, below it "#550 5.1.1 ..." or "#< ...". */
static bool read_generated(Report *report)
{
    for (guint at = 0; at + 1 < report->lines->len; at++) {
        const char *line = report_line(report, at), *next = report_line(report, at + 1);
        size_t length;
        const char *address = address_begins(line, &length);
        if (address && address[length] == '\0' && next[0] == '#' && (g_ascii_isdigit(next[1]) || next[1] == '<'))
            report_add_failed(report, address, length, next);
    }
    return report_found(report);
}

/* Exchange since 2007, Office 365 and Outlook.com: headings, then a list with links. */
bool outlook_read(Report *report)
{
    if (!report->automatic)
        return false;
    if (report_says(report, "delivery attempts will continue"))
        return section_read(report, waiting);
    if (read_generated(report) || section_read(report, lists))
        return true;
    return (report_says(report, "couldn't be delivered") || report_says(report, "couldn\xe2\x80\x99t be delivered")) &&
           section_read(report, named);
}
