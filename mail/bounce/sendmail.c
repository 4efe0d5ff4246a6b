/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* sendmail of all ages, and gateways that copy its headings. */
#include <string.h>

#include "mail/bounce/report.h"

static const Section sections[] = {
    {SECTION_LIST, "the following addresses had permanent fatal errors", "failed"},
    {SECTION_LIST, "the following addresses had permanent delivery errors", "failed"},
    {SECTION_LIST, "the following addresses had fatal errors", "failed"},
    {SECTION_LIST, "the following addresses had delivery errors", "failed"},
    {SECTION_LIST, "the following addresses had delivery problems", "failed"},
    {SECTION_LIST, "the following addresses have delivery notifications", "failed"},
    {SECTION_LIST, "the following addresses had transient non-fatal errors", "delayed"},
    {SECTION_END, NULL, NULL},
};

/* "554 <joe@example.com>... Remote protocol error", "joe@example.com... User unknown" */
static void take_line(Report *report, const char *line)
{
    const char *dots = strstr(line, "... "), *at = line;
    size_t length;
    bool code = strspn(at, "0123456789") == 3 && (at[3] == ' ' || at[3] == '-');
    if (!dots || (code && *at != '4' && *at != '5'))
        return;
    if (code) {
        at += 4;
        if (strspn(at, "0123456789.") >= 5)
            at += strspn(at, "0123456789. ");
    }
    const char *address = address_begins(at, &length);
    if (address && address <= at + 1 && address + length <= dots && address + length + 1 >= dots)
        report_add_failed(report, address, length, code ? line : dots + 4);
}

/* "554 Too many hops 26 (25 max): from <> via localhost, to joe@example.com": the envelope's recipient, which is
 * reported here even where the list above names only what it was expanded to. */
static void take_hops(Report *report)
{
    for (guint at = 0; at < report->lines->len; at++) {
        const char *line = report_line(report, at), *to = strcasestr(line, "too many hops");
        to = to && reply_scan(line) ? strstr(to, ", to ") : NULL;
        size_t length;
        const char *address = to ? address_begins(to + strlen(", to "), &length) : NULL;
        if (address)
            report_add_failed(report, address, length, line);
    }
}

bool sendmail_read(Report *report)
{
    if (!report->automatic)
        return false;
    bool listed = section_read(report, sections);
    if (report_says(report, "too many hops"))
        take_hops(report);
    if (listed)
        return true;
    if (!report_says(report, "transcript of session follows"))
        return false;
    for (guint at = 0; at < report->lines->len; at++)
        take_line(report, report_line(report, at));
    return report_found(report);
}
