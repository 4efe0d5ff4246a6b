/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/bounce/dsn.h"

#include <jansson.h>
#include <string.h>

#include "base/clock.h"
#include "base/mailbox.h"
#include "mail/bounce/report.h"

#define LINE_LIMIT 900

/* One line of printable ASCII. */
static char *plain(const char *text)
{
    char *line = g_strndup(text, MIN(strlen(text), LINE_LIMIT));
    for (char *at = line; *at; at++)
        if (*at < ' ' || *at == 127 || (unsigned char)*at > 127)
            *at = *at == '\r' || *at == '\n' || *at == '\t' ? ' ' : '?';
    return g_strstrip(line);
}

static void append_date(GString *out, const char *name, int64_t time)
{
    if (time <= 0)
        return;
    g_autofree char *date = clock_rfc5322(time);
    g_string_append_printf(out, "%s: %s\r\n", name, date);
}

char *dsn_delivery_status(const Dsn *dsn)
{
    GString *out = g_string_new(NULL);
    g_autofree char *host = plain(dsn->reporting_host);
    g_string_append_printf(out, "Reporting-MTA: dns; %s\r\n", host);
    append_date(out, "Arrival-Date", dsn->arrival);
    for (size_t at = 0; at < dsn->count; at++) {
        const DsnRecipient *recipient = &dsn->recipients[at];
        g_autofree char *status = plain(recipient->status);
        g_string_append(out, "\r\n");
        /* RFC 6533, 3: utf-8-addr-xtext has \x{HEX} for what is not ASCII. */
        g_autofree char *valid = g_utf8_make_valid(recipient->address, -1), *address = plain(valid);
        bool ascii = g_str_is_ascii(valid);
        g_string_append_printf(out, "Final-Recipient: %s; %s", ascii ? "rfc822" : "utf-8", ascii ? address : "");
        for (const char *letter = valid; *letter && !ascii; letter = g_utf8_next_char(letter)) {
            gunichar character = g_utf8_get_char(letter);
            if (character > ' ' && character < 127 && !strchr("+=\\", (int)character))
                g_string_append_c(out, (char)character);
            else
                g_string_append_printf(out, "\\x{%02X}", character);
        }
        g_string_append(out, "\r\n");
        g_string_append_printf(out, "Action: %s\r\nStatus: %s\r\n", recipient->delayed ? "delayed" : "failed", status);
        /* Of "mx.example.com[192.0.2.1]:25" the name. */
        g_autofree char *host_name = recipient->relay ? g_strndup(recipient->relay, strcspn(recipient->relay, "["))
                                                      : g_strdup("");
        g_autofree char *relay = plain(host_name);
        if (*relay)
            g_string_append_printf(out, "Remote-MTA: dns; %s\r\n", relay);
        if (recipient->reply && *recipient->reply) {
            g_autofree char *reply = plain(recipient->reply);
            g_string_append_printf(out, "Diagnostic-Code: smtp; %s\r\n", reply);
        }
        append_date(out, "Last-Attempt-Date", dsn->last_attempt);
        if (recipient->delayed)
            append_date(out, "Will-Retry-Until", dsn->retry_until);
    }
    return g_string_free(out, FALSE);
}

/* ---- reading: the fields of RFC 3464 and RFC 6533, in their own part or, from gateways, in the text ---- */

#define VALUE_LIMIT 2000
#define TEXT_LIMIT 4096 /* bytes of a text in which words are looked for */

/* The values lie in the text that is read. */
typedef struct StatusBlock {
    char *original, *final, *actual, *action, *status, *diagnostic;
} StatusBlock;

/* xtext (RFC 3461: +2B) and utf-8-addr-xtext (RFC 6533: \x{2B}) back into the address. */
static char *decode_address(const char *at, bool xtext)
{
    GString *out = g_string_new(NULL);
    for (; *at; at++) {
        bool plus = xtext && *at == '+' && g_ascii_isxdigit(at[1]) && g_ascii_isxdigit(at[2]) &&
                    !g_ascii_islower(at[1]) && !g_ascii_islower(at[2]);
        size_t digits = g_str_has_prefix(at, "\\x{") ? strspn(at + 3, "0123456789abcdefABCDEF") : 0;
        if (plus) {
            char code = (char)(g_ascii_xdigit_value(at[1]) * 16 + g_ascii_xdigit_value(at[2]));
            g_string_append_c(out, code > 32 && code < 127 ? code : '?');
            at += 2;
        } else if (digits > 0 && digits <= 8 && at[3 + digits] == '}') {
            guint64 character = g_ascii_strtoull(at + 3, NULL, 16);
            if (character > 32 && character < 0x110000 && g_unichar_validate((gunichar)character))
                g_string_append_unichar(out, (gunichar)character);
            at += 3 + digits;
        } else {
            g_string_append_c(out, *at);
        }
    }
    return g_string_free(out, FALSE);
}

