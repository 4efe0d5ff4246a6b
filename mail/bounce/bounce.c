/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/bounce/bounce.h"

#include <string.h>

#include "base/mailbox.h"
#include "mail/bounce/report.h"
#include "mail/header.h"

#define TEXT_LIMIT (64 * 1024)
#define HEAD_LIMIT 4096
#define SHOWN_LIMIT 400
#define SOUGHT_LIMIT (64 * 1024) /* bytes of the notification in which words of etc/bounce are looked for */
#define REPLY_LIMIT 4096 /* bytes of a text in which a reply is looked for: many recipients may share a long one */
#define RECIPIENT_LIMIT 2000
#define CONTACT_LIMIT 1000

/* Fields that are asked for in most mails: found in one pass. */
static const struct {
    const char *name;
    size_t length;
} usual[REPORT_USUAL] = {{"From", 4},           {"To", 2},
                         {"Subject", 7},        {"X-Mailer", 8},
                         {"Auto-Submitted", 14}, {"Precedence", 10},
                         {"X-Autoreply", 11},   {"X-Autorespond", 13},
                         {"X-Vacation", 10},    {"X-Auto-Response-Suppress", 24},
                         {"X-Failed-Recipients", 19}};

const char *report_field(Report *report, const char *name)
{
    const MimePart *top = report->parts->pdata[0];
    if (!report->usual[0]) {
        MimeField fields[REPORT_USUAL];
        for (size_t at = 0; at < REPORT_USUAL; at++)
            fields[at] = (MimeField){.name = usual[at].name, .length = usual[at].length};
        mime_fields(top->head, top->head_length, fields, REPORT_USUAL);
        for (size_t at = 0; at < REPORT_USUAL; at++) {
            report->usual[at] = fields[at].value ? g_string_chunk_insert(report->chunk, fields[at].value) : "";
            g_free(fields[at].value);
        }
    }
    for (size_t at = 0; at < REPORT_USUAL; at++)
        if (strcmp(usual[at].name, name) == 0)
            return report->usual[at];
    g_autofree char *value = mime_field(top->head, top->head_length, name);
    return value ? g_string_chunk_insert(report->chunk, value) : "";
}

/* Decoded and in lower case, in the chunk; of a long one the beginning, since these are searched for each address. */
static const char *lower_value(Report *report, const char *value)
{
    if (!*value)
        return "";
    g_autofree char *begin = g_strndup(value, strnlen(value, HEAD_LIMIT));
    g_autofree char *text = strstr(begin, "=?") ? header_decode(begin) : g_utf8_make_valid(begin, -1);
    g_autofree char *lower = words_lower(text, -1);
    return g_string_chunk_insert(report->chunk, lower);
}

bool text_holds_any(const char *text, const char *const *words)
{
    for (; *words; words++)
        if (strstr(text, *words))
            return true;
    return false;
}

const char *report_lower(Report *report)
{
    if (!report->lower) {
        g_autofree char *lower = words_lower(report->flat->str, (gssize)MIN(report->flat->len, SOUGHT_LIMIT));
        report->lower = g_string_chunk_insert(report->chunk, lower);
    }
    return report->lower;
}

/* Does the subject say that a person is away? */
static bool is_absence(const Report *report)
{
    static const char *const subjects[] = {
        "out of office", "out of the office", "automatic re", "auto reply", "autoreply",            "auto-reply",
        "auto:",         "vacation",          "automatyczna", "abwesen",    "thank you for your e", NULL};
    return text_holds_any(report->subject, subjects);
}

/* Does the mail's header show that a program wrote it on behalf of a person? */
static bool is_reply(Report *report)
{
    static const char *const fields[] = {"X-Autoreply", "X-Autorespond", "X-Auto-Response-Suppress", "X-Vacation"};
    g_autofree char *submitted = g_ascii_strdown(report_field(report, "Auto-Submitted"), -1);
    g_autofree char *precedence = g_ascii_strdown(report_field(report, "Precedence"), -1);
    if (strstr(submitted, "replied") || strstr(precedence, "auto_reply") || strcmp(precedence, "junk") == 0)
        return true;
    for (size_t at = 0; at < G_N_ELEMENTS(fields); at++)
        if (*report_field(report, fields[at]))
            return true;
    return is_absence(report);
}

