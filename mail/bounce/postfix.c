/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Postfix, under whatever name it runs: bounces, delay warnings, and transcripts of sessions for the postmaster. */
#include <string.h>

#include "mail/bounce/report.h"

/* All recipients that the transcript shows from one line up to another. */
static void add_all(Report *report, guint begin, guint end, const char *reply)
{
    for (guint at = begin; at < end; at++) {
        const char *to = strcasestr(report_line(report, at), "RCPT TO:");
        size_t length;
        const char *address = to ? address_begins(to + 8, &length) : NULL;
        if (address)
            report_add_failed(report, address, length, reply);
    }
}

/* " In:  RCPT TO:<x>", " Out: 550 ..."; a refusal after DATA is one of all recipients. */
static bool read_transcript(Report *report)
{
    size_t length = 0;
    const char *address = NULL;
    bool data = false;
    guint begin = 0; /* of the transaction */
    for (guint at = 0; at < report->lines->len; at++) {
        const char *line = report_line(report, at) + strspn(report_line(report, at), " ");
        if (g_str_has_prefix(line, "In:")) {
            const char *to = line + 3 + strspn(line + 3, " ");
            data = data || g_ascii_strcasecmp(to, "DATA") == 0;
            address = g_ascii_strncasecmp(to, "RCPT TO:", 8) == 0 ? address_begins(to + 8, &length) : NULL;
        } else if (g_str_has_prefix(line, "Out:") && (address || data)) {
            const char *reply = line + 4 + strspn(line + 4, " ");
            bool refused = *reply == '5' || *reply == '4';
            if (refused && data) {
                add_all(report, begin, at, reply);
                data = false;
                begin = at;
            } else if (refused)
                report_add_failed(report, address, length, reply);
            address = NULL;
        }
    }
    return report_found(report);
}

bool postfix_read(Report *report)
{
    bool notice = report_says(report, "i'm sorry to have to inform you") ||
                  report_says(report, "the mail system at host") ||
                  strstr(report->subject, "undelivered mail returned to sender") ||
                  strstr(report->subject, "delayed mail (still being retried)");
    if (notice && report->automatic) {
        bool delayed = strstr(report->subject, "delayed mail") || report_says(report, "this is a warning only");
        return section_brackets(report, delayed ? "delayed" : "failed");
    }
    return report_says(report, "transcript of session follows") && strstr(report->subject, "errors from") &&
           read_transcript(report);
}
