/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* No dialect that we know: an address at the beginning of a line, below a paragraph that says that
 * delivery failed or above a reply that does; one that is labelled as the recipient's; or a line that says of its only
 * address that it is unknown or full. */
#include <string.h>

#include "mail/recognise/report.h"

#define PARAGRAPH_LIMIT 600

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
                                       "failed to deliver",
                                       "wasn't delivered",
                                       "automatically rejected",
                                       "quota exceeded",
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

/* "Joe User<mailto:joe@example.com>", what programs make of a link, and "Joe User [joe@example.com] on ...". */
static bool add_named(Report *report, const char *line, const char *action)
{
    const char *link = strcasestr(line, "<mailto:"), *bracket = strchr(line, '[');
    size_t length;
    const char *address = link ? address_begins(link, &length) : bracket ? address_begins(bracket + 1, &length) : NULL;
    if (address && !link && address[length] != ']')
        address = NULL;
    return address && !is_contact(report, address, length) &&
           report_add(report, &(Finding){address, length, action, NULL, line});
}

static bool read_below(Report *report, const char *action)
{
    GString *before = g_string_new(NULL);
    bool ended = false, failing = false;
    for (guint at = 0; at < report->lines->len; at++) {
        const char *line = report_line(report, at), *start = line + strspn(line, " \t*-<>\"");
        size_t length;
        const char *address = address_begins(start, &length);
        if (*start == '\0') {
            ended = true;
        } else if (address == start && strchr(" \t:><\",;(", start[length])) {
            const char *rest = start + length + strspn(start + length, " \t:>\",;");
            if (!is_contact(report, address, length) && (failing || is_explained(report, at, rest))) {
                report_add(report,
                           &(Finding){address, length, action, NULL,
                                      *rest || at + 1 >= report->lines->len ? rest : report_line(report, at + 1)});
                section_more(report, start + length, action);
            }
        } else if (failing && add_named(report, start, action)) {
            ended = true;
        } else if (address != start) {
            take_prose(before, start, ended);
            g_autofree char *lower = report_lower(before->str, (gssize)before->len);
            failing = report_fails(report, lower);
            ended = false;
        }
    }
    g_string_free(before, TRUE);
    return report_found(report);
}

/* German, French, Spanish, Italian, Portuguese, Dutch, Swedish, Danish, Polish, Czech, Hungarian, Turkish, Russian,
 * Japanese, Chinese, Korean. */
static const char *const labels[] = {
    "recipient",
    "addressed to",
    "failed recipient",
    "failed address",
    "failed addresses",
    "intended recipient",
    "undeliverable address",
    "empf\xc3\xa4nger",
    "empfaenger",
    "destinataire",
    "destinatario",
    "destinatari",
    "destinat\xc3\xa1rio",
    "ontvanger",
    "geadresseerde",
    "mottagare",
    "modtager",
    "adresat",
    "odbiorca",
    "p\xc5\x99\xc3\xadjemce",
    "c\xc3\xadmzett",
    "al\xc4\xb1" "c\xc4\xb1",
    "\xd0\xbf\xd0\xbe\xd0\xbb\xd1\x83\xd1\x87\xd0\xb0\xd1\x82\xd0\xb5\xd0\xbb\xd1\x8c",
    "\xd0\xb0\xd0\xb4\xd1\x80\xd0\xb5\xd1\x81\xd0\xb0\xd1\x82",
    "\xe5\x8f\x97\xe4\xbf\xa1\xe8\x80\x85",
    "\xe5\xae\x9b\xe5\x85\x88",
    "\xe5\x8f\x8e\xe4\xbb\xb6\xe4\xba\xba",
    "\xe6\x94\xb6\xe4\xbb\xb6\xe4\xba\xba",
    "\xe6\x94\xb6\xe4\xbb\xb6\xe8\x80\x85",
    "\xeb\xb0\x9b\xeb\x8a\x94 \xec\x82\xac\xeb\x9e\x8c",
    "\xec\x88\x98\xec\x8b\xa0\xec\x9e\x90",
    "\xec\x88\x98\xec\x8b\xa0\xec\x9d\xb8"};

#define LABEL_LIMIT 40 /* octets of "Recipient address(es):" */

/* Behind the label and its colon, or at the end of a line that is the label alone; NULL: the line does not begin
 * with one. */
static const char *behind_label(const char *line)
{
    static const char wide_colon[] = "\xef\xbc\x9a";
    const char *start = line + strspn(line, " \t*-");
    size_t length = strnlen(start, LABEL_LIMIT);
    while (length > 0 && ((unsigned char)start[length] & 0xc0) == 0x80)
        length--;
    g_autofree char *lower = report_lower(start, (gssize)length);
    for (size_t i = 0; i < G_N_ELEMENTS(labels); i++) {
        if (strlen(labels[i]) > length || !g_str_has_prefix(lower, labels[i]))
            continue;
        const char *at = start + strlen(labels[i]);
        at += strspn(at, "abcdefghijklmnopqrstuvwxyz() \t");
        if (*at == '\0' || *at == ':')
            return at + (*at == ':');
        if (g_str_has_prefix(at, wide_colon))
            return at + strlen(wide_colon);
    }
    return NULL;
}