/* A mail system that answers: its subject has an answer's beginning, or its header says so, and the rest tells of a
 * failure. A person who answers to such a report quotes it, or writes without the codes of SMTP. */
static bool is_answering_system(Report *report)
{
    char status[STATUS_SIZE];
    for (guint at = 0; at < report->lines->len; at++)
        if (report_line(report, at)[0] == '>' && report_line(report, at)[1] != '>') /* ">>>" is a dialogue in SMTP */
            return false;
    if (!report_fails(report, NULL) && !words_any(report_lower(report), words_verdict))
        return false;
    status_scan(report->flat->str, status);
    if (status[0] || reply_scan(report->flat->str))
        return true;
    if (is_absence(report) || *report_field(report, "In-Reply-To") || *report_field(report, "References"))
        return false;
    return !is_reply(report) || !words_any(report_lower(report), words_advice);
}

/* Is it written by a mail system, as its header says? */
static bool is_automatic(Report *report)
{
    static const char *const senders[] = {
        "mailer-daemon", "mailer daemon", "postmaster", "mail delivery", "mail.delivery", "mdaemon",   "system admin",
        "mail system",   "mail_service",  "mailsystem", "delivery sub",  "ndr",           "interscan",
        "microsoftexchange", "systemadministrator", NULL};
    const MimePart *top = report->parts->pdata[0];
    if (*report->from == '\0' || strstr(report->from, "<>") || strcmp(top->type, "multipart/report") == 0 ||
        text_holds_any(report->from, senders))
        return true;
    bool strong = words_any(report->subject, words_subject);
    if (is_reply(report) || words_lead(report->subject, words_reply)) /* "Re:", "AW:" */
        return strong && is_answering_system(report);
    report->vague = !strong;
    /* Else its subject may tell of a failure, of mail or of anything else. */
    return strong || ((words_any(report->subject, words_perhaps) || words_any(report->subject, words_failed)) &&
                      !*report_field(report, "List-Id") && !*report_field(report, "List-Unsubscribe"));
}

/* Does the mail that came back begin at this line, by what the line says? */
static bool is_cut(const char *line)
{
    static const char *const marks[] = {
        "below this line is a copy",
        "below is a copy of",
        "this is a copy of",
        "here is a copy of",
        "here is your message",
        "enclosed is a copy",
        "included is a copy",
        "original message follows",
        "original message header",
        "original mail header",
        "the header of the original",
        "message header follows",
        "message headers follow",
        "message text follows",
        "header of the source mail",
        "header of the original",
        "returned message",
        "returned mail",
        "unsent message",
        "start of returned message",
        "the forwarded message follows",
        "bounced e-mail",
        "mensaje original",
        "a copy of the original message",
        "original mail info",
        "the header and top",
        "your message reads",
        "a summary of the undelivered",
        "message body follows",
        "undelivered message follows",
        "copy of your message",
        "the text of your message",
        "original-message",
        "begin of returned",
        "rejected message follows",
        "the original message is",
        "message contents follow",
        "the following is a copy",
    };
    bool field = *line && strchr("RrDd", *line);
    if (field &&
        (text_begins(line, "received:") || text_begins(line, "return-path:") || text_begins(line, "dkim-signature:")))
        return true;
    const char *word = line;
    while (*word && !g_ascii_isalnum(*word) && (signed char)*word > 0)
        word++;
    for (size_t at = 0; at < G_N_ELEMENTS(marks); at++)
        if (text_begins(word, marks[at]))
            return true;
    if (!text_begins(word, "original message"))
        return false;
    for (word += strlen("original message"); *word; word++)
        if (g_ascii_isalnum(*word))
            return false;
    return true;
}

