/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/*
 * No dialect that we know: an address at the beginning of a line, below a paragraph that says that delivery failed,
 * above one that does, or above a reply; one that is labelled as the recipient's; or a line that says of its only
 * address that it is unknown or full. The words for that are those of etc/bounce.
 */
#include <string.h>

#include "mail/bounce/report.h"

#define PARAGRAPH_LIMIT 600
#define LEAD_LIMIT 60 /* bytes before an address that say whose it is */

/* Addresses that stand in reports to be written to. */
static bool is_contact(Report *report, const char *address, size_t length)
{
    static const char *const locals[] = {"postmaster@", "abuse@", "support@", "help", "admin@", "hostmaster@"};
    g_autofree char *lower = g_ascii_strdown(address, (gssize)length);
    for (size_t at = 0; at < G_N_ELEMENTS(locals); at++)
        if (g_str_has_prefix(lower, locals[at]))
            return true;
    return report_is_contact(report, lower);
}

/* Does a paragraph or a line tell that a mailbox is unknown, full, or what else a verdict is? */
static bool is_verdict(const char *lower)
{
    return words_any(lower, words_verdict) || words_reason_of(lower);
}

/* Adds an address with what a text says about it, its origin included. */
static bool add(Report *report, const char *address, size_t length, const char *action, const char *text)
{
    size_t origin_length = 0;
    const char *origin = text ? origin_find(text, &origin_length, NULL) : NULL;
    return report_add(report, &(Finding){.address = address, .address_length = length, .action = action, .text = text,
                                         .known_as = origin, .known_as_length = origin_length});
}

/* ---- an address at the beginning of a line ---- */

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

/* The paragraph above an address, of which the end is kept. */
typedef struct Prose {
    GString *text;
    bool ended; /* what comes next is another paragraph */
    bool asked; /* failing is known */
    bool failing;
} Prose;

static void take_prose(Prose *prose, const char *line)
{
    if (prose->ended)
        g_string_truncate(prose->text, 0);
    if (prose->text->len > PARAGRAPH_LIMIT)
        g_string_erase(prose->text, 0, (gssize)(prose->text->len - PARAGRAPH_LIMIT));
    g_string_append_len(prose->text, line, (gssize)strnlen(line, PARAGRAPH_LIMIT));
    g_string_append_c(prose->text, ' ');
    prose->ended = prose->asked = false;
}

static bool prose_fails(Report *report, Prose *prose)
{
    if (!prose->asked) {
        g_autofree char *lower = words_lower(prose->text->str, (gssize)prose->text->len);
        prose->failing = prose->text->len > 0 && report_fails(report, lower);
        prose->asked = true;
    }
    return prose->failing;
}

/* "Joe User<mailto:joe@example.com>", what programs make of a link, "Joe User [joe@example.com] on ...", and fields in
 * brackets. */
static const char *find_named(Report *report, const char *line, size_t *length)
{
    const char *link = strcasestr(line, "<mailto:"), *bracket = strchr(line, '[');
    const char *address = link ? address_begins(link, length) : bracket ? address_begins(bracket + 1, length) : NULL;
    if (address && !link && address[*length] != ']')
        address = NULL;
    if (!address && (*line == '[' || *line == '('))
        address = section_fields(line, length);
    return address && !is_contact(report, address, *length) ? address : NULL;
}

/* An address below a paragraph that says that delivery failed, or above a reply. */
static void take_address(Report *report, Prose *prose, guint at, const char *action)
{
    const char *line = report_line(report, at), *start = line + strspn(line, " \t*-<>\"");
    size_t length;
    const char *address = address_begins(start, &length);
    const char *rest = start + length + strspn(start + length, " \t:>\",;");
    if (is_contact(report, address, length) || (!prose_fails(report, prose) && !is_explained(report, at, rest)))
        return;
    bool more = *rest == '\0' || *rest == '('; /* what is said of it stands on the next line */
    g_autofree char *text = section_text(report, rest, at + 1, MIN(at + 1 + more, report->lines->len));
    add(report, address, length, action, text + strspn(text, " "));
    section_more(report, start + length, action);
}

