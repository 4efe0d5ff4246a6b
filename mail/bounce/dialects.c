/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The table of dialects, and the readers that take a few lines; the longer ones have files of their own. */
#include <string.h>

#include "mail/bounce/report.h"

/* Reports of success in words alone, told by their subject; the addresses in them did not fail. */
static bool success_read(Report *report)
{
    static const char *const begins[] = {"successful mail delivery", "delivery status notification (success)",
                                         "delivered: ", "relayed: ", "return receipt"};
    for (size_t at = 0; report->automatic && at < G_N_ELEMENTS(begins) && !report->succeeded; at++)
        report->succeeded = g_str_has_prefix(report->subject, begins[at]) && !report_fails(report, NULL);
    return report->succeeded;
}

/* qmail and its relatives, whose words each site writes anew: the shape of their paragraphs is what stays. */
static bool qmail_read(Report *report)
{
    bool spoken = report_says(report, "this is the qmail") ||
                  report_says(report, "wasn't able to deliver your message") ||
                  report_says(report, "not able to deliver your message");
    bool named = strstr(report->subject, "failure notice") || strstr(report->from, "mailer-daemon");
    return report->automatic && (spoken || named) && section_brackets(report, "failed");
}

/* Yahoo. An older form names nobody but the To of the mail that came back. */
static bool yahoo_read(Report *report)
{
    static const Section sections[] = {
        {SECTION_NEXT, "this is a permanent error; i've given up. sorry it didn't work out. to:", "failed"},
        {SECTION_END, NULL, NULL},
    };
    if (!strstr(report->from, "yahoo") && !report_says(report, "unable to deliver message to the following address") &&
        !report_says(report, "unable to deliver your message to the following address"))
        return false;
    if (section_brackets(report, "failed") || section_read(report, sections))
        return true;
    if (!report_says(report, "able to deliver the following message"))
        return false;
    for (guint at = 0; at < report->lines->len; at++) {
        const char *line = report_line(report, at) + strspn(report_line(report, at), " ");
        size_t length;
        const char *address = g_ascii_strncasecmp(line, "To:", 3) == 0 ? address_scan(line, &length) : NULL;
        if (address)
            report_add_failed(report, address, length, "This is a permanent error");
    }
    return report_found(report);
}

/* Lotus Notes and Domino. */
static bool domino_read(Report *report)
{
    static const Section sections[] = {
        {SECTION_LIST, "was not delivered to:", "failed"},
        {SECTION_LIST, "failure reasons --------", "failed"},
        {SECTION_END, NULL, NULL},
    };
    return report->automatic && section_read(report, sections);
}

/* Novell GroupWise. A user without domain is one of the system that writes. */
static bool groupwise_read(Report *report)
{
    static const Section sections[] = {
        {SECTION_LIST, "was undeliverable to the following:", "failed"},
        {SECTION_LIST, "undeliverable to the following:", "failed"},
        {SECTION_END, NULL, NULL},
    };
    return (strstr(report->mailer, "groupwise") || report_says(report, "undeliverable to the following")) &&
           section_read(report, sections);
}

/* AOL, which names its own users without domain. */
static bool aol_read(Report *report)
{
    const char *phrase = "your mail to the following recipients could not be delivered because they are not accepting";
    const char *found = strstr(report->flat->str, phrase);
    if (!found || !strstr(report->from, "@aol.com"))
        return false;
    size_t offset = (size_t)(found - report->flat->str) + strlen(phrase);
    for (guint at = report_line_at(report, offset) + 1; at < report->lines->len; at++) {
        const char *line = report_line(report, at), *name = line + strspn(line, " \t");
        size_t length = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-");
        if (length < 2 || name[length] != '\0' || name == line)
            continue;
        g_autofree char *address = g_strconcat(name, "@aol.com", NULL);
        report_add_failed(report, address, strlen(address), "not accepting mail from this sender");
    }
    return report_found(report);
}

static bool opensmtpd_read(Report *report)
{
    static const Section failures[] = {
        {SECTION_LIST, "the following list of recipients:", "failed"},
        {SECTION_END, NULL, NULL},
    };
    static const Section delays[] = {
        {SECTION_LIST, "the following list of recipients:", "delayed"},
        {SECTION_END, NULL, NULL},
    };
    bool delayed = strstr(report->subject, "warning") || report_says(report, "a message is delayed for more than");
    return report_says(report, "this is the mailer-daemon, please do not reply") &&
           section_read(report, delayed ? delays : failures);
}

/* DragonFly Mail Agent. */
static bool dragonfly_read(Report *report)
{
    static const Section sections[] = {
        {SECTION_NEXT, "there was an error delivering your mail to", "failed"},
        {SECTION_END, NULL, NULL},
    };
    return report->automatic && section_read(report, sections);
}

/* IMail (SMTP32): one line, the address at its end. */
static bool imail_read(Report *report)
{
    static const char *const starts[] = {"delivery failed ",     "undeliverable to ", "undeliverable  to ",
                                         "unknown user:",        "unknown host:",     "invalid final delivery userid:",
                                         "user mailbox exceeds", "user account is",   "account ",
                                         "unknown local user:"};
    if (!strstr(report->mailer, "<smtp32") && !strstr(report->subject, "undeliverable mail"))
        return false;
    for (guint at = 0; at < report->lines->len; at++)
        for (size_t i = 0; i < G_N_ELEMENTS(starts); i++) {
            const char *line = report_line(report, at);
            size_t length;
            const char *address = NULL;
            if (g_ascii_strncasecmp(line, starts[i], strlen(starts[i])) == 0)
                address = address_scan(line, &length);
            if (address && address[length + (address[length] == '>')] == '\0')
                report_add_failed(report, address, length, line);
        }
    return report_found(report);
}