/* Consumes text: the lines stay where they are in it. */
static void add_notification(Report *report, GString *text)
{
    char *end = text->str + text->len, *at = text->str;
    gsize before = report->flat->len;
    g_string_set_size(report->flat, before + text->len + 1); /* a line is never longer than it was, feed included */
    char *flat = report->flat->str + before;
    for (char *next; at < end; at = next) {
        char *feed = memchr(at, '\n', (size_t)(end - at)), *stop = feed ? feed : end;
        next = feed ? feed + 1 : end;
        *stop = '\0';
        if (is_cut(at)) {
            bool field = strchr("RrDd", *at) && strchr(at, ':');
            if (feed)
                *feed = '\n';
            const char *rest = field || !feed ? at : feed + 1;
            if (!report->back)
                report->returned = rest + strspn(rest, " \t\n");
            break;
        }
        while (stop > at && g_ascii_isspace(stop[-1]))
            stop--;
        *stop = '\0';
        guint offset = (guint)(flat - report->flat->str);
        g_array_append_val(report->starts, offset);
        g_ptr_array_add(report->lines, at);
        bool blank = true, any = at < stop; /* no blank at the beginning, one between words */
        for (; at < stop; at++) {
            bool is_blank = *at == ' ' || *at == '\t';
            if (!is_blank)
                *flat++ = g_ascii_isupper(*at) ? (char)(*at | 0x20) : *at;
            else if (!blank)
                *flat++ = ' ';
            blank = is_blank;
        }
        if (any)
            *flat++ = ' ';
    }
    g_string_set_size(report->flat, (gsize)(flat - report->flat->str));
    g_ptr_array_add(report->texts, text);
}

/* Adds a part's text to the others of its kind; *texts may be NULL. */
static void join(GString **texts, const MimePart *part)
{
    GString *text = mime_text(part, TEXT_LIMIT * 4);
    if (!*texts) {
        *texts = text;
        return;
    }
    g_string_append(*texts, "\n\n");
    g_string_append_len(*texts, text->str, (gssize)text->len);
    g_string_free(text, TRUE);
}

static void set_returned(Report *report, const char *octets, size_t length)
{
    if (report->back)
        return;
    report->back = octets;
    report->back_length = length;
}

const char *report_returned(Report *report)
{
    if (!*report->returned && report->back) {
        size_t head = MIN(mime_head(report->back, report->back_length), TEXT_LIMIT);
        report->returned = g_string_chunk_insert_len(report->chunk, report->back, (gssize)strnlen(report->back, head));
    }
    return report->returned;
}

/* A part without type that has the head of a mail. */
static bool is_returned_part(const MimePart *part, bool first)
{
    if (first || part->typed)
        return false;
    g_autofree char *received = mime_field(part->head, part->head_length, "Received");
    g_autofree char *from = received ? NULL : mime_field(part->head, part->head_length, "From");
    return received || from;
}

/* Every part but a multipart that was split. */
static bool is_leaf(const Report *report, guint at)
{
    const MimePart *part = report->parts->pdata[at];
    return at > 0 || report->parts->len == 1 || !g_str_has_prefix(part->type, "multipart/");
}

static void free_text(void *text)
{
    g_string_free(text, TRUE);
}

/* Takes the mail apart as far as the parts for programs need; octets is borrowed. report_prepare() then reads the
 * notification for people, once. report_clear() frees all of it. */
