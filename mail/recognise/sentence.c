/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* No dialect that we know: an address at the beginning of a line, below a paragraph that says that
 * delivery failed or above a reply that does; or a line that says of its only address that it is unknown or full. */
#include <string.h>

#include "mail/recognise/report.h"

#define PARAGRAPH_LIMIT 600

static const char *const failures[] = {"not be delivered",
                                       "n't be delivered",
                                       "cannot be delivered",
                                       "unable to deliver",
                                       "not able to deliver",
                                       "delivery fail",
                                       "delivery has fail",
                                       "was not delivered",
                                       "not deliver your",
                                       "undeliverable",
                                       "did not reach",
                                       "failed recipient",
                                       "recipient(s) failed",
                                       "has failed",
                                       "recipients failed",
                                       "delivery error",
                                       "permanent error",
                                       "not delivered to the following",
                                       "attempting to deliver",
                                       "wasn't able to deliver",
                                       "error delivering",
                                       "could not deliver",
                                       "were rejected",
                                       "unknown address",
                                       "addresses were unknown",
                                       NULL};

static const char *const verdicts[] = {"unknown user",
                                       "was rejected",
                                       "has been rejected",
                                       "user unknown",
                                       "no such user",
                                       "unknown local",
                                       "not a valid",
                                       "does not exist",
                                       "mailbox is full",
                                       "mailbox full",
                                       "over quota",
                                       "undeliverable",
                                       "not delivered",
                                       "be delivered",
                                       "unable to deliver",
                                       "invalid address",
                                       "not found",
                                       "mailbox unavailable",
                                       "unknown recipient",
                                       "recipient unknown",
                                       "invalid recipient",
                                       "delivery failed",
                                       "error delivering",
                                       "could not deliver",
                                       "exceeds allowed",
                                       "mailbox is disabled",
                                       "account is disabled",
                                       "no longer valid",
                                       "no longer active",
                                       "host unknown",
                                       "unknown host",
                                       NULL};

static bool holds(const char *lower, const char *const *words)
{
    for (; *words; words++)
        if (strstr(lower, *words))
            return true;
    return false;
}

/* Addresses that stand in reports to be written to. */
static bool is_contact(const Report *report, const char *address, size_t length)
{
    static const char *const locals[] = {"postmaster@", "abuse@", "support@", "help", "admin@", "hostmaster@"};
    g_autofree char *lower = g_ascii_strdown(address, (gssize)length);
    for (size_t at = 0; at < G_N_ELEMENTS(locals); at++)
        if (g_str_has_prefix(lower, locals[at]))
            return true;
    return strstr(report->from, lower) || strstr(report->to, lower);
}

#define EXPLAINED_LINES 4

/* Do the lines below an address tell of a refusal, in whatever language the rest is? An SMTP reply or a status of
 * RFC 3463 does. */
static bool is_explained(const Report *report, guint at, const char *rest)
{
    for (guint below = at + 1;; below++) {
        char status[STATUS_SIZE];
        size_t length;
        status_scan(rest, status);
        if (status[0] || reply_scan(rest))
            return true;
        if (below > at + EXPLAINED_LINES || below >= report->lines->len)
            return false;
        rest = report_line(report, below);
        const char *start = rest + strspn(rest, " \t*-<\"");
        if (*start == '\0' || address_begins(start, &length) == start) /* a blank line, or the next address */
            return false;
    }
}

/* What is kept of the paragraph above an address. */
static void take_prose(GString *before, const char *line, bool anew)
{
    if (anew)
        g_string_truncate(before, 0);
    if (before->len > PARAGRAPH_LIMIT)
        g_string_erase(before, 0, (gssize)(before->len - PARAGRAPH_LIMIT));
    g_string_append_len(before, line, (gssize)strnlen(line, PARAGRAPH_LIMIT));
    g_string_append_c(before, ' ');
}

static bool read_below(Report *report)
{
    GString *before = g_string_new(NULL);
    bool ended = false, failing = false;
    for (guint at = 0; at < report->lines->len; at++) {
        const char *line = report_line(report, at), *start = line + strspn(line, " \t*-<\"");
        size_t length;
        const char *address = address_begins(start, &length);
        if (*start == '\0') {
            ended = true;
        } else if (address == start && strchr(" \t:>\",;(", start[length])) {
            const char *rest = start + length + strspn(start + length, " \t:>\",;");
            if (!is_contact(report, address, length) && (failing || is_explained(report, at, rest)))
                report_add(report,
                           &(Finding){address, length, "failed", NULL,
                                      *rest || at + 1 >= report->lines->len ? rest : report_line(report, at + 1)});
        } else if (address != start) {
            take_prose(before, start, ended);
            g_autofree char *lower = g_ascii_strdown(before->str, -1);
            failing = holds(lower, failures);
            ended = false;
        }
    }
    g_string_free(before, TRUE);
    return report_found(report);
}

/* "550 <joe@example.com>... User unknown", "RCPT TO:<joe@example.com>: 550 no": a reply about this address. */
static bool is_reply_about(const char *line, const char *address, size_t length)
{
    bool bracketed = address > line && address[-1] == '<' && address[length] == '>';
    const char *behind = address + length + 1;
    if (!bracketed || !reply_scan(line))
        return false;
    g_autofree char *lead = g_ascii_strdown(line, (gssize)(address - line));
    return strstr(lead, "rcpt to:") || (!strstr(lead, "from") && g_str_has_prefix(behind, "..."));
}

static bool read_line(Report *report)
{
    for (guint at = 0; at < report->lines->len; at++) {
        const char *line = report_line(report, at);
        size_t length, other;
        const char *address = address_scan(line, &length);
        if (!address || is_contact(report, address, length) || address_scan(address + length, &other))
            continue;
        g_autofree char *lower = g_ascii_strdown(line, -1);
        if (holds(lower, verdicts) || is_reply_about(line, address, length))
            report_add(report, &(Finding){address, length, "failed", NULL, line});
    }
    return report_found(report);
}

static bool read_sentence(Report *report)
{
    return report->automatic && (read_below(report) || read_line(report));
}

const Dialect dialect_sentence = {.name = "sentence", .read = read_sentence};
