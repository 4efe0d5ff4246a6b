/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/text/issue.h"

#include <inttypes.h>
#include <string.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "mail/address.h"
#include "mail/header.h"
#include "mail/loop_mark.h"
#include "mail/message.h"
#include "mail/mime/mime.h"
#include "mail/mime/parameter.h"
#include "mail/text/subject.h"
#include "mail/text/template.h"

/* ---- lines ---- */

#define LINE_MAX_BYTES 900 /* of text; RFC 5322, 2.1.1 allows 998 */
#define RULE_30 "------------------------------"

/* Writes a line and CRLF; one that is too long is broken at a blank, or else between characters. */
static void put_line(FILE *stream, const char *line, size_t length)
{
    do {
        size_t cut = length;
        if (length > LINE_MAX_BYTES) {
            cut = LINE_MAX_BYTES;
            while (cut > LINE_MAX_BYTES / 2 && line[cut - 1] != ' ')
                cut--;
            if (cut == LINE_MAX_BYTES / 2)
                for (cut = LINE_MAX_BYTES; cut > LINE_MAX_BYTES - 4 && ((unsigned char)line[cut] & 0xc0) == 0x80;)
                    cut--;
        }
        fwrite(line, 1, cut, stream);
        fputs("\r\n", stream);
        line += cut;
        length -= cut;
    } while (length > 0);
}
static void put_text(FILE *stream, const char *text)
{
    while (text && *text) {
        size_t length = strcspn(text, "\n");
        put_line(stream, text, length > 0 && text[length - 1] == '\r' ? length - 1 : length);
        text += length + (text[length] == '\n');
    }
}

/* ---- a post as plain text, for digests of RFC 1153 ---- */

#define DEPTH_MAX 5 /* of messages within messages */
#define TEXT_MAX ((size_t)-1)

/* The fields that RFC 1153 keeps, in its order. */
static const char *const kept[] = {"Date", "From", "To", "Cc", "Subject", "Message-ID", "Keywords"};

static void put_fields(FILE *stream, const Message *message)
{
    for (size_t name = 0; name < G_N_ELEMENTS(kept); name++) {
        size_t index = 0;
        for (const Field *field; (field = message_find(message, kept[name], &index)); index++) {
            g_autofree char *raw = field_value(field), *text = header_show(raw);
            g_autofree char *line = g_strdup_printf("%s: %s", kept[name], text);
            /* A long line goes on in the next one behind a blank. A word that begins at a blank stays a fold. */
            for (char *at = line, *next; *at; at = next) {
                size_t length = strlen(at);
                next = at + MIN(length, LINE_MAX_BYTES);
                while (*next && next > at + 1 && *next != ' ' && next > at + LINE_MAX_BYTES / 2)
                    next--;
                bool fold = *next && *next != ' ';
                if (fold)
                    next = g_utf8_find_prev_char(at, at + LINE_MAX_BYTES + 1);
                fprintf(stream, fold ? "%.*s\r\n " : "%.*s\r\n", (int)(next - at), at);
            }
        }
    }
    fputs("\r\n", stream);
}

/* A text without the empty lines around it, in which no line looks like the one between two posts. */
static void put_body(FILE *stream, const GString *text)
{
    const char *at = text->str, *end = text->str + text->len;
    for (const char *line = at; line < end && g_ascii_isspace(*line); line++)
        if (*line == '\n')
            at = line + 1;
    while (end > at && g_ascii_isspace(end[-1]))
        end--;
    while (at < end) {
        const char *feed = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((feed ? feed : end) - at);
        if (length == strlen(RULE_30) && memcmp(at, RULE_30, length) == 0)
            fputs(" " /* in place of the first hyphen */, stream), at++, length--;
        put_line(stream, at, length);
        at += length + (feed != NULL);
    }
}

