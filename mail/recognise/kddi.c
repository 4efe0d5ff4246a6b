/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* KDDI (au, EZweb) and the like in Japan. */
#include <string.h>

#include "mail/recognise/report.h"

static const Section sections[] = {
    {SECTION_NEXT, "was rejected by a remote mail server. recipient:", "failed"},
    {SECTION_NEXT, "why each recipient was rejected. recipient:", "failed"},
    {SECTION_NEXT, "could not be delivered to:", "failed"},
    {SECTION_LIST,
     "\xe3\x81\xb8\xe3\x81\xae\xe9\x80\x81\xe4\xbf\xa1\xe3\x81\xab\xe5\xa4\xb1\xe6\x95\x97\xe3\x81\x97"
     "\xe3\x81\xbe\xe3\x81\x97\xe3\x81\x9f\xe3\x80\x82",
     "failed"}, /* "sending to ... failed" */
    {SECTION_END, NULL, NULL},
};

/* The address on a line of its own, in brackets, above the sentence. */
static bool read_above(Report *report)
{
    static const char *const phrases[] = {"each of the following recipients was rejected", "the user(s) account is",
                                          "the following recipients did not receive this message"};
    for (size_t i = 0; i < G_N_ELEMENTS(phrases); i++) {
        const char *found = strstr(report->flat->str, phrases[i]);
        guint last = found ? report_line_at(report, (size_t)(found - report->flat->str)) : 0;
        for (guint at = 0; at < MIN(last + 8, report->lines->len) && found; at++) {
            const char *line = report_line(report, at);
            size_t length;
            const char *address = line[strspn(line, " \t")] == '<' ? address_begins(line, &length) : NULL;
            if (address && strcmp(address + length, ">") == 0)
                report_add(report, &(Finding){.address = address, .address_length = length, .action = "failed",
                                              .text = report_line(report, last)});
        }
    }
    return report_found(report);
}

static bool read_kddi(Report *report)
{
    bool named =
        report_says(report, "your mail sent on:") || report_says(report, "your mail attempted to be delivered on:");
    return (report->automatic || named) && (section_read(report, sections) || read_above(report));
}

const Dialect dialect_kddi = {.name = "kddi", .read = read_kddi};