/* "Recipient: [SMTP:joe@example.com]", "Empfänger: joe@example.com", or the address on the next line. */
static bool read_labelled(Report *report, const char *action)
{
    for (guint at = 0; at < report->lines->len && report_fails(report, NULL); at++) {
        const char *place = behind_label(report_line(report, at));
        if (!place)
            continue;
        guint end = MIN(at + 3, report->lines->len);
        for (guint below = at + 1; place[strspn(place, " \t")] == '\0' && below < end; below++)
            place = report_line(report, below);
        place += strspn(place, " \t[");
        if (g_ascii_strncasecmp(place, "smtp:", 5) == 0 || g_ascii_strncasecmp(place, "smtp ", 5) == 0)
            place += 5;
        size_t length;
        const char *address = address_begins(place, &length);
        if (address && !is_contact(report, address, length))
            report_add(report, &(Finding){address, length, action, NULL,
                                          at + 1 < report->lines->len ? report_line(report, at + 1) : NULL});
    }
    return report_found(report);
}

#define LEAD_LIMIT 60

/* The last reply code that stands shortly before an address in its line; NULL: none does. */
static const char *code_before(const char *line, const char *address)
{
    for (const char *at = address; at-- > line && address - at <= LEAD_LIMIT;) {
        bool code = (*at == '4' || *at == '5') && g_ascii_isdigit(at[1]) && g_ascii_isdigit(at[2]) &&
                    (at[3] == ' ' || at[3] == '-');
        if (code && (at == line || strchr(" \t;:", at[-1])))
            return at;
    }
    return NULL;
}

/* "550 5.1.1 Address <joe@example.com> not known here", "... said: 550 <joe@example.com>": a reply of a server that
 * begins with the address, or a few words that do not say it is the sender's or a person's to ask. */
static bool is_reply_line(const char *line, const char *address, const char *lower)
{
    static const char *const others[] = {"from", "contact", "mail ", "http", "by ", "please", "client", "see ",
                                         "helo", "ask ", NULL};
    const char *code = code_before(line, address);
    if (!code || strstr(lower, "sender") || strstr(lower, "mail from"))
        return false;
    g_autofree char *lead = g_ascii_strdown(code, address - code);
    return !holds(lead, others);
}

/* "550 <joe@example.com>... User unknown", "RCPT TO:<joe@example.com>: 550 no", or the reply on the next line: one
 * about this address. */
static bool is_reply_about(const char *line, const char *next, const char *address, size_t length)
{
    bool bracketed = address > line && address[-1] == '<' && address[length] == '>';
    const char *behind = address + length + 1;
    if (!bracketed)
        return false;
    g_autofree char *lead = g_ascii_strdown(line, (gssize)(address - line));
    if (strstr(lead, "rcpt to:") && reply_scan(next))
        return true;
    if (!reply_scan(line))
        return false;
    return strstr(lead, "rcpt to:") || (!strstr(lead, "from") && g_str_has_prefix(behind, "..."));
}

/* Does the line tell people what to do? */
static bool is_advice(const char *lower)
{
    static const char *const words[] = {"contact",  "wenden sie", "kontakt", "contatt", "write to", "reply to",
                                        "forward",  "please",     "bitte",   "help",    "http",     "question",
                                        NULL};
    return holds(lower, words);
}

/* "Delivery to these recipients failed: joe@example.com, kim@example.net": nothing but addresses to the line's end. */
static void add_several(Report *report, const char *line, const char *address, const char *action)
{
    g_autofree char *lead = report_lower(line, address - line);
    if (!report_fails(report, lead) || is_advice(lead))
        return;
    size_t length;
    for (int round = 0; round < 2; round++)
        for (const char *at = address; *at; at += length) {
            at += strspn(at, " \t,;<>.");
            if (*at && address_begins(at, &length) != at)
                return;
            if (*at == '\0')
                break;
            if (round == 1)
                report_add(report, &(Finding){at, length, action, NULL, line});
        }
}

/* Does what stands before an address make it the sender's, or no address but a Message-ID? */
static bool is_other(const char *line, const char *address)
{
    static const char *const words[] = {"sender", "from", "by", "message", "message-id", "id", "contact", "von", NULL};
    const char *end = address, *begin;
    while (end > line && strchr(" \t<\"'(:=", end[-1]))
        end--;
    for (begin = end; begin > line && (g_ascii_isalpha(begin[-1]) || begin[-1] == '-');)
        begin--;
    g_autofree char *word = g_ascii_strdown(begin, end - begin);
    return g_strv_contains(words, word);
}

static bool read_line(Report *report, const char *action)
{
    for (guint at = 0; at < report->lines->len; at++) {
        const char *line = report_line(report, at);
        const char *next = at + 1 < report->lines->len ? report_line(report, at + 1) : "";
        size_t length, other;
        const char *address = address_scan(line, &length);
        if (!address || is_contact(report, address, length) || is_other(line, address))
            continue;
        const char *second = address_scan(address + length, &other);
        if (second && !memchr(second, '/', other)) { /* that is a link */
            add_several(report, line, address, action);
            continue;
        }
        g_autofree char *lower = report_lower(line, -1);
        if (holds(lower, verdicts) || is_reply_about(line, next, address, length) ||
            is_reply_line(line, address, lower) || (report_fails(report, lower) && !is_advice(lower)))
            report_add(report, &(Finding){address, length, action, NULL, line});
    }
    return report_found(report);
}

static bool read_sentence(Report *report)
{
    if (!report->automatic)
        return false;
    const char *action = report_waits(report) ? "delayed" : "failed";
    return read_below(report, action) || read_labelled(report, action) || read_line(report, action);
}

const Dialect dialect_sentence = {.name = "sentence", .read = read_sentence};
