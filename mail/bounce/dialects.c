/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* The dialects of mail systems, in the order in which they are asked; the table is at the end. RFC 3464, Amazon SES and
 * sentences in no known dialect have files of their own. */
#include <string.h>

#include "mail/bounce/report.h"

/* ---- complaints: ARF (RFC 5965), and Hotmail's, which is the mail itself with fields of its own ---- */

#define OWN_LIMIT 4096 /* bytes, within which Hotmail's own field stands */

static void feedback_add(Report *report, const char *head, const char *name)
{
    g_autofree char *value = mime_field(head, strlen(head), name);
    size_t length;
    const char *address = value ? address_scan(value, &length) : NULL;
    if (address)
        report_add(report, &(Finding){.address = address, .address_length = length, .action = "complaint"});
}

static bool feedback_read(Report *report)
{
    static const char *const fields[] = {"Original-Rcpt-To", "Removal-Recipient"};
    static const char own[] = "X-HmXmrOriginalRecipient";
    bool perhaps = report->back && memmem(report->back, MIN(report->back_length, OWN_LIMIT), own, sizeof own - 1);
    const char *head = perhaps ? report_returned(report) : "";
    g_autofree char *hotmail = mime_field(head, strlen(head), own);
    if (!report->feedback_text && !hotmail)
        return false;
    report->kind = BOUNCE_FEEDBACK;
    /* RFC 6591 reports of failed authentication and RFC 6430 "not spam": nobody complains of the mail. */
    static const char *const harmless[] = {"auth-failure", "not-spam"};
    const char *feedback = report->feedback_text ? report->feedback_text->str : "";
    g_autofree char *type = mime_field(feedback, strlen(feedback), "Feedback-Type");
    for (size_t at = 0; type && at < G_N_ELEMENTS(harmless); at++)
        report->harmless |= g_ascii_strncasecmp(type, harmless[at], strlen(harmless[at])) == 0;
    if (report->harmless)
        return true;
    for (size_t at = 0; report->feedback_text && at < G_N_ELEMENTS(fields); at++)
        feedback_add(report, report->feedback_text->str, fields[at]);
    if (hotmail)
        feedback_add(report, head, own);
    return true;
}

/* ---- Exim, and what is built upon it or speaks like it (Google, mail.ru, GMX and 1&1, MXLogic) ---- */

/* Each has the word "following", which is looked for first. */
static const Section exim_following[] = {
    {SECTION_LIST, "following address(es) failed:", "failed"},
    {SECTION_LIST, "following addresses failed:", "failed"},
    {SECTION_LIST, "following address failed:", "failed"},
    {SECTION_LIST, "delivery to the following recipient failed permanently:", "failed"},
    {SECTION_LIST, "delivery to the following recipients failed permanently:", "failed"},
    {SECTION_LIST, "delivery to the following recipient has been delayed:", "delayed"},
    {SECTION_LIST, "delivery to the following recipients has been delayed:", "delayed"},
    {SECTION_END, NULL, NULL},
};

static const Section exim_others[] = {
    {SECTION_LIST, "has not yet been delivered is:", "delayed"},
    {SECTION_LIST, "have not yet been delivered are:", "delayed"},
    {SECTION_NEXT, "local mailbox", "failed"},
    {SECTION_END, NULL, NULL},
};

static bool exim_read(Report *report)
{
    bool failed = *report_field(report, "X-Failed-Recipients");
    if (!failed && !report->automatic)
        return false;
    if (report_says(report, "following"))
        section_read(report, exim_following);
    section_read(report, exim_others);
    /* The header names them all, even where the text has a local part only. */
    size_t length;
    g_autofree char *whole = g_strndup(report->flat->str, 1000);
    for (const char *at = report_field(report, "X-Failed-Recipients"); (at = address_scan(at, &length)); at += length)
        report_add_failed(report, at, length, whole);
    /* "a@b <c@d>: malformed address: ...": Exim refused to read it; the last one was meant. */
    bool any = report_found(report);
    for (guint at = 0; at < report->lines->len && !any; at++) {
        const char *line = report_line(report, at), *end = strstr(line, ": malformed address:");
        const char *open = end ? g_strrstr_len(line, end - line, "<") : NULL;
        const char *address = open ? address_begins(open, &length) : NULL;
        if (address && address < end)
            report_add_failed(report, address, length, line);
    }
    return report_found(report);
}