static void put_left_out(FILE *stream, const char *sentence, const MimePart *part)
{
    static const char *const places[][2] = {{"Content-Disposition", "filename"}, {"Content-Type", "name"}};
    g_autofree char *name = NULL; /* that it was sent with */
    for (size_t at = 0; at < G_N_ELEMENTS(places) && !name; at++) {
        g_autofree char *value = mime_field(part->head, part->head_length, places[at][0]);
        g_autoptr(ContentType) type = content_type_parse(value ? value : "");
        g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
        content_type_texts(type, places[at][1], names);
        if (names->len > 0 && *(char *)names->pdata[0])
            name = header_decode(names->pdata[0]);
    }
    g_autofree char *brief = template_brief(name ? name : "-"), *type = template_brief(part->type);
    g_autofree char *size = g_strdup_printf("%zu", part->body_length);
    const TemplateValue values[] = {{"type", type}, {"name", brief}, {"size", size}, {0}};
    g_autofree char *text = template_fill(sentence, values);
    put_line(stream, text, strlen(text));
}

static bool is_text(const MimePart *part)
{
    return strcmp(part->type, "text/plain") == 0 || strcmp(part->type, "text") == 0;
}

static void put_message(FILE *stream, const char *left_out, GBytes *octets, unsigned depth);

static void put_text_part(FILE *stream, const MimePart *part)
{
    GString *text = mime_text(part, TEXT_MAX);
    if (strcmp(part->type, "text/html") == 0) {
        GString *stripped = mime_html_text(text);
        g_string_free(text, TRUE);
        text = stripped;
    }
    g_autofree char *valid = g_utf8_validate(text->str, (gssize)text->len, NULL)
                                 ? NULL
                                 : g_utf8_make_valid(text->str, (gssize)text->len);
    if (valid)
        g_string_assign(text, valid);
    put_body(stream, text);
    g_string_free(text, TRUE);
}

/* Shows the part at *at, and moves *at behind what it showed. */
static void put_part(FILE *stream, const char *left_out, const GPtrArray *parts, guint *at, unsigned depth)
{
    const MimePart *part = parts->pdata[*at];
    guint next = part->next;
    if (strcmp(part->type, "multipart/alternative") == 0) {
        /* Of several forms of one content the plain text, else the first that is HTML. */
        const MimePart *plain = NULL, *html = NULL;
        for (guint form = *at + 1; form < next && !plain; form++) {
            const MimePart *other = parts->pdata[form];
            plain = is_text(other) ? other : NULL;
            html = !html && strcmp(other->type, "text/html") == 0 ? other : html;
        }
        if (plain || html)
            put_text_part(stream, plain ? plain : html);
        else
            put_left_out(stream, left_out, part);
    } else if (g_str_has_prefix(part->type, "multipart/") && next > *at + 1) {
        next = *at + 1; /* what it holds comes one by one */
    } else if (strcmp(part->type, "message/rfc822") == 0 && depth < DEPTH_MAX) {
        g_autoptr(GBytes) inner = g_bytes_new_static(part->body, part->body_length);
        put_message(stream, left_out, inner, depth + 1);
    } else if (is_text(part) || strcmp(part->type, "text/html") == 0) {
        put_text_part(stream, part);
    } else if (g_str_has_prefix(part->type, "multipart/")) {
        g_autoptr(GString) text = mime_text(part, TEXT_MAX); /* it could not be split: as it is */
        g_autofree char *valid = g_utf8_make_valid(text->str, (gssize)text->len);
        g_string_assign(text, valid);
        put_body(stream, text);
    } else {
        put_left_out(stream, left_out, part);
    }
    *at = next;
}

static void put_message(FILE *stream, const char *left_out, GBytes *octets, unsigned depth)
{
    g_autoptr(Message) message = message_new(octets);
    put_fields(stream, message);
    size_t length;
    const char *data = g_bytes_get_data(octets, &length);
    g_autoptr(GPtrArray) parts = mime_parts(data, length);
    bool first = true;
    for (guint at = 0; at < parts->len;) {
        const MimePart *part = parts->pdata[at];
        bool container = g_str_has_prefix(part->type, "multipart/") && part->next > at + 1 &&
                         strcmp(part->type, "multipart/alternative") != 0;
        if (!first && !container)
            fputs("\r\n", stream);
        put_part(stream, left_out, parts, &at, depth);
        first = first && container;
    }
}

#define WRAP_COLUMNS 72
#define CONTINUED "         "
#define RULE_70 "----------------------------------------------------------------------"

struct IssueWriter {
    const Issue *issue;
    IssueForm form;
    FILE *stream;
    GString *contents; /* lines of the table of contents */
    unsigned announced, added;
    bool posts_8bit, begun;
};

