/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Complaints: ARF (RFC 5965), and Hotmail's, which is the mail itself with fields of its own. */
#include <string.h>

#include "mail/bounce/report.h"

#define OWN_LIMIT 4096 /* bytes, within which Hotmail's own field stands */

static void add_from(Report *report, const char *head, const char *name)
{
    g_autofree char *value = mime_field(head, strlen(head), name);
    size_t length;
    const char *address = value ? address_scan(value, &length) : NULL;
    if (address)
        report_add(report, &(Finding){.address = address, .address_length = length, .action = "complaint"});
}

/* RFC 6591 reports of failed authentication and RFC 6430 "not spam": nobody complains of the mail. */
static bool is_harmless(const Report *report)
{
    static const char *const types[] = {"auth-failure", "not-spam"};
    const char *head = report->feedback_text ? report->feedback_text->str : "";
    g_autofree char *type = mime_field(head, strlen(head), "Feedback-Type");
    for (size_t at = 0; type && at < G_N_ELEMENTS(types); at++)
        if (g_ascii_strncasecmp(type, types[at], strlen(types[at])) == 0)
            return true;
    return false;
}

bool feedback_read(Report *report)
{
    static const char *const fields[] = {"Original-Rcpt-To", "Removal-Recipient"};
    static const char own[] = "X-HmXmrOriginalRecipient";
    bool perhaps = report->back && memmem(report->back, MIN(report->back_length, OWN_LIMIT), own, sizeof own - 1);
    const char *head = perhaps ? report_returned(report) : "";
    g_autofree char *hotmail = mime_field(head, strlen(head), own);
    if (!report->feedback_text && !hotmail)
        return false;
    report->kind = BOUNCE_FEEDBACK;
    report->harmless = is_harmless(report);
    if (report->harmless)
        return true;
    for (size_t at = 0; report->feedback_text && at < G_N_ELEMENTS(fields); at++)
        add_from(report, report->feedback_text->str, fields[at]);
    if (hotmail)
        add_from(report, head, own);
    return true;
}