/* ---- Postfix, under whatever name it runs: bounces, delay warnings, and transcripts of sessions ---- */

/* " In:  RCPT TO:<x>", " Out: 550 ..."; a refusal after DATA is one of all recipients. */
static bool postfix_read_transcript(Report *report)
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
            for (guint of = begin; of < at && refused && data; of++) {
                const char *rcpt = strcasestr(report_line(report, of), "RCPT TO:");
                address = rcpt ? address_begins(rcpt + 8, &length) : NULL;
                if (address)
                    report_add_failed(report, address, length, reply);
            }
            if (refused && data) {
                data = false;
                begin = at;
            } else if (refused) {
                report_add_failed(report, address, length, reply);
            }
            address = NULL;
        }
    }
    return report_found(report);
}

static bool postfix_read(Report *report)
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
           postfix_read_transcript(report);
}

/* ---- sendmail of all ages, and gateways that copy its headings ---- */

static const Section sendmail_sections[] = {
    {SECTION_LIST, "the following addresses had permanent fatal errors", "failed"},
    {SECTION_LIST, "the following addresses had permanent delivery errors", "failed"},
    {SECTION_LIST, "the following addresses had fatal errors", "failed"},
    {SECTION_LIST, "the following addresses had delivery errors", "failed"},
    {SECTION_LIST, "the following addresses had delivery problems", "failed"},
    {SECTION_LIST, "the following addresses have delivery notifications", "failed"},
    {SECTION_LIST, "the following addresses had transient non-fatal errors", "delayed"},
    {SECTION_END, NULL, NULL},
};

static bool sendmail_read(Report *report)
{
    if (!report->automatic)
        return false;
    bool listed = section_read(report, sendmail_sections), hops = report_says(report, "too many hops");
    size_t length;
    /* "554 Too many hops 26 (25 max): from <> via localhost, to joe@example.com": the envelope's recipient, which is
     * reported here even where the list above names only what it was expanded to. */
    for (guint at = 0; at < report->lines->len && hops; at++) {
        const char *line = report_line(report, at), *to = strcasestr(line, "too many hops");
        to = to && reply_scan(line) ? strstr(to, ", to ") : NULL;
        const char *address = to ? address_begins(to + strlen(", to "), &length) : NULL;
        if (address)
            report_add_failed(report, address, length, line);
    }
    if (listed || !report_says(report, "transcript of session follows"))
        return listed;
    /* "554 <joe@example.com>... Remote protocol error", "joe@example.com... User unknown" */
    for (guint row = 0; row < report->lines->len; row++) {
        const char *line = report_line(report, row), *dots = strstr(line, "... "), *at = line;
        bool code = strspn(at, "0123456789") == 3 && (at[3] == ' ' || at[3] == '-');
        if (!dots || (code && *at != '4' && *at != '5'))
            continue;
        at += code ? 4 : 0;
        if (code && strspn(at, "0123456789.") >= 5)
            at += strspn(at, "0123456789. ");
        const char *address = address_begins(at, &length);
        if (address && address <= at + 1 && address + length <= dots && address + length + 1 >= dots)
            report_add_failed(report, address, length, code ? line : dots + 4);
    }
    return report_found(report);
}

/* ---- Microsoft Exchange, the old one and the new one ---- */

static const Section exchange_sections[] = {
    {SECTION_LIST, "did not reach the following recipient(s):", "failed"},
    {SECTION_LIST, "the following recipient(s) could not be reached:", "failed"},
    {SECTION_LIST, "the following recipients could not be reached:", "failed"},
    {SECTION_LIST, "the following recipient(s) cannot be reached:", "failed"},
    {SECTION_END, NULL, NULL},
};

