/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* This reads the single sentences of smaller systems, which no other dialect knows, from mail that a mail system sent
 * by its header. */
#include "mail/bounce/report.h"

/* Each has the word "recipient", which is looked for first. */
static const Section recipients[] = {
    {SECTION_LIST, "failed recipients ------", "failed"},
    {SECTION_LIST, "delevery to the following recipients failed permanently:", "failed"},
    {SECTION_LIST, "could not be delivered to the following recipient(s):", "failed"},
    {SECTION_LIST, "could not deliver message to the following recipient(s):", "failed"},
    {SECTION_LIST, "to deliver the mail to the following recipients:", "failed"},
    {SECTION_LIST, "for the following recipients:", "failed"},
    {SECTION_LIST, "the following recipients were affected:", "failed"},
    {SECTION_LIST, "here is your list of failed recipients", "failed"},
    {SECTION_LIST, "your message to the following recipient failed", "failed"},
    {SECTION_NEXT, "rejected recipient", "failed"},
    {SECTION_NEXT, "failed recipient:", "failed"},
    {SECTION_NEXT, "did not reach the following recipient:", "failed"},
    {SECTION_END, NULL, NULL},
};

/* Each has the word "address". */
static const Section addresses[] = {
    {SECTION_LIST, "failed addresses follow:", "failed"},
    {SECTION_LIST, "cannot be delivered to the following address(es):", "failed"},
    {SECTION_LIST, "could not be delivered to the following addresses", "failed"},
    {SECTION_LIST, "an email you addressed to email address :", "failed"},
    {SECTION_NEXT, "a transcript of the attempts to send the message follows. addressed to:", "failed"},
    {SECTION_NEXT, "addresses were unknown (please check the addresses and re-mail the message): smtp", "failed"},
    {SECTION_NEXT, "undeliverable address:", "failed"},
    {SECTION_NEXT, "failed address:", "failed"},
    {SECTION_NEXT, "originally addressed to", "failed"},
    {SECTION_NEXT, "the following message, addressed to", "failed"},
    {SECTION_NEXT, "has reached our local address", "failed"},
    {SECTION_END, NULL, NULL},
};

static const Section others[] = {
    {SECTION_LIST, "could not be delivered to:", "failed"},
    {SECTION_NEXT, "undeliverable for:", "failed"},
    {SECTION_NEXT, "user's mailbox is full:", "failed"},
    {SECTION_NEXT, "error-for:", "failed"},
    {SECTION_NEXT, "delivery failed:", "failed"},
    {SECTION_NEXT, "unable to deliver your message to", "failed"},
    {SECTION_NEXT, "unable to deliver message to:", "failed"},
    {SECTION_NEXT, "quota violation for", "failed"},
    {SECTION_NEXT, "you are not a member of this mailing list", "failed"},
    {SECTION_END, NULL, NULL},
};

static const Section delays[] = {
    {SECTION_LIST, "your message to:", "delayed"},
    {SECTION_END, NULL, NULL},
};

/* "joe@example.com - no such user here." */
static bool read_dash(Report *report)
{
    for (guint at = 0; at < report->lines->len && at < 20; at++) {
        const char *line = report_line(report, at);
        size_t length;
        const char *address = address_begins(line, &length);
        if (address == line && g_ascii_strncasecmp(address + length, " - no such user", 15) == 0)
            report_add_failed(report, address, length, line);
    }
    return report_found(report);
}

bool plain_read(Report *report)
{
    if (!report->automatic)
        return false;
    if (report_says(report, "has not yet been delivered"))
        return section_read(report, delays);
    if (report_says(report, "recipient"))
        section_read(report, recipients);
    if (report_says(report, "address"))
        section_read(report, addresses);
    return section_read(report, others) || read_dash(report) || section_brackets(report, "failed");
}