static void report_init(Report *report, const char *octets, size_t length)
{
    static const char *const headers[] = {"text/rfc822-headers", "text/rfc822-header", "message/rfc822-headers",
                                          "message/global-headers", NULL};
    *report =
        (Report){.octets = octets, .length = length, .returned = "", .from = "", .to = "", .subject = "", .mailer = ""};
    report->chunk = g_string_chunk_new(4096);
    report->parts = mime_parts(octets, length);
    report->recipients = g_ptr_array_new();
    report->known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (guint at = 0; at < report->parts->len; at++) {
        const MimePart *part = report->parts->pdata[at];
        if (!is_leaf(report, at))
            continue;
        if (part->inside || is_returned_part(part, at == 0)) {
            set_returned(report, part->head, part->head_length + part->body_length);
        } else if (strcmp(part->type, "message/delivery-status") == 0 ||
                   strcmp(part->type, "message/global-delivery-status") == 0) {
            join(&report->status_text, part);
        } else if (strcmp(part->type, "message/feedback-report") == 0) {
            join(&report->feedback_text, part);
        } else if (g_strv_contains(headers, part->type) && !report->back) {
            GString *head = mime_text(part, TEXT_LIMIT * 4);
            set_returned(report, g_string_chunk_insert(report->chunk, head->str), head->len);
            g_string_free(head, TRUE);
        }
    }
}

void report_prepare(Report *report)
{
    if (report->prepared)
        return;
    report->prepared = true;
    report->lines = g_ptr_array_new();
    report->texts = g_ptr_array_new_with_free_func(free_text);
    report->flat = g_string_new(NULL);
    report->starts = g_array_new(FALSE, FALSE, sizeof(guint));
    report->from = lower_value(report, report_field(report, "From"));
    report->to = lower_value(report, report_field(report, "To"));
    report->subject = lower_value(report, report_field(report, "Subject"));
    report->mailer = lower_value(report, report_field(report, "X-Mailer"));
    /* Text for people; HTML only where there is no plain text. */
    for (int html = 0; html < 2; html++)
        for (guint at = 0; at < report->parts->len && !(html && report->lines->len > 0); at++) {
            const MimePart *part = report->parts->pdata[at];
            bool is_html = strcmp(part->type, "text/html") == 0;
            bool is_text = strcmp(part->type, "text/plain") == 0 ||
                           (at == 0 && !g_str_has_prefix(part->type, "message/"));
            if (!is_leaf(report, at) || part->inside || (html ? !is_html : is_html || !is_text) ||
                is_returned_part(part, at == 0))
                continue;
            /* Where a mail comes back in the text, its head is the last that is of use. */
            const char *received = memmem(part->body, part->body_length, "\nReceived:", 10);
            size_t limit = received ? (size_t)(received - part->body) + HEAD_LIMIT : TEXT_LIMIT;
            GString *raw = mime_text(part, MIN(limit, TEXT_LIMIT)), *text = html ? mime_strip_html(raw) : raw;
            if (text != raw)
                g_string_free(raw, TRUE);
            if (strspn(text->str, " \t\n") < text->len)
                add_notification(report, text);
            else
                g_string_free(text, TRUE);
        }
    report->automatic = is_automatic(report);
}

static void report_clear(Report *report)
{
    g_ptr_array_unref(report->parts);
    g_clear_pointer(&report->contacts, g_hash_table_unref);
    g_clear_pointer(&report->known, g_hash_table_unref);
    if (report->prepared) {
        g_ptr_array_unref(report->lines);
        g_ptr_array_unref(report->texts);
        g_string_free(report->flat, TRUE);
        g_array_unref(report->starts);
    }
    if (report->status_text)
        g_string_free(report->status_text, TRUE);
    if (report->feedback_text)
        g_string_free(report->feedback_text, TRUE);
    g_string_chunk_free(report->chunk);
    if (report->recipients)
        g_ptr_array_unref(report->recipients);
}

bool report_is_contact(Report *report, const char *lower)
{
    const char *const fields[] = {report->from, report->to};
    size_t length;
    if (!report->contacts) {
        report->contacts = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
        for (size_t i = 0; i < G_N_ELEMENTS(fields); i++)
            for (const char *at = fields[i]; (at = address_scan(at, &length)); at += length) {
                if (g_hash_table_size(report->contacts) >= CONTACT_LIMIT)
                    break;
                g_hash_table_add(report->contacts, g_strndup(at, length));
            }
    }
    return g_hash_table_contains(report->contacts, lower);
}