/* The Internet Mail Service, and the connector before it. */
static bool exchange_read(Report *report)
{
    if (!report->automatic)
        return false;
    /* X.400 with the address inside: "c=US;a= ;p=X;o=Y;dda:SMTP=joe@example.com; on ..." */
    bool x400 = report_says(report, "c=") && report_says(report, "a=") &&
                (report_says(report, "smtp=") || report_says(report, "rfc-822="));
    for (guint at = 0, end = report->lines->len; at < end && x400; at++) {
        g_autofree char *address = address_x400(report_line(report, at)), *text = NULL;
        if (address && at + 1 < end)
            text = g_strconcat(report_line(report, at + 1), " ", at + 2 < end ? report_line(report, at + 2) : "", NULL);
        if (address)
            report_add_failed(report, address, strlen(address), text);
    }
    if (report_found(report))
        return true;
    return (report_says(report, "reach the following") || report_says(report, "be reached:")) &&
           section_read(report, exchange_sections);
}

static const Section outlook_lists[] = {
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

static const Section outlook_named[] = {
    {SECTION_NEXT, "your message to ", "failed"},
    {SECTION_END, NULL, NULL},
};

static const Section outlook_waiting[] = {
    {SECTION_LIST, "could not be delivered to the following recipients:", "delayed"},
    {SECTION_END, NULL, NULL},
};

/* Exchange since 2007, Office 365 and Outlook.com: headings, then a list with links. */
static bool outlook_read(Report *report)
{
    if (!report->automatic)
        return false;
    if (report_says(report, "delivery attempts will continue"))
        return section_read(report, outlook_waiting);
    /* In every language alike: the address on a line of its own, below it "#550 5.1.1 ..." or "#< ...". */
    for (guint at = 0; at + 1 < report->lines->len; at++) {
        const char *line = report_line(report, at), *next = report_line(report, at + 1);
        size_t length;
        const char *address = address_begins(line, &length);
        if (address && address[length] == '\0' && next[0] == '#' && (g_ascii_isdigit(next[1]) || next[1] == '<'))
            report_add_failed(report, address, length, next);
    }
    if (report_found(report) || section_read(report, outlook_lists))
        return true;
    return (report_says(report, "couldn't be delivered") || report_says(report, "couldn\xe2\x80\x99t be delivered")) &&
           section_read(report, outlook_named);
}

/* ---- smaller systems ---- */

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
    if (!report->automatic && !named)
        return false;
    if (section_read(report, sections))
        return true;
    /* The address on a line of its own, in brackets, above the sentence. */
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
    if (section_read(report, sections) || !report_says(report, "phquery"))
        return report_found(report);
    /* "NAME@yale.edu": the domains for which the mail says that a name is looked up. */
    const char *found = strstr(report->flat->str, "message not delivered to the following:");
    guint line = found ? report_line_at(report, (size_t)(found - report->flat->str)) + 1 : report->lines->len;
    while (line < report->lines->len && report_line(report, line)[strspn(report_line(report, line), " ")] == '\0')
        line++;
    const char *name = line < report->lines->len ? report_line(report, line) : "";
    name += strspn(name, " ");
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
    return report_found(report);
}

/* ---- single sentences of smaller systems, from mail that a mail system sent by its header ---- */