IssueWriter *issue_writer_new(const Issue *issue, IssueForm form, FILE *stream)
{
    IssueWriter *writer = g_new0(IssueWriter, 1);
    writer->issue = issue;
    writer->form = form;
    writer->stream = stream;
    writer->contents = g_string_new(NULL);
    return writer;
}

void issue_writer_free(IssueWriter *writer)
{
    if (!writer)
        return;
    g_string_free(writer->contents, TRUE);
    g_free(writer);
}

bool issue_is_8bit(const IssueWriter *writer)
{
    const Issue *issue = writer->issue;
    const char *const texts[] = {issue->title,        issue->masthead, issue->footer,  issue->contents,
                                 issue->footer_title, issue->end,      issue->left_out};
    bool found = writer->posts_8bit || bytes_8bit(writer->contents->str, writer->contents->len);
    for (size_t at = 0; at < G_N_ELEMENTS(texts); at++)
        found = found || (texts[at] && bytes_8bit(texts[at], strlen(texts[at])));
    return found || writer->form == ISSUE_PLAIN; /* of which the text is not known yet */
}

/* ---- the table of contents ---- */

/* The subject without the list's prefix, but with "Re:". */
static char *topic_of(const Issue *issue, const Message *message)
{
    g_autofree char *raw = message_value(message, "Subject");
    char *subject = header_show(raw ? raw : "");
    g_autofree char *prefix = g_strstrip(g_strdup(issue->prefix ? issue->prefix : ""));
    /* At the beginning, or behind a mark of a reply at most. */
    for (char *at = subject; *prefix && *at && at - subject <= 8; at++) {
        size_t length = subject_prefix_length(at, prefix);
        if (length > 0) {
            length += strspn(at + length, " ");
            memmove(at, at + length, strlen(at + length) + 1);
            break;
        }
    }
    return g_strstrip(subject);
}

void issue_announce(IssueWriter *writer, GBytes *post)
{
    g_autoptr(Message) message = message_new(post);
    GString *lines = writer->contents;
    /* The author's name, or else the address. */
    g_autoptr(GPtrArray) from = address_list_new();
    const Field *field = message_find(message, "From", NULL);
    if (field)
        address_parse(field->text + field->value_offset, field->length - field->value_offset, from);
    const Address *author = from->len > 0 ? from->pdata[0] : NULL;
    g_autofree char *name = author ? g_strstrip(header_show(author->display)) : NULL;
    g_autofree char *topic = topic_of(writer->issue, message), *number = g_strdup_printf("%4u. ", ++writer->announced);
    g_autofree char *entry = author ? g_strdup_printf("%s (%s)", topic, *name ? name : author->mailbox)
                                    : g_strdup(topic);
    /* In lines of WRAP_COLUMNS characters, broken at blanks. */
    g_auto(GStrv) words = g_strsplit_set(entry, " \t", -1);
    g_string_append(lines, number);
    glong column = g_utf8_strlen(number, -1);
    bool fresh = true;
    for (char **word = words; *word; word++) {
        glong width = g_utf8_strlen(*word, -1);
        if (width == 0)
            continue;
        if (!fresh && column + 1 + width > WRAP_COLUMNS) {
            g_string_append(lines, "\n" CONTINUED);
            column = (glong)strlen(CONTINUED);
            fresh = true;
        }
        g_string_append_printf(lines, "%s%s", fresh ? "" : " ", *word);
        column += width + !fresh;
        fresh = false;
    }
    g_string_append_c(lines, '\n');
    writer->posts_8bit = writer->posts_8bit || bytes_8bit_of(post);
}

/* ---- the head ---- */

/* A text part of the multipart/mixed. */
static void put_section(const IssueWriter *writer, const char *description, const char *text)
{
    g_autofree char *encoded = header_encode(description, strlen("Content-Description: "));
    bool ascii = !bytes_8bit(text, strlen(text));
    fprintf(writer->stream, "--mixed-%s\r\nContent-Type: text/plain; charset=utf-8\r\n", writer->issue->secret);
    fprintf(writer->stream, "Content-Transfer-Encoding: %s\r\nContent-Description: %s\r\n\r\n", ascii ? "7bit" : "8bit",
            encoded);
    put_text(writer->stream, text);
    fputs("\r\n", writer->stream);
}