/* The address of a value "rfc822; joe@example.com"; NULL when it has none. */
static char *value_address(const char *value, bool original)
{
    const char *mark = value ? strchr(value, ';') : NULL;
    const char *start = mark && !memchr(value, '@', (size_t)(mark - value)) ? mark + 1 : value;
    if (!start)
        return NULL;
    if (mark && (g_ascii_strncasecmp(value, "x400", 4) == 0 || g_ascii_strncasecmp(value, "x.400", 5) == 0))
        return address_x400(start);
    size_t length;
    bool coded = original && strchr(start, '+') && !strstr(start, "+@");
    g_autofree char *plain = coded || strchr(start, '\\') ? decode_address(start, coded) : NULL;
    const char *place = plain ? plain : start, *address = address_begins(place, &length);
    if (!address) { /* one that could stand in no sentence, such as a@b */
        g_autofree char *stripped = g_strstrip(g_strdup(place));
        char *bare = mailbox_bare(stripped);
        if (bare)
            return bare;
        address = address_scan(place, &length);
    }
    return address ? g_strndup(address, length) : NULL;
}

static void block_end(Report *report, StatusBlock *block)
{
    g_autofree char *final = value_address(block->final, false);
    g_autofree char *original = value_address(block->original, false);
    /* Real addresses hold a plus with two digits behind it ("joe+20@"), which reads as xtext too: the final recipient,
     * which is never coded, tells. */
    if (original && (!final || g_ascii_strcasecmp(original, final) != 0)) {
        g_autofree char *coded = value_address(block->original, true);
        bool marked = strstr(original, "+2B") || strstr(original, "+3D");
        if (!coded || marked || (final && strcmp(coded, final) == 0)) {
            g_free(original);
            original = g_steal_pointer(&coded);
        }
    }
    g_autofree char *actual = value_address(block->actual, false);
    const char *choices[] = {original, final, actual};
    bool named = block->final || block->original, told = block->action || block->status || block->diagnostic;
    const char *action = block->action ? block->action : block->status && *block->status == '2' ? "success" : NULL;
    for (size_t at = 0; named && told && at < G_N_ELEMENTS(choices); at++) {
        Finding finding = {.address = choices[at],
                           .address_length = choices[at] ? strlen(choices[at]) : 0,
                           .action = action,
                           .status = block->status,
                           .text = block->diagnostic};
        if (choices[at] && report_add(report, &finding))
            break;
    }
    *block = (StatusBlock){0};
}

static char **block_field(StatusBlock *block, const char *line, size_t *skip)
{
    static const char *const fields[] = {"original-recipient", "final-recipient", "action",
                                         "x-actual-recipient", "status",          "diagnostic-code"};
    char **const places[] = {&block->original, &block->final,  &block->action,
                             &block->actual,   &block->status, &block->diagnostic};
    for (size_t at = 0; at < G_N_ELEMENTS(fields); at++) {
        if (!text_begins(line, fields[at]))
            continue;
        const char *end = line + strlen(fields[at]), *colon = end + strspn(end, " \t");
        *skip = (size_t)(colon - line) + 1;
        return *colon == ':' ? places[at] : NULL;
    }
    return NULL;
}

static bool read_fields(Report *report, const char *text)
{
    StatusBlock block = {0};
    char *last = NULL; /* the value that a folded line goes on */
    size_t skip;
    g_autofree char *copy = g_strdup(text);
    for (char *line = copy, *next; line; line = next) {
        char *feed = strchr(line, '\n');
        next = feed ? feed + 1 : NULL;
        if (feed)
            *feed = '\0';
        if (line[strspn(line, " \t\r")] == '\0') {
            last = NULL;
            if (block.final && (block.action || block.status))
                block_end(report, &block);
            else if (!block.final && !block.original)
                block = (StatusBlock){0};
            continue;
        }
        if (*line == ' ' || *line == '\t') {
            /* The feed between the two, which was written over, becomes a blank. */
            bool fits = last && line - last - 1 <= VALUE_LIMIT;
            for (char *gap = line - 1; fits && gap > last && *gap == '\0'; gap--)
                *gap = ' ';
            continue;
        }
        char **place = block_field(&block, line, &skip);
        if (place && *place && (place == &block.final || place == &block.original))
            block_end(report, &block); /* another recipient begins with a field that the block has already */
        last = NULL;
        if (place && !*place)
            *place = last = line + skip + strspn(line + skip, " \t");
    }
    block_end(report, &block);
    return report_found(report) || report->succeeded;
}

/* May the text for people tell what a recipient was known as? Systems that write a part for programs write that in
 * English, and most mails need not be searched for more. */
static bool tells_origin(const Report *report)
{
    static const char words[] = "ed from";
    for (guint at = 0; at < report->parts->len; at++) {
        const MimePart *part = report->parts->pdata[at];
        if (!part->inside && g_str_has_prefix(part->type, "text/plain") &&
            memmem(part->body, MIN(part->body_length, TEXT_LIMIT), words, sizeof words - 1))
            return true;
    }
    return false;
}

