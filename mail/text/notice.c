/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/text/notice.h"

#include <string.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/secret.h"
#include "mail/header.h"
#include "mail/message.h"
#include "mail/transfer.h"

#define LINE_LIMIT 900

/* The text with the fields that say how it is encoded: plain where it can be, else base64. */
static void append_text(GString *out, const char *text)
{
    g_autoptr(GBytes) wire = wire_text(text, strlen(text));
    size_t length;
    const char *lines = g_bytes_get_data(wire, &length), *end = lines + length;
    bool plain = !bytes_8bit(lines, length);
    for (const char *line = lines, *feed; plain && line < end; line = feed + 1) {
        feed = memchr(line, '\n', (size_t)(end - line));
        plain = feed - line <= LINE_LIMIT;
    }
    g_string_append(out, "Content-Type: text/plain; charset=utf-8\r\n");
    if (plain) {
        g_string_append(out, "Content-Transfer-Encoding: 7bit\r\n\r\n");
        g_string_append_len(out, lines, (gssize)length);
        return;
    }
    g_string_append(out, "Content-Transfer-Encoding: base64\r\n\r\n");
    transfer_encode(out, "base64", lines, length, "\r\n");
}

/* Tell whether a stranger's Message-ID, which may be anything, can stand in a field of ours. */
static bool is_quotable(const char *id)
{
    for (const char *at = id; *at; at++)
        if (*at <= ' ' || *at >= 127 || *at == '<' || *at == '>')
            return false;
    return *id && strlen(id) <= LINE_LIMIT;
}

/* The fields, with the Subject from the template's first line. Returns what follows that line and one empty line. */
static const char *append_fields(GString *out, const Notice *notice)
{
    static const char label[] = "Subject: ";
    const char *start = notice->text, *end = start, *body = start;
    if (g_ascii_strncasecmp(start, label, sizeof label - 1) == 0) {
        start += sizeof label - 1;
        end = strchrnul(start, '\n');
        body = *end ? end + 1 : end;
        body += *body == '\r';
        body += *body == '\n';
    }
    g_autofree char *subject = g_strstrip(g_strndup(start, (size_t)(end - start)));
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
    return body;
}

/* The attachment's own fields, and its octets. */
static void append_attached(GPtrArray *pieces, GString *out, const Notice *notice, GBytes *octets)
{
    bool all = notice->attach == NOTICE_MESSAGE;
    g_autoptr(Message) about = message_new(octets);
    g_autoptr(GBytes) wanted = all ? g_bytes_ref(octets) : message_head(about);
    size_t length, most = notice->most;
    const char *text = g_bytes_get_data(wanted, &length);
    if (most == 0 || length <= most) {
        most = length;
    } else { /* up to the end of a line if one is in its second half */
        const char *newline = memrchr(text + most / 2, '\n', most - most / 2);
        most = newline ? (size_t)(newline - text) + 1 : most;
    }
    g_autoptr(GBytes) attached = g_bytes_new_from_bytes(wanted, 0, most);
    g_string_append_printf(out, "Content-Type: %s\r\nContent-Disposition: inline\r\n",
                           all ? "message/rfc822" : "text/rfc822-headers");
    if (most < length)
        g_string_append_printf(out, "Content-Description: the first %zu of %zu octets\r\n", most, length);
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
    const char *text = append_fields(out, notice);
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