/* Trend Micro InterScan: the command that failed, or a sentence. */
static bool interscan_read(Report *report)
{
    static const Section sections[] = {
        {SECTION_NEXT, "sent <<< rcpt to:", "failed"},
        {SECTION_NEXT, "unable to deliver message to <", "failed"},
        {SECTION_END, NULL, NULL},
    };
    return (report_says(report, "interscan") || report_says(report, "sent <<< rcpt to:")) &&
           section_read(report, sections);
}

/* The address on a line of its own, in brackets, above the sentence. */
static bool kddi_read_above(Report *report)
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
                report_add_failed(report, address, length, report_line(report, last));
        }
    }
    return report_found(report);
}

/* KDDI (au, EZweb) and the like in Japan. */
static bool kddi_read(Report *report)
{
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
    bool named = report_says(report, "your mail sent on:") ||
                 report_says(report, "your mail attempted to be delivered on:");
    return (report->automatic || named) && (section_read(report, sections) || kddi_read_above(report));
}

/* Zoho: the error stands behind the address. */
static bool zoho_read(Report *report)
{
    static const Section sections[] = {
        {SECTION_LIST, "recipients. this is a permanent error.", "failed"},
        {SECTION_END, NULL, NULL},
    };
    return strstr(report->mailer, "zoho") && section_read(report, sections);
}

/* Apache James, and gateways of mobile networks built with it: an error, then details of the mail. */
static bool james_read(Report *report)
{
    static const Section sections[] = {
        {SECTION_NEXT, "rcpt to:", "failed"},
        {SECTION_END, NULL, NULL},
    };
    return report_says(report, "error message below:") && report_says(report, "message details:") &&
           section_read(report, sections);
}

/* "NAME@yale.edu": the domains for which the mail says that a name is looked up. */
static void phquery_add_local(Report *report)
{
    const char *found = strstr(report->flat->str, "message not delivered to the following:");
    guint line = found ? report_line_at(report, (size_t)(found - report->flat->str)) + 1 : report->lines->len;
    while (line < report->lines->len && report_line(report, line)[strspn(report_line(report, line), " ")] == '\0')
        line++;
    if (line >= report->lines->len)
        return;
    const char *name = report_line(report, line) + strspn(report_line(report, line), " ");
    for (guint at = line; at < report->lines->len; at++)
        for (const char *place = strstr(report_line(report, at), "emailing"); place && (place = strstr(place, "NAME@"));
             place = strstr(place + 5, "emailing")) {
            size_t length;
            if (!address_begins(place, &length))
                continue;
            g_autofree char *address = g_strdup_printf("%.*s@%.*s", (int)strcspn(name, " "), name, (int)length - 5,
                                                       place + 5);
            report_add_failed(report, address, strlen(address), name);
        }
}

/* The directory of names (ph) of American universities; a name without domain is one of the university. */
static bool phquery_read(Report *report)
{
    static const Section sections[] = {
        {SECTION_LIST, "message not delivered to the following addresses:", "failed"},
        {SECTION_LIST, "message not delivered to the following:", "failed"},
        {SECTION_END, NULL, NULL},
    };
    if (!report->automatic || !report_says(report, "message not delivered to the following"))
        return false;
    if (!section_read(report, sections) && report_says(report, "phquery"))
        phquery_add_local(report);
    return report_found(report);
}

/* RFC 8098: the mail was delivered, and shown or deleted by a reader's program. */
static bool receipt_read(Report *report)
{
    for (guint at = 0; at < report->parts->len; at++) {
        const MimePart *part = report->parts->pdata[at];
        if (!part->inside && (g_str_has_prefix(part->type, "message/disposition-notification") ||
                              g_str_has_prefix(part->type, "message/global-disposition-notification"))) {
            report->kind = BOUNCE_REPLY;
            return true;
        }
    }
    return false;
}

/* Reports made for programs come first, dialects that are read most freely last. */
const Dialect dialects[] = {
    {.name = "feedback", .read = feedback_read, .unprepared = true},
    {.name = "delivery-status", .read = delivery_status_read, .unprepared = true},
    {.name = "receipt", .read = receipt_read, .unprepared = true},
    {.name = "delivery-text", .read = delivery_text_read},
    {.name = "success", .read = success_read},
    {.name = "amazon-ses", .read = amazon_read},
    {.name = "exim", .read = exim_read},
    {.name = "postfix", .read = postfix_read},
    {.name = "sendmail", .read = sendmail_read},
    {.name = "qmail", .read = qmail_read},
    {.name = "yahoo", .read = yahoo_read},
    {.name = "exchange", .read = exchange_read},
    {.name = "outlook", .read = outlook_read},
    {.name = "domino", .read = domino_read},
    {.name = "groupwise", .read = groupwise_read},
    {.name = "aol", .read = aol_read},
    {.name = "opensmtpd", .read = opensmtpd_read},
    {.name = "dragonfly", .read = dragonfly_read},
    {.name = "imail", .read = imail_read},
    {.name = "interscan", .read = interscan_read},
    {.name = "kddi", .read = kddi_read},
    {.name = "zoho", .read = zoho_read},
    {.name = "james", .read = james_read},
    {.name = "phquery", .read = phquery_read},
    {.name = "plain", .read = plain_read},
    {.name = "sentence", .read = sentence_read},
    {.name = "returned", .read = returned_read},
    {.name = NULL},
};
