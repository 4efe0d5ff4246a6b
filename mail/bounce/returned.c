/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* A failure that names nobody, with the header of the mail that failed (RFC 3462): for whom that was. Mail of
 * a list has the list in To, so there only the envelope tells. */
#include <string.h>

#include "mail/bounce/report.h"

static bool says_failure(const Report *report)
{
    static const char *const phrases[] = {"could not be delivered", "couldn't be delivered", "unable to deliver",
                                          "undeliverable",          "not able to deliver",   "delivery failed"};
    for (size_t at = 0; at < G_N_ELEMENTS(phrases); at++)
        if (report_says(report, phrases[at]))
            return true;
    return false;
}

static void add_text(Report *report, const char *address, size_t length)
{
    g_autofree char *text = g_strndup(report->flat->str, 400);
    report_add_failed(report, address, length, text);
}

/* The topmost "Received: ... for <address>". */
static bool add_envelope(Report *report)
{
    const char *head = report_returned(report);
    g_autofree char *value = mime_field(head, strlen(head), "Received");
    const char *mark = value ? strstr(value, " for <") : NULL;
    size_t length;
    const char *address = mark ? address_begins(mark + 5, &length) : NULL;
    if (address)
        add_text(report, address, length);
    return report_found(report);
}

static bool add_to(Report *report)
{
    static const char *const never[] = {"List-Id", "List-Post", "List-Unsubscribe", "Cc", "Mailing-List"};
    const char *head = report_returned(report);
    size_t size = strlen(head), length, other;
    for (size_t at = 0; at < G_N_ELEMENTS(never); at++) {
        g_autofree char *value = mime_field(head, size, never[at]);
        if (value)
            return false;
    }
    g_autofree char *to = mime_field(head, size, "To");
    const char *address = to ? address_scan(to, &length) : NULL;
    if (address && !address_scan(address + length, &other))
        add_text(report, address, length);
    return report_found(report);
}

bool returned_read(Report *report)
{
    return report->automatic && *report_returned(report) && says_failure(report) &&
           (add_envelope(report) || add_to(report));
}
