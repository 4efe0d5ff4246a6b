/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "net/smtp_reply.h"

#include <string.h>

void smtp_reply_init(SmtpReply *reply)
{
    reply->code = 0;
    reply->status[0] = '\0';
    reply->has_status = false;
    reply->text[0] = '\0';
    reply->text_length = 0;
    reply->finished = false;
    reply->started = false;
    reply->octets = 0;
    reply->line_length = 0;
}

/* The length of an enhanced status code at the start of text, followed by a
 * blank or the end; 0 when there is none. */
static size_t status_length(const char *text, size_t length)
{
    if (length < 5 || (text[0] != '2' && text[0] != '4' && text[0] != '5'))
        return 0;
    size_t at = 1;
    for (int part = 0; part < 2; part++) {
        if (at >= length || text[at] != '.')
            return 0;
        size_t digits = 0;
        for (at++; at < length && g_ascii_isdigit(text[at]); at++)
            digits++;
        if (digits < 1 || digits > 3)
            return 0;
    }
    return at == length || text[at] == ' ' ? at : 0;
}

static void keep_text(SmtpReply *reply, const char *text, size_t length)
{
    size_t left = SMTP_REPLY_TEXT_MAX - reply->text_length;
    char *to = reply->text + reply->text_length;
    while (length > 0 && left > 0) {
        unsigned char first = (unsigned char)*text;
        size_t size = 1;
        if (first < ' ' || first >= 127) { /* the bytes of a UTF-8 character; 0: it is none */
            gunichar character = g_utf8_get_char_validated(text, (gssize)length);
            bool none = character == (gunichar)-1 || character == (gunichar)-2 || g_unichar_iscntrl(character);
            size = none ? 0 : (size_t)g_unichar_to_utf8(character, NULL);
        }
        if (size > left)
            break;
        if (size == 0) {
            *to = first == '\t' ? ' ' : '?';
            size = 1;
        } else {
            memcpy(to, text, size);
        }
        to += size;
        text += size;
        length -= size;
        left -= size;
    }
    *to = '\0';
    reply->text_length = (size_t)(to - reply->text);
}

/* One line without its line end. */
static SmtpReplyState take_line(SmtpReply *reply, const char *line, size_t length)
{
    if (length > 0 && line[length - 1] == '\r')
        length--;
    if (length < 3 || line[0] < '1' || line[0] > '5' || !g_ascii_isdigit(line[1]) || !g_ascii_isdigit(line[2]))
        return SMTP_REPLY_BROKEN;
    if (length > 3 && line[3] != '-' && line[3] != ' ')
        return SMTP_REPLY_BROKEN;
    reply->code = (unsigned)(line[0] - '0') * 100 + (unsigned)(line[1] - '0') * 10 + (unsigned)(line[2] - '0');
    if (reply->started && reply->text_length < SMTP_REPLY_TEXT_MAX) {
        reply->text[reply->text_length++] = '\n';
        reply->text[reply->text_length] = '\0';
    }
    reply->started = true;
    if (length > 4) {
        size_t status = status_length(line + 4, length - 4);
        if (status > 0) {
            memcpy(reply->status, line + 4, status);
            reply->status[status] = '\0';
            reply->has_status = true;
        }
        keep_text(reply, line + 4, length - 4);
    }
    if (length > 3 && line[3] == '-')
        return SMTP_REPLY_MORE;
    /* A server's enhanced code is believed only when it agrees with the code. */
    if (!reply->has_status || reply->status[0] != line[0]) {
        reply->has_status = false;
        memcpy(reply->status, "0.0.0", 6);
        reply->status[0] = line[0];
    }
    reply->finished = true;
    return SMTP_REPLY_DONE;
}

/* Keeps a part of a line until the rest comes. */
static void keep_part(SmtpReply *reply, const char *data, size_t length)
{
    size_t room = SMTP_REPLY_LINE_MAX - reply->line_length;
    size_t kept = MIN(room, length);
    memcpy(reply->line + reply->line_length, data, kept);
    reply->line_length += kept;
}

SmtpReplyState smtp_reply_feed(SmtpReply *reply, const char *data, size_t length, size_t *used)
{
    if (reply->finished)
        smtp_reply_init(reply);
    *used = 0;
    while (*used < length) {
        const char *start = data + *used;
        const char *end = memchr(start, '\n', length - *used);
        size_t size = end ? (size_t)(end - start) : length - *used;
        *used += size + (end ? 1 : 0);
        reply->octets += size + (end ? 1 : 0);
        if (reply->octets > SMTP_REPLY_OCTETS_MAX)
            return SMTP_REPLY_BROKEN;
        if (!end) {
            keep_part(reply, start, size);
            return SMTP_REPLY_MORE;
        }
        if (reply->line_length > 0) {
            keep_part(reply, start, size);
            start = reply->line;
            size = reply->line_length;
            reply->line_length = 0;
        }
        SmtpReplyState state = take_line(reply, start, MIN(size, SMTP_REPLY_LINE_MAX));
        if (state != SMTP_REPLY_MORE)
            return state;
    }
    return SMTP_REPLY_MORE;
}

char *smtp_reply_print(const SmtpReply *reply)
{
    GString *line = g_string_new(NULL);
    g_string_append_printf(line, "%03u", reply->code);
    size_t status = strlen(reply->status);
    bool first = true;
    for (const char *at = reply->text; *at;) {
        size_t length = strcspn(at, "\n");
        const char *part = at;
        at += length + (at[length] == '\n' ? 1 : 0);
        if (!first && reply->has_status && length > status && part[status] == ' ' &&
            strncmp(part, reply->status, status) == 0) {
            part += status + 1;
            length -= status + 1;
        }
        first = false;
        if (length > 0) {
            g_string_append_c(line, ' ');
            g_string_append_len(line, part, (gssize)length);
        }
    }
    return g_string_free(line, FALSE);
}