/* Writes the head of the message and what stands above the posts, once. */
static void begin(IssueWriter *writer)
{
    const Issue *issue = writer->issue;
    FILE *stream = writer->stream;
    if (writer->begun)
        return;
    writer->begun = true;
    g_autofree char *subject = header_encode(issue->subject, strlen("Subject: "));
    g_autofree char *date = clock_rfc5322(issue->date);
    fprintf(stream, "From: %s\r\nTo: %s\r\nReply-To: %s\r\nSubject: %s\r\n", issue->from, issue->to, issue->to,
            subject);
    if (issue->mark)
        fprintf(stream, LOOP_MARK_FIELD ": %s\r\n", issue->mark);
    fprintf(stream, "Message-ID: <%s>\r\nDate: %s\r\nMIME-Version: 1.0\r\n", issue->id, date);
    const char *encoding = issue_is_8bit(writer) ? "8bit" : "7bit";
    if (writer->form == ISSUE_PLAIN) {
        fprintf(stream, "Content-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: %s\r\n\r\n", encoding);
        put_text(stream, issue->masthead);
        fprintf(stream, "\r\n%s:\r\n\r\n", issue->contents);
        put_text(stream, writer->contents->str);
        fputs("\r\n\r\n" RULE_70 "\r\n\r\n", stream);
        return;
    }
    fprintf(stream, "Content-Type: multipart/mixed;\r\n\tboundary=\"mixed-%s\"\r\n", issue->secret);
    fprintf(stream, "Content-Transfer-Encoding: %s\r\n\r\n", encoding);
    g_autofree char *heading = g_strdup_printf("%s:\n\n%s", issue->contents, writer->contents->str);
    if (issue->masthead && *issue->masthead)
        put_section(writer, issue->title, issue->masthead);
    put_section(writer, issue->contents, heading);
    fprintf(stream,
            "--mixed-%s\r\nContent-Type: multipart/digest;\r\n\tboundary=\"digest-%s\"\r\n"
            "Content-Transfer-Encoding: %s\r\n\r\n",
            issue->secret, issue->secret, writer->posts_8bit ? "8bit" : "7bit");
}

/* ---- posts ---- */

void issue_add(IssueWriter *writer, GBytes *post)
{
    begin(writer);
    writer->added++;
    if (writer->form == ISSUE_PLAIN) {
        fprintf(writer->stream, "Message: %u\r\n", writer->added);
        put_message(writer->stream, writer->issue->left_out, post, 0);
        fputs("\r\n" RULE_30 "\r\n\r\n", writer->stream);
        return;
    }
    size_t length;
    const char *octets = g_bytes_get_data(post, &length);
    fprintf(writer->stream, "--digest-%s\r\nContent-Type: message/rfc822\r\n", writer->issue->secret);
    if (bytes_8bit_of(post))
        fputs("Content-Transfer-Encoding: 8bit\r\n", writer->stream);
    fprintf(writer->stream, "Message: %u\r\n\r\n", writer->added);
    if (length > 0)
        fwrite(octets, 1, length, writer->stream);
    fputs("\r\n", writer->stream); /* belongs to the boundary */
}

void issue_end(IssueWriter *writer)
{
    const Issue *issue = writer->issue;
    FILE *stream = writer->stream;
    bool footer = issue->footer && *issue->footer;
    begin(writer);
    if (writer->form == ISSUE_MIME) {
        fprintf(stream, "--digest-%s--\r\n\r\n", issue->secret);
        if (footer)
            put_section(writer, issue->footer_title, issue->footer);
        fprintf(stream, "--mixed-%s--\r\n", issue->secret);
        return;
    }
    if (footer) {
        fprintf(stream, "Subject: %s\r\n\r\n", issue->footer_title);
        put_text(stream, issue->footer);
        fputs("\r\n" RULE_30 "\r\n\r\n", stream);
    }
    g_autofree char *last = g_strdup_printf("%s %s", issue->end, issue->title);
    put_text(stream, last);
    for (glong left = g_utf8_strlen(last, -1); left > 0; left--)
        fputc('*', stream);
    fputs("\r\n", stream);
}
