/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/text/notice.h"

#include <string.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/random.h"
#include "mail/header.h"
#include "mail/message.h"
#include "mail/transfer.h"

#define LINE_LIMIT 900

/* Line feeds become CRLF; nothing else is changed. */
static char *with_crlf(const char *text)
{
    GString *lines = g_string_new(NULL);
    for (const char *at = text; *at; at++) {
        if (*at == '\n' && (at == text || at[-1] != '\r'))
            g_string_append_c(lines, '\r');
        g_string_append_c(lines, *at);
    }
    if (lines->len > 0 && lines->str[lines->len - 1] != '\n')
        g_string_append(lines, "\r\n");
    return g_string_free(lines, false);
}

static bool has_long_line(const char *text)
{
    for (size_t length; *text; text += length + (text[length] == '\n')) {
        length = strcspn(text, "\n");
        if (length > LINE_LIMIT)
            return true;
    }
    return false;
}

/* The text with the fields that say how it is encoded: plain where it can
 * be, else base64. */
static void append_text(GString *out, const char *text)
{
    g_autofree char *lines = with_crlf(text);
    g_string_append(out, "Content-Type: text/plain; charset=utf-8\r\n");
    if (!bytes_8bit(lines, strlen(lines)) && !has_long_line(lines)) {
        g_string_append_printf(out, "Content-Transfer-Encoding: 7bit\r\n\r\n%s", lines);
        return;
    }
    g_string_append(out, "Content-Transfer-Encoding: base64\r\n\r\n");
    transfer_encode(out, "base64", lines, strlen(lines), "\r\n");
}

/* Cuts the template's first line off: *body is what follows it and one empty line. */
static char *take_subject(const char *text, const char **body)
{
    static const char label[] = "Subject: ";
    *body = text;
    if (g_ascii_strncasecmp(text, label, sizeof label - 1) != 0)
        return g_strdup("");
    const char *start = text + sizeof label - 1, *end = strchrnul(start, '\n');
    *body = *end ? end + 1 : end;
    if (**body == '\r')
        ++*body;
    if (**body == '\n')
        ++*body;
    return g_strstrip(g_strndup(start, (size_t)(end - start)));
}

/* Tell whether a stranger's Message-ID, which may be anything, can stand in a field of ours. */
static bool is_quotable(const char *id)
{
    for (const char *at = id; *at; at++)
        if (*at <= ' ' || *at >= 127 || *at == '<' || *at == '>')
            return false;
    return *id && strlen(id) <= LINE_LIMIT;
}

static void append_fields(GString *out, const Notice *notice, const char *subject)
{
    g_autofree char *name = notice->from_name ? header_phrase(notice->from_name, 6) : g_strdup("");
    g_autofree char *encoded = header_encode(subject, 9);
    g_autofree char *date = clock_rfc5322(notice->date);
    g_string_append_printf(out, *name ? "From: %s\r\n <%s>\r\n" : "From: %s%s\r\n", name, notice->from);
    g_string_append_printf(out, "To: %s\r\nSubject: %s\r\nMessage-ID: <%s>\r\nDate: %s\r\n", notice->to, encoded,
                           notice->id, date);
    if (notice->reply_to)
        g_string_append_printf(out, "Reply-To: %s\r\n", notice->reply_to);
    if (notice->in_reply_to && is_quotable(notice->in_reply_to))
        g_string_append_printf(out, "In-Reply-To: <%s>\r\nReferences: <%s>\r\n", notice->in_reply_to,
                               notice->in_reply_to);
    g_string_append_printf(out, "Auto-Submitted: %s\r\n%sMIME-Version: 1.0\r\n",
                           notice->replied ? "auto-replied" : "auto-generated",
                           notice->personal ? "" : "Precedence: bulk\r\n");
}

/* The start of octets as `most` in Notice has it. */
static GBytes *start_of(GBytes *octets, size_t most)
{
    size_t length;
    const char *text = g_bytes_get_data(octets, &length);
    if (most == 0 || length <= most)
        return g_bytes_ref(octets);
    const char *newline = memrchr(text + most / 2, '\n', most - most / 2);
    return g_bytes_new_from_bytes(octets, 0, newline ? (size_t)(newline - text) + 1 : most);
}

/* The attachment's own fields, and its octets. */
static void append_attached(GPtrArray *pieces, GString *out, const Notice *notice, GBytes *octets)
{
    bool all = notice->attach == NOTICE_MESSAGE;
    g_autoptr(Message) about = message_new(octets);
    g_autoptr(GBytes) wanted = all ? g_bytes_ref(octets) : message_head(about);
    g_autoptr(GBytes) attached = start_of(wanted, notice->most);
    g_string_append_printf(out, "Content-Type: %s\r\nContent-Disposition: inline\r\n",
                           all ? "message/rfc822" : "text/rfc822-headers");
    if (g_bytes_get_size(attached) < g_bytes_get_size(wanted))
        g_string_append_printf(out, "Content-Description: the first %zu of %zu octets\r\n",
                               g_bytes_get_size(attached), g_bytes_get_size(wanted));
    g_string_append_printf(out, "Content-Transfer-Encoding: %s\r\n\r\n", bytes_8bit_of(attached) ? "8bit" : "7bit");
    g_ptr_array_add(pieces, g_bytes_new(out->str, out->len));
    g_string_truncate(out, 0);
    g_ptr_array_add(pieces, g_steal_pointer(&attached));
}

char *notice_id(const char *kind, const char *host)
{
    g_autofree char *word = random_word();
    return g_strdup_printf("%s.%s@%s", kind, word, host);
}

GPtrArray *notice_compose(const Notice *notice)
{
    GPtrArray *pieces = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
    g_autoptr(GString) out = g_string_new(NULL);
    const char *text;
    g_autofree char *subject = take_subject(notice->text, &text);
    append_fields(out, notice, subject);
    if (notice->attach == NOTICE_ALONE || !notice->about) {
        append_text(out, text);
    } else {
        g_autofree char *word = random_word(), *boundary = g_strconcat("=_", word, NULL);
        const char *type = notice->delivery_status ? "report; report-type=delivery-status" : "mixed";
        g_string_append_printf(out, "Content-Type: multipart/%s; boundary=\"%s\"\r\n\r\n", type, boundary);
        g_string_append_printf(out, "--%s\r\n", boundary);
        append_text(out, text);
        g_string_append_printf(out, "\r\n--%s\r\n", boundary);
        if (notice->delivery_status)
            g_string_append_printf(out, "Content-Type: message/delivery-status\r\n\r\n%s\r\n--%s\r\n",
                                   notice->delivery_status, boundary);
        append_attached(pieces, out, notice, notice->about);
        for (unsigned at = 0; notice->further && at < notice->further->len; at++) {
            g_string_append_printf(out, "\r\n--%s\r\n", boundary);
            append_attached(pieces, out, notice, notice->further->pdata[at]);
        }
        g_string_append_printf(out, "\r\n--%s--\r\n", boundary);
    }
    g_ptr_array_add(pieces, g_bytes_new(out->str, out->len));
    return pieces;
}
