/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The directory of names (ph) of American universities; a name without domain is one of the university. */
#include <string.h>

#include "mail/recognise/report.h"

static const Section sections[] = {
    {SECTION_LIST, "message not delivered to the following addresses:", "failed"},
    {SECTION_LIST, "message not delivered to the following:", "failed"},
    {SECTION_END, NULL, NULL},
};

/* "NAME@yale.edu": the domains for which the mail says that a name is looked up. */
static void add_local(Report *report)
{
    const char *found = strstr(report->flat->str, "message not delivered to the following:");
    guint line = found ? report_line_at(report, (size_t)(found - report->flat->str)) + 1 : report->lines->len;
    while (line < report->lines->len && report_line(report, line)[strspn(report_line(report, line), " ")] == '\0')
        line++;
    if (line >= report->lines->len)
        return;
    const char *name = report_line(report, line) + strspn(report_line(report, line), " ");
    for (guint at = line; at < report->lines->len; at++)
        for (const char *place = strstr(report_line(report, at), "emailing");
             place && (place = strstr(place, "NAME@")); place = strstr(place + 5, "emailing")) {
            size_t length;
            if (!address_begins(place, &length))
                continue;
            g_autofree char *address =
                g_strdup_printf("%.*s@%.*s", (int)strcspn(name, " "), name, (int)length - 5, place + 5);
            report_add(report, &(Finding){.address = address, .address_length = strlen(address), .action = "failed",
                                          .text = name});
        }
}

static bool read_phquery(Report *report)
{
    if (!report->automatic || !report_says(report, "message not delivered to the following"))
        return false;
    if (!section_read(report, sections) && report_says(report, "phquery"))
        add_local(report);
    return report_found(report);
}

const Dialect dialect_phquery = {.name = "phquery", .read = read_phquery};
