/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/queues/message_text.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/plain.h"
#include "mail/message.h"
#include "mail/transfer.h"

static void write_octets(GBytes *octets)
{
    gsize size;
    const void *data = g_bytes_get_data(octets, &size);
    if (size == 0)
        return;
    if (isatty(STDOUT_FILENO)) { /* a stranger wrote it */
        g_autofree char *shown = plain_message(data, size);
        fputs(shown, stdout);
    } else {
        fwrite(data, 1, size, stdout);
    }
}

void message_text_write(GBytes *octets, bool header, bool body)
{
    g_autoptr(Message) message = message_new(octets);
    g_autoptr(GBytes) head = message_head(message);
    g_autoptr(GBytes) rest = message_body(message);
    if (header)
        write_octets(head);
    if (body)
        write_octets(rest);
}

static const char *next_line(const char *at, const char *end)
{
    const char *feed = memchr(at, '\n', (size_t)(end - at));
    return feed ? feed + 1 : end;
}

/* "From " and, somewhere in the line, a time of day: bodies have lines that
 * begin with the word, too. */
static bool from_line(const char *at, const char *end)
{
    if (end - at < 5 || memcmp(at, "From ", 5) != 0)
        return false;
    const char *stop = next_line(at, end);
    for (const char *digit = at + 5; digit + 4 < stop; digit++)
        if (g_ascii_isdigit(digit[0]) && g_ascii_isdigit(digit[1]) && digit[2] == ':' && g_ascii_isdigit(digit[3]) &&
            g_ascii_isdigit(digit[4]))
            return true;
    return false;
}

static bool empty_line(const char *at, const char *end)
{
    return at < end && (*at == '\n' || (*at == '\r' && at + 1 < end && at[1] == '\n'));
}

/* The next From line after an empty line, or the end; *stop is where the
 * message before it ends (the empty line is the mbox's). */
static const char *find_from(const char *at, const char *end, const char **stop)
{
    while (at < end) {
        const char *next = next_line(at, end);
        if (empty_line(at, end) && from_line(next, end)) {
            *stop = at;
            return next;
        }
        at = next;
    }
    *stop = end;
    return end;
}

bool mbox_next(Mbox *mbox, GBytes **message, char **sender)
{
    while (empty_line(mbox->at, mbox->end))
        mbox->at = next_line(mbox->at, mbox->end);
    if (mbox->at >= mbox->end)
        return false;
    const char *at = next_line(mbox->at, mbox->end), *stop;
    const char *word = mbox->at + 5;
    *sender = g_strndup(word, strcspn(word, " \t\r\n"));
    mbox->at = find_from(at, mbox->end, &stop);
    if (mbox->at == mbox->end && stop - at >= 2 && stop[-1] == '\n') {
        /* The last message has its closing empty line, too. */
        const char *blank = stop[-2] == '\r' ? stop - 2 : stop - 1;
        if (blank > at && blank[-1] == '\n')
            stop = blank;
    }
    GByteArray *wire = g_byte_array_sized_new((guint)(stop - at) + 1);
    while (at < stop) {
        const char *next = next_line(at, stop), *quote = at;
        while (quote < next && *quote == '>')
            quote++;
        bool quoted = quote > at && next - quote >= 5 && memcmp(quote, "From ", 5) == 0;
        wire_append(wire, at + quoted, (size_t)(next - at - quoted));
        at = next;
    }
    *message = wire_end(wire);
    return true;
}

bool mbox_begins(const char *octets, size_t length, bool many)
{
    const char *end = octets + length, *stop;
    if (!octets || !from_line(octets, end))
        return false;
    return !many || find_from(next_line(octets, end), end, &stop) < end;
}