static bool read_below(Report *report, const char *action)
{
    Prose prose = {.text = g_string_new(NULL)};
    for (guint at = 0; at < report->lines->len; at++) {
        const char *line = report_line(report, at), *start = line + strspn(line, " \t*-<>\"");
        size_t length;
        const char *address = address_begins(start, &length), *named = NULL;
        if (*start == '\0') {
            prose.ended = true;
        } else if (address == start && strchr(" \t:><\",;(", start[length])) {
            take_address(report, &prose, at, action);
        } else if ((named = find_named(report, start, &length)) != NULL && prose_fails(report, &prose)) {
            add(report, named, length, action, start);
            prose.ended = true;
        } else if (address != start) {
            take_prose(&prose, start);
        }
    }
    g_string_free(prose.text, TRUE);
    return report_found(report);
}

/* ---- an address above what is said of it ---- */

#define ABOVE_LIMIT 50 /* addresses that one paragraph is about */

/* Does what stands before an address make it the sender's, or no address but a Message-ID? */
static bool is_other(const char *line, const char *address)
{
    const char *end = address, *begin;
    while (end > line && strchr(" \t<\"'(:=", end[-1]))
        end--;
    for (begin = end; begin > line && address - begin < LEAD_LIMIT && !strchr(" \t<>\"'(:=,;.", begin[-1]);)
        begin--;
    g_autofree char *word = words_lower(begin, end - begin);
    return words_is(word, words_other) || words_is(word, words_reference);
}

/* Does the last line of text above at make what follows the sender's: "A message from", "Sender's address:"? */
static bool is_below_other(const Report *report, guint at)
{
    while (at > 0 && !*report_line(report, at - 1))
        at--;
    if (at == 0)
        return false;
    const char *line = report_line(report, at - 1), *end = line + strlen(line);
    g_autofree char *lower = end > line && end[-1] == ':' ? words_lower(line, LEAD_LIMIT) : NULL;
    return is_other(line, end) || (lower && words_lead(lower, words_other));
}

/* The address, where the line has nothing else. */
static const char *lone_address(Report *report, const char *line, size_t *length)
{
    const char *start = line + strspn(line, " \t*-<>\"'");
    const char *address = address_begins(start, length);
    if (address != start || is_contact(report, address, *length))
        return NULL;
    return address[*length + strspn(address + *length, " \t>\"',;:.")] == '\0' ? address : NULL;
}

/* The paragraph that begins at line, blank lines skipped; *next is behind it. */
static char *paragraph(Report *report, guint line, guint *next)
{
    GString *text = g_string_new(NULL);
    while (line < report->lines->len && !*report_line(report, line))
        line++;
    for (size_t length; line < report->lines->len && *report_line(report, line); line++) {
        if (lone_address(report, report_line(report, line), &length))
            break;
        if (text->len < PARAGRAPH_LIMIT) {
            g_string_append_len(text, report_line(report, line), (gssize)strnlen(report_line(report, line),
                                                                                 PARAGRAPH_LIMIT));
            g_string_append_c(text, ' ');
        }
    }
    *next = line;
    return g_string_free(text, FALSE);
}

/* "Your message to", the address on a line of its own, "has been postponed due to a full mailbox". */
static bool read_above(Report *report, const char *action)
{
    guint next;
    for (guint at = 0; at < report->lines->len; at = MAX(next, at + 1)) {
        const char *found[ABOVE_LIMIT];
        size_t lengths[ABOVE_LIMIT], count = 0, length;
        for (next = at; next < report->lines->len; next++) {
            const char *address = lone_address(report, report_line(report, next), &length);
            if (address && count < ABOVE_LIMIT) {
                found[count] = address;
                lengths[count++] = length;
            } else if (count == 0 || *report_line(report, next)) {
                break;
            }
        }
        if (count == 0)
            continue;
        g_autofree char *text = paragraph(report, next, &next), *lower = words_lower(text, -1);
        if ((!report_fails(report, lower) && !is_verdict(lower)) || words_any(lower, words_advice) ||
            is_below_other(report, at))
            continue;
        for (size_t i = 0; i < count; i++)
            add(report, found[i], lengths[i], action, text);
    }
    return report_found(report);
}

/* ---- an address behind a label ---- */

#define LABEL_LIMIT 60 /* bytes of "Recipient address(es):" */

/* Behind what may be a label and its colon, or at the end of a line that may be one alone; *length is the label's.
 * NULL: it is too long for one. */
static const char *behind_label(const char *start, size_t *length)
{
    static const char wide_colon[] = "：";
    size_t all = strnlen(start, LABEL_LIMIT);
    const char *colon = memchr(start, ':', all), *wide = memmem(start, all, wide_colon, strlen(wide_colon));
    const char *end = colon && (!wide || colon < wide) ? colon : wide;
    *length = end ? (size_t)(end - start) : all;
    if (end)
        return end + (*end == ':' ? 1 : strlen(wide_colon));
    return start[all] || strpbrk(start, ".,;!@") ? NULL : start + all;
}