guint report_line_at(const Report *report, size_t offset)
{
    guint low = 0, high = report->starts->len;
    while (high - low > 1) {
        guint middle = low + (high - low) / 2;
        if (g_array_index(report->starts, guint, middle) <= offset)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* ---- results ---- */

/* One line for people, not longer than they read. */
static char *shown(const char *text)
{
    char line[SHOWN_LIMIT];
    size_t length = 0;
    unsigned char all = 0;
    for (const char *at = text ? text : ""; *at && length < sizeof line; at++) {
        all |= (unsigned char)*at;
        bool blank = (unsigned char)*at <= ' ' || *at == 127;
        if (!blank)
            line[length++] = *at;
        else if (length > 0 && line[length - 1] != ' ')
            line[length++] = ' ';
    }
    while (length > 0 && line[length - 1] == ' ')
        length--;
    if (all < 128)
        return g_strndup(line, length);
    const char *end; /* the last character may be cut */
    if (!g_utf8_validate_len(line, length, &end) && g_utf8_get_char_validated(end, line + length - end) == (gunichar)-2)
        length = (size_t)(end - line);
    return g_utf8_make_valid(line, (gssize)length);
}

static BounceClass class_of(const Finding *finding, const char *status)
{
    if (finding->action && text_begins(finding->action, "delay"))
        return BOUNCE_DELAYED;
    if (finding->action && text_begins(finding->action, "complain"))
        return BOUNCE_COMPLAINT;
    if (status[0] == '4')
        return BOUNCE_TEMPORARY;
    if (status[0] == '5')
        return BOUNCE_PERMANENT;
    const char *told = finding->text ? finding->text : "";
    bool is_long = strnlen(told, REPLY_LIMIT) == REPLY_LIMIT;
    g_autofree char *begin = is_long ? g_strndup(told, REPLY_LIMIT) : NULL;
    unsigned reply = reply_scan(begin ? begin : told);
    return reply / 100 == 4 || (reply == 0 && finding->passing) ? BOUNCE_TEMPORARY : BOUNCE_PERMANENT;
}

static BounceRecipient *find_known(const Report *report, const char *address)
{
    g_autofree char *key = g_ascii_strdown(address, -1);
    return g_hash_table_lookup(report->known, key);
}

/* Add the original address of the recipient, where that is an address of its own. */
static void add_origin(BounceRecipient *recipient, const Finding *finding)
{
    if (!finding->known_as || recipient->known_as)
        return;
    g_autofree char *found = g_strndup(finding->known_as, finding->known_as_length), *origin = mailbox_bare(found);
    if (origin && g_ascii_strcasecmp(origin, recipient->address) != 0)
        recipient->known_as = g_steal_pointer(&origin);
}

void report_origin(Report *report, const Finding *finding)
{
    g_autofree char *found = g_strndup(finding->address, finding->address_length), *address = mailbox_bare(found);
    BounceRecipient *known = address ? find_known(report, address) : NULL;
    if (known)
        add_origin(known, finding);
}

bool report_add(Report *report, const Finding *finding)
{
    static const char *const good[] = {"deliver", "relay", "expand", "success"};
    g_autofree char *found = g_strndup(finding->address, finding->address_length), *address = mailbox_bare(found);
    if (!address || text_begins(address, "mailer-daemon@"))
        return false;
    for (size_t at = 0; finding->action && at < G_N_ELEMENTS(good); at++)
        if (text_begins(finding->action, good[at])) {
            report->succeeded = true;
            return true;
        }
    g_autofree char *text = shown(finding->text);
    BounceRecipient *known = find_known(report, address);
    if (known) {
        add_origin(known, finding);
        if (!*known->text && *text) {
            g_free(known->text);
            known->text = g_steal_pointer(&text);
        }
        return true;
    }
    if (report->recipients->len >= RECIPIENT_LIMIT)
        return false;
    /* The status that says most: its own field's, or the text's where that one is vague and of the same class. */
    char status[STATUS_SIZE], other[STATUS_SIZE];
    status_scan(finding->status ? finding->status : "", status);
    status_scan(text, other);
    if (!status[0] || (strcmp(status + 1, ".0.0") == 0 && other[0] == status[0]))
        memcpy(status, other, sizeof other);
    BounceRecipient *recipient = g_new0(BounceRecipient, 1);
    recipient->class = class_of(finding, status);
    recipient->phase = phase_of(finding->text ? finding->text : "");
    recipient_judge(recipient, status, text);
    if (strcmp(recipient->reason, "challenge") == 0 && recipient->class == BOUNCE_PERMANENT)
        recipient->class = BOUNCE_TEMPORARY;
    recipient->status = g_strdup(status);
    recipient->address = g_steal_pointer(&address);
    recipient->text = g_steal_pointer(&text);
    add_origin(recipient, finding);
    g_ptr_array_add(report->recipients, recipient);
    g_hash_table_insert(report->known, g_ascii_strdown(recipient->address, -1), recipient);
    return true;
}

void report_add_failed(Report *report, const char *address, size_t length, const char *text)
{
    report_add(report, &(Finding){.address = address, .address_length = length, .action = "failed", .text = text});
}

/* Paragraphs are asked only for what the whole text holds. */
bool report_fails(Report *report, const char *lower)
{
    if (!report->sought)
        words_seek(report_lower(report), words_failed, report->failing, FAILING_MAX);
    report->sought = true;
    for (size_t at = 0; at < FAILING_MAX && report->failing[at]; at++)
        if (!lower || words_hold(lower, report->failing[at]))
            return true;
    return false;
}

#define NOTIFICATION_LIMIT 3000 /* bytes, in which a reason is looked for */

static void recipient_free(void *data)
{
    BounceRecipient *recipient = data;
    g_free(recipient->address);
    g_free(recipient->known_as);
    g_free(recipient->status);
    g_free(recipient->text);
    g_free(recipient);
}

static Bounce *parse(const char *octets, size_t length, bool inner);

/* The report that a report without recipients passes on: as a part of it, or after the "From " line with which an mbox
 * begins. A complaint or an ordinary mail inside is no business of the outer one. */
static void take_nested(Report *report, Bounce *bounce)
{
    static const char mark[] = "\nFrom MAILER-DAEMON";
    const char *octets = NULL;
    size_t length = 0;
    for (guint at = 1; at < report->parts->len && !octets; at++) {
        const MimePart *part = report->parts->pdata[at];
        if (!part->inside)
            continue;
        g_autofree char *type = mime_field(part->body, mime_head(part->body, part->body_length), "Content-Type");
        if (type && g_ascii_strncasecmp(type, "multipart/report", 16) == 0) {
            octets = part->body;
            length = part->body_length;
        }
    }
    const char *found = octets ? NULL : memmem(report->octets, report->length, mark, sizeof mark - 1);
    if (found) {
        octets = found + 1;
        length = report->length - (size_t)(octets - report->octets);
    }
    if (!octets || !report->automatic)
        return;
    Bounce *inner = parse(octets, length, true);
    if (inner->kind == BOUNCE_FAILURE) {
        bounce->dialect = inner->dialect;
        report->kind = inner->kind;
        g_ptr_array_unref(report->recipients);
        report->recipients = g_ptr_array_ref(inner->recipients);
    }
    bounce_free(inner);
}

Bounce *bounce_parse(const char *octets, size_t length)
{
    const char *given = octets ? octets : "";
    /* A mail that was cut out of something may begin with lines without a letter. */
    size_t blank = 0;
    for (size_t at = 0; at < length && strchr(" \t\r\n", given[at]) && given[at]; at++)
        if (given[at] == '\n' || given[at] == '\r')
            blank = at + 1;
    given += blank;
    length -= blank;
    /* Lines may end with CR alone. */
    bool bare = !memchr(given, '\n', length) && memchr(given, '\r', length);
    g_autofree char *copy = bare ? g_memdup2(given, length) : NULL;
    for (char *at = copy; at && (at = memchr(at, '\r', length - (size_t)(at - copy)));)
        *at = '\n';
    return parse(copy ? copy : given, length, false);
}

static Bounce *parse(const char *octets, size_t length, bool inner)
{
    Report report;
    report_init(&report, octets, length);
    Bounce *bounce = g_new0(Bounce, 1);
    for (const Dialect *dialect = dialects; dialect->name && !bounce->dialect; dialect++) {
        if (!dialect->unprepared)
            report_prepare(&report);
        if (dialect_read(dialect, &report))
            bounce->dialect = dialect->name;
    }
    if (!bounce->dialect && !inner)
        take_nested(&report, bounce);
    /* Of a report with one recipient the reason may stand elsewhere in it. */
    BounceRecipient *one = report.recipients->len == 1 ? report.recipients->pdata[0] : NULL;
    if (one && !*one->status && one->class != BOUNCE_COMPLAINT) {
        report_prepare(&report);
        g_autofree char *text = g_strndup(report.flat->str, NOTIFICATION_LIMIT);
        char status[STATUS_SIZE];
        status_scan(text, status);
        if (status[0] == '4' && one->class == BOUNCE_PERMANENT)
            one->class = BOUNCE_TEMPORARY;
        if (strcmp(one->reason, "undefined") == 0)
            recipient_judge(one, status, text);
        g_free(one->status);
        one->status = g_strdup(status);
    }
    phase_attach(&report);
    bounce->kind = report.kind != BOUNCE_NONE ? report.kind
                   : report_found(&report)    ? BOUNCE_FAILURE
                   : report.succeeded         ? BOUNCE_SUCCESS
                   : is_reply(&report)        ? BOUNCE_REPLY
                   : report.automatic         ? BOUNCE_UNRECOGNISED
                                              : BOUNCE_NONE;
    bounce->complaint = bounce->kind == BOUNCE_FEEDBACK && !report.harmless;
    bounce->recipients = g_steal_pointer(&report.recipients);
    g_ptr_array_set_free_func(bounce->recipients, recipient_free);
    report_clear(&report);
    return bounce;
}

void bounce_free(Bounce *bounce)
{
    g_ptr_array_unref(bounce->recipients);
    g_free(bounce);
}

const char *bounce_kind_name(BounceKind kind)
{
    static const char *const names[] = {"not-bounce", "bounce", "feedback", "auto-reply", "success", "unrecognised"};
    return names[kind];
}

const char *bounce_class_name(BounceClass class)
{
    static const char *const names[] = {"permanent", "temporary", "delayed", "complaint"};
    return names[class];
}

const char *bounce_about_name(BounceAbout about)
{
    static const char *const names[] = {"recipient", "sender", "message"};
    return names[about];
}

const char *bounce_outcome(BounceClass class)
{
    static const char *const names[] = {"given up", "given up", "will be tried again", "complaint"};
    return names[class];
}

static const char *const phases[] = {"", "connect", "hello", "auth", "mail", "rcpt", "data", "end"};

const char *bounce_phase_name(BouncePhase phase)
{
    return phases[phase];
}

BouncePhase bounce_phase_named(const char *name)
{
    for (size_t at = 0; name && at < G_N_ELEMENTS(phases); at++)
        if (strcmp(phases[at], name) == 0)
            return (BouncePhase)at;
    return BOUNCE_PHASE_UNKNOWN;
}

BounceVerdict bounce_judge(const BounceReply *reply)
{
    char found[STATUS_SIZE];
    status_scan(reply->text, found);
    const char *given = reply->status ? reply->status : "";
    const char *best = *given && strcmp(given + 1, ".0.0") != 0 ? given : *found ? found : given;
    unsigned code = *best ? (unsigned)(*best - '0') : reply_scan(reply->text) / 100;
    BounceReply known = *reply;
    known.status = best;
    return verdict_of(&known, code == 4 ? BOUNCE_TEMPORARY : BOUNCE_PERMANENT);
}