bool delivery_status_read(Report *report)
{
    if (!report->status_text || !read_fields(report, report->status_text->str))
        return false;
    if (report_found(report) && tells_origin(report)) {
        report_prepare(report);
        origin_attach(report);
    }
    return true;
}

/* Gateways that write the fields where people read them. */
bool delivery_text_read(Report *report)
{
    if (!report->automatic || !report_says(report, "final-recipient"))
        return false;
    GString *text = g_string_new(NULL);
    for (guint at = 0; at < report->lines->len; at++)
        g_string_append_printf(text, "%s\n", report_line(report, at));
    bool found = read_fields(report, text->str);
    g_string_free(text, TRUE);
    return found;
}

/* ---- Amazon SES ---- */

/* Amazon SES tells of bounces in JSON: the notification itself, or one that other services of Amazon have wrapped, as
 * a string in "Message" or "body", or as an object in "detail" or "Records", once or more than once. */

#define DEPTH_LIMIT 16 /* objects, arrays and strings within each other */

/* AmazonKind names the members of one kind of notification. */
typedef struct AmazonKind {
    const char *type;       /* of the notification */
    const char *member;     /* that holds the recipients' list */
    const char *recipients; /* the list */
    const char *action;
} AmazonKind;

static const AmazonKind kinds[] = {
    {"Bounce", "bounce", "bouncedRecipients", "failed"},
    {"Complaint", "complaint", "complainedRecipients", "complaint"},
    {"DeliveryDelay", "deliveryDelay", "delayedRecipients", "delayed"},
};

/* A string member's value; NULL when there is none. */
static const char *string_of(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

/* False when the object is no notification. */
static bool read_notification(Report *report, const json_t *object)
{
    const char *type = string_of(object, "notificationType");
    type = type ? type : string_of(object, "eventType");
    if (!type)
        return false;
    if (strcmp(type, "Delivery") == 0)
        report->succeeded = true;
    if (strcmp(type, "Complaint") == 0)
        report->kind = BOUNCE_FEEDBACK;
    for (size_t i = 0; i < G_N_ELEMENTS(kinds); i++) {
        if (strcmp(type, kinds[i].type) != 0)
            continue;
        const json_t *inner = json_object_get(object, kinds[i].member);
        const char *lasting = string_of(inner, "bounceType");
        bool passing = lasting && strcmp(lasting, "Transient") == 0;
        const json_t *recipient;
        size_t at;
        json_array_foreach(json_object_get(inner, kinds[i].recipients), at, recipient) {
            const char *given = json_is_string(recipient) ? json_string_value(recipient)
                                                          : string_of(recipient, "emailAddress");
            const char *action = string_of(recipient, "action");
            size_t length;
            const char *address = given ? address_scan(given, &length) : NULL;
            if (address)
                report_add(report, &(Finding){.address = address,
                                              .address_length = length,
                                              .passing = passing,
                                              .action = action ? action : kinds[i].action,
                                              .status = string_of(recipient, "status"),
                                              .text = string_of(recipient, "diagnosticCode")});
        }
    }
    return true;
}

static void read_text(Report *report, const char *text, unsigned depth);

/* The notifications that a value is or holds. */
static void read_value(Report *report, json_t *value, unsigned depth)
{
    if (depth >= DEPTH_LIMIT)
        return;
    if (json_is_string(value)) {
        read_text(report, json_string_value(value), depth + 1);
    } else if (json_is_array(value)) {
        json_t *item;
        size_t at;
        json_array_foreach(value, at, item)
            read_value(report, item, depth + 1);
    } else if (json_is_object(value) && !read_notification(report, value)) {
        const char *name;
        json_t *member;
        json_object_foreach(value, name, member)
            read_value(report, member, depth + 1);
    }
}

/* Reads a text that begins with an object, an array or, when it is the mail's own, a string. What follows it is
 * Amazon's advice how to unsubscribe. */
static void read_text(Report *report, const char *text, unsigned depth)
{
    text += strspn(text, " \t\r\n");
    if (*text != '{' && *text != '[' && (*text != '"' || depth > 0))
        return;
    json_t *value = json_loads(text, JSON_DISABLE_EOF_CHECK | JSON_DECODE_ANY, NULL);
    if (value)
        read_value(report, value, depth);
    json_decref(value);
}

bool amazon_read(Report *report)
{
    const char *first = report->flat->str;
    if (!strchr("{[\"", *first) || (!report_says(report, "notificationtype") && !report_says(report, "eventtype")))
        return false;
    /* As one text: lines were broken where JSON has no line ends, and a folded one begins with a blank. */
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint at = 0; at < report->lines->len; at++) {
        const char *line = report_line(report, at);
        g_string_append(text, at > 0 && *line == ' ' ? line + 1 : line);
    }
    for (size_t at = 0; at < text->len; at++)
        if ((unsigned char)text->str[at] < ' ')
            text->str[at] = ' ';
    read_text(report, text->str, 0);
    return report_found(report) || report->succeeded || report->kind == BOUNCE_FEEDBACK;
}