static bool is_label(const char *start, size_t length)
{
    g_autofree char *label = words_lower(start, (gssize)length);
    return words_lead(label, words_label) && !words_begin(label, words_other) && !words_any(label, words_advice);
}

/* "Recipient: [SMTP:joe@example.com]", "Empfänger: joe@example.com", or the address on the next line. */
static bool read_labelled(Report *report, const char *action)
{
    for (guint at = 0; at < report->lines->len && report_fails(report, NULL); at++) {
        const char *start = report_line(report, at) + strspn(report_line(report, at), " \t*-[");
        size_t label, length;
        const char *place = behind_label(start, &label);
        if (!place)
            continue;
        guint end = MIN(at + 3, report->lines->len), below = at + 1;
        for (; place[strspn(place, " \t")] == '\0' && below < end; below++)
            place = report_line(report, below);
        place += strspn(place, " \t[");
        if (g_ascii_strncasecmp(place, "smtp:", 5) == 0 || g_ascii_strncasecmp(place, "smtp ", 5) == 0)
            place += 5;
        const char *address = address_begins(place, &length);
        if (!address || !is_label(start, label) || is_contact(report, address, length))
            continue;
        g_autofree char *text = section_text(report, "", below, MIN(below + 3, report->lines->len));
        add(report, address, length, action, text + strspn(text, " "));
    }
    return report_found(report);
}

/* Does a line look like a field of a header? */
static bool is_field(const Report *report, guint at)
{
    const char *line = at < report->lines->len ? report_line(report, at) : "";
    size_t length = strcspn(line, " \t:");
    return length > 0 && line[length + strspn(line + length, " \t")] == ':';
}

/* "To: joe@example.com" that stands alone in a report of a failure. In a header that is quoted it names the list, whose
 * domain is also that of the address to which reports go. */
static bool read_field(Report *report, const char *action)
{
    for (guint at = 0; at < report->lines->len && report_fails(report, NULL); at++) {
        const char *start = report_line(report, at) + strspn(report_line(report, at), " \t*-[");
        size_t label, length;
        const char *place = behind_label(start, &label);
        const char *address = place ? address_begins(place, &length) : NULL;
        if (!address || is_contact(report, address, length) || is_field(report, at + 1) ||
            (at > 0 && is_field(report, at - 1)))
            continue;
        g_autofree char *name = words_lower(start, (gssize)label), *whole = g_ascii_strdown(address, (gssize)length);
        if (!words_is(g_strchomp(name), words_field) || strstr(report->to, strrchr(whole, '@')))
            continue;
        g_autofree char *text = section_text(report, "", at + 1, MIN(at + 4, report->lines->len));
        add(report, address, length, action, text + strspn(text, " "));
    }
    return report_found(report);
}

/* ---- an address inside a line ---- */

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
    return !text_holds_any(lead, others);
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

/* "Delivery to these recipients failed: joe@example.com, kim@example.net": nothing but addresses to the line's end. */
static void add_several(Report *report, const char *line, const char *address, const char *action)
{
    g_autofree char *lead = words_lower(line, address - line);
    if (!report_fails(report, lead) || words_any(lead, words_advice))
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
                report_add(report, &(Finding){.address = at, .address_length = length, .action = action, .text = line});
        }
}

/* Is the second address of a line, at at, the origin of the first? */
static bool is_origin(const char *line, const char *at)
{
    size_t length;
    return origin_find(line, &length, NULL) == at;
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
        if (second && !memchr(second, '/', other) && !is_origin(line, second)) { /* with a slash it is a link */
            add_several(report, line, address, action);
            continue;
        }
        g_autofree char *lower = words_lower(line, -1);
        if (is_verdict(lower) || is_reply_about(line, next, address, length) || is_reply_line(line, address, lower) ||
            (report_fails(report, lower) && !words_any(lower, words_advice)))
            add(report, address, length, action, line);
    }
    return report_found(report);
}

bool sentence_read(Report *report)
{
    if (!report->automatic)
        return false;
    const char *action = report_waits(report) ? "delayed" : "failed";
    return read_below(report, action) || read_labelled(report, action) ||
           (!report->vague && read_above(report, action)) || read_line(report, action) ||
           (!report->vague && read_field(report, action));
}
