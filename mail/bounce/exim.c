/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Exim, and what is built upon it or speaks like it (Google, mail.ru, GMX and 1&1, MXLogic). */
#include <string.h>

#include "mail/bounce/report.h"

/* Each has the word "following", which is looked for first. */
static const Section following[] = {
    {SECTION_LIST, "following address(es) failed:", "failed"},
    {SECTION_LIST, "following addresses failed:", "failed"},
    {SECTION_LIST, "following address failed:", "failed"},
    {SECTION_LIST, "delivery to the following recipient failed permanently:", "failed"},
    {SECTION_LIST, "delivery to the following recipients failed permanently:", "failed"},
    {SECTION_LIST, "delivery to the following recipient has been delayed:", "delayed"},
    {SECTION_LIST, "delivery to the following recipients has been delayed:", "delayed"},
    {SECTION_END, NULL, NULL},
};

static const Section others[] = {
    {SECTION_LIST, "has not yet been delivered is:", "delayed"},
    {SECTION_LIST, "have not yet been delivered are:", "delayed"},
    {SECTION_NEXT, "local mailbox", "failed"},
    {SECTION_END, NULL, NULL},
};

/* The header names them all, even where the text has a local part only. */
static void add_header(Report *report, const char *name)
{
    size_t length;
    g_autofree char *whole = g_strndup(report->flat->str, 1000);
    for (const char *at = report_field(report, name); (at = address_scan(at, &length)); at += length)
        report_add_failed(report, at, length, whole);
}

/* "a@b <c@d>: malformed address: ...": Exim refused to read it; the last one was meant. */
static void add_malformed(Report *report)
{
    for (guint at = 0; at < report->lines->len; at++) {
        const char *line = report_line(report, at), *end = strstr(line, ": malformed address:");
        const char *open = end ? g_strrstr_len(line, end - line, "<") : NULL;
        size_t length;
        const char *address = open ? address_begins(open, &length) : NULL;
        if (address && address < end)
            report_add_failed(report, address, length, line);
    }
}

bool exim_read(Report *report)
{
    bool failed = *report_field(report, "X-Failed-Recipients");
    if (!failed && !report->automatic)
        return false;
    if (report_says(report, "following"))
        section_read(report, following);
    section_read(report, others);
    add_header(report, "X-Failed-Recipients");
    if (!report_found(report))
        add_malformed(report);
    return report_found(report);
}
