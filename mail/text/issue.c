/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/text/issue.h"

#include <string.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "mail/address.h"
#include "mail/header.h"
#include "mail/loop_mark.h"
#include "mail/message.h"
#include "mail/text/issue_internal.h"
#include "mail/text/subject.h"

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

/* The author's name, or else the address. */
static char *author_of(const Message *message)
{
    const Field *field = message_find(message, "From", NULL);
    g_autoptr(GPtrArray) list = address_list_new();
    if (field)
        address_parse(field->text + field->value_offset, field->length - field->value_offset, list);
    if (list->len == 0)
        return NULL;
    const Address *first = list->pdata[0];
    g_autofree char *name = g_strstrip(header_show(first->display));
    return g_strdup(*name ? name : first->mailbox);
}

/* Appends text in lines of WRAP_COLUMNS characters, broken at blanks. */
static void append_wrapped(GString *lines, const char *first, const char *text)
{
    g_auto(GStrv) words = g_strsplit_set(text, " \t", -1);
    g_string_append(lines, first);
    glong column = g_utf8_strlen(first, -1);
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
}

void issue_announce(IssueWriter *writer, GBytes *post)
{
    g_autoptr(Message) message = message_new(post);
    g_autofree char *topic = topic_of(writer->issue, message), *author = author_of(message);
    g_autofree char *number = g_strdup_printf("%4u. ", ++writer->announced);
    g_autofree char *entry = author ? g_strdup_printf("%s (%s)", topic, author) : g_strdup(topic);
    append_wrapped(writer->contents, number, entry);
    writer->posts_8bit = writer->posts_8bit || bytes_8bit_of(post);
}

/* ---- lines ---- */

/* Where a line that is too long is broken: behind a blank, else before a character. */
static size_t cut_of(const char *line, size_t length)
{
    if (length <= ISSUE_LINE)
        return length;
    for (size_t at = ISSUE_LINE; at > ISSUE_LINE / 2; at--)
        if (line[at - 1] == ' ')
            return at;
    size_t at = ISSUE_LINE;
    while (at > ISSUE_LINE - 4 && ((unsigned char)line[at] & 0xc0) == 0x80)
        at--;
    return at;
}

void issue_put_line(FILE *stream, const char *line, size_t length)
{
    do {
        size_t cut = cut_of(line, length);
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
        issue_put_line(stream, text, length > 0 && text[length - 1] == '\r' ? length - 1 : length);
        text += length + (text[length] == '\n');
    }
}

static void put_repeated(FILE *stream, char octet, glong count)
{
    while (count-- > 0)
        fputc(octet, stream);
    fputs("\r\n", stream);
}

/* ---- the head ---- */

static void put_header(const IssueWriter *writer)
{
    const Issue *issue = writer->issue;
    FILE *stream = writer->stream;
    g_autofree char *subject = header_encode(issue->subject, strlen("Subject: "));
    g_autofree char *date = clock_rfc5322(issue->date);
    fprintf(stream, "From: %s\r\nTo: %s\r\nReply-To: %s\r\nSubject: %s\r\n", issue->from, issue->to, issue->to,
            subject);
    if (issue->mark)
        fprintf(stream, LOOP_MARK_FIELD ": %s\r\n", issue->mark);
    fprintf(stream, "Message-ID: <%s>\r\nDate: %s\r\nMIME-Version: 1.0\r\n", issue->id, date);
    const char *encoding = issue_is_8bit(writer) ? "8bit" : "7bit";
    if (writer->form == ISSUE_PLAIN)
        fprintf(stream, "Content-Type: text/plain; charset=utf-8\r\n");
    else
        fprintf(stream, "Content-Type: multipart/mixed;\r\n\tboundary=\"mixed-%s\"\r\n", issue->secret);
    fprintf(stream, "Content-Transfer-Encoding: %s\r\n\r\n", encoding);
}

/* A text part of the multipart/mixed. */
static void put_part(const IssueWriter *writer, const char *description, const char *text)
{
    g_autofree char *encoded = header_encode(description, strlen("Content-Description: "));
    bool ascii = !bytes_8bit(text, strlen(text));
    fprintf(writer->stream, "--mixed-%s\r\nContent-Type: text/plain; charset=utf-8\r\n", writer->issue->secret);
    fprintf(writer->stream, "Content-Transfer-Encoding: %s\r\nContent-Description: %s\r\n\r\n", ascii ? "7bit" : "8bit",
            encoded);
    put_text(writer->stream, text);
    fputs("\r\n", writer->stream);
}

static void begin_mime(IssueWriter *writer)
{
    const Issue *issue = writer->issue;
    g_autofree char *heading = g_strdup_printf("%s:\n\n%s", issue->contents, writer->contents->str);
    if (issue->masthead && *issue->masthead)
        put_part(writer, issue->title, issue->masthead);
    put_part(writer, issue->contents, heading);
    fprintf(writer->stream, "--mixed-%s\r\nContent-Type: multipart/digest;\r\n\tboundary=\"digest-%s\"\r\n"
            "Content-Transfer-Encoding: %s\r\n\r\n",
            issue->secret, issue->secret, writer->posts_8bit ? "8bit" : "7bit");
}

static void begin_plain(IssueWriter *writer)
{
    put_text(writer->stream, writer->issue->masthead);
    fprintf(writer->stream, "\r\n%s:\r\n\r\n", writer->issue->contents);
    put_text(writer->stream, writer->contents->str);
    fputs("\r\n\r\n" RULE_70 "\r\n\r\n", writer->stream);
}

static void begin(IssueWriter *writer)
{
    if (writer->begun)
        return;
    writer->begun = true;
    put_header(writer);
    if (writer->form == ISSUE_MIME)
        begin_mime(writer);
    else
        begin_plain(writer);
}

/* ---- posts ---- */

void issue_add(IssueWriter *writer, GBytes *post)
{
    begin(writer);
    writer->added++;
    if (writer->form == ISSUE_PLAIN) {
        fprintf(writer->stream, "Message: %u\r\n", writer->added);
        issue_put_post(writer->stream, writer->issue->left_out, post);
        fputs("\r\n" ISSUE_RULE_30 "\r\n\r\n", writer->stream);
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
            put_part(writer, issue->footer_title, issue->footer);
        fprintf(stream, "--mixed-%s--\r\n", issue->secret);
        return;
    }
    if (footer) {
        fprintf(stream, "Subject: %s\r\n\r\n", issue->footer_title);
        put_text(stream, issue->footer);
        fputs("\r\n" ISSUE_RULE_30 "\r\n\r\n", stream);
    }
    g_autofree char *last = g_strdup_printf("%s %s", issue->end, issue->title);
    put_text(stream, last);
    put_repeated(stream, '*', g_utf8_strlen(last, -1));
}