/* Each has the word "recipient", which is looked for first. */
static const Section plain_recipients[] = {
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
static const Section plain_addresses[] = {
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

static const Section plain_others[] = {
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

static const Section plain_delays[] = {
    {SECTION_LIST, "your message to:", "delayed"},
    {SECTION_END, NULL, NULL},
};

static bool plain_read(Report *report)
{
    if (!report->automatic)
        return false;
    if (report_says(report, "has not yet been delivered"))
        return section_read(report, plain_delays);
    if (report_says(report, "recipient"))
        section_read(report, plain_recipients);
    if (report_says(report, "address"))
        section_read(report, plain_addresses);
    if (section_read(report, plain_others))
        return true;
    for (guint at = 0; at < report->lines->len && at < 20; at++) { /* "joe@example.com - no such user here." */
        const char *line = report_line(report, at);
        size_t length;
        const char *address = address_begins(line, &length);
        if (address == line && g_ascii_strncasecmp(address + length, " - no such user", 15) == 0)
            report_add_failed(report, address, length, line);
    }
    return report_found(report) || section_brackets(report, "failed");
}

/* ---- a failure that names nobody, with the header of the mail that failed (RFC 3462) ---- */

static void returned_add(Report *report, const char *address, size_t length)
{
    g_autofree char *text = g_strndup(report->flat->str, 400);
    report_add_failed(report, address, length, text);
}

static bool returned_read(Report *report)
{
    static const char *const phrases[] = {"could not be delivered",
                                          "couldn't be delivered",
                                          "unable to deliver",
                                          "undeliverable",
                                          "not able to deliver",
                                          "delivery failed",
                                          NULL};
    static const char *const never[] = {"List-Id", "List-Post", "List-Unsubscribe", "Cc", "Mailing-List"};
    if (!report->automatic || !*report_returned(report) || !text_holds_any(report->flat->str, phrases))
        return false;
    /* The topmost "Received: ... for <address>". */
    const char *head = report_returned(report);
    size_t size = strlen(head), length, other;
    g_autofree char *received = mime_field(head, size, "Received");
    const char *mark = received ? strstr(received, " for <") : NULL;
    const char *address = mark ? address_begins(mark + 5, &length) : NULL;
    if (address)
        returned_add(report, address, length);
    if (report_found(report))
        return true;
    /* Or the only address in To. */
    for (size_t at = 0; at < G_N_ELEMENTS(never); at++) {
        g_autofree char *value = mime_field(head, size, never[at]);
        if (value)
            return false;
    }
    g_autofree char *to = mime_field(head, size, "To");
    address = to ? address_scan(to, &length) : NULL;
    if (address && !address_scan(address + length, &other))
        returned_add(report, address, length);
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

#define SECTIONS(...) (const Section[]){__VA_ARGS__, {SECTION_END, NULL, NULL}}

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
    {.name = "domino", /* Lotus Notes, too */
     .automatic = true,
     .sections = SECTIONS({SECTION_LIST, "was not delivered to:", "failed"},
                          {SECTION_LIST, "failure reasons --------", "failed"})},
    {.name = "groupwise", /* of Novell; a user without domain is one of the system that writes */
     .mailer = "groupwise",
     .says = {"undeliverable to the following"},
     .sections = SECTIONS({SECTION_LIST, "was undeliverable to the following:", "failed"},
                          {SECTION_LIST, "undeliverable to the following:", "failed"})},
    {.name = "aol", .read = aol_read},
    {.name = "opensmtpd", .read = opensmtpd_read},
    {.name = "dragonfly",
     .automatic = true,
     .sections = SECTIONS({SECTION_NEXT, "there was an error delivering your mail to", "failed"})},
    {.name = "imail", .read = imail_read},
    {.name = "interscan", /* of Trend Micro: the command that failed, or a sentence */
     .says = {"interscan", "sent <<< rcpt to:"},
     .sections = SECTIONS({SECTION_NEXT, "sent <<< rcpt to:", "failed"},
                          {SECTION_NEXT, "unable to deliver message to <", "failed"})},
    {.name = "kddi", .read = kddi_read},
    {.name = "zoho", /* the error stands behind the address */
     .mailer = "zoho",
     .sections = SECTIONS({SECTION_LIST, "recipients. this is a permanent error.", "failed"})},
    {.name = "james", .read = james_read},
    {.name = "phquery", .read = phquery_read},
    {.name = "plain", .read = plain_read},
    {.name = "sentence", .read = sentence_read},
    {.name = "returned", .read = returned_read},
    {.name = NULL},
};

bool dialect_read(const Dialect *dialect, Report *report)
{
    if (dialect->read)
        return dialect->read(report);
    bool known = (dialect->automatic && report->automatic) ||
                 (dialect->mailer && strstr(report->mailer, dialect->mailer));
    for (size_t at = 0; at < G_N_ELEMENTS(dialect->says) && dialect->says[at] && !known; at++)
        known = report_says(report, dialect->says[at]);
    return known && section_read(report, dialect->sections);
}
