/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/mbox.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/fail.h"
#include "mail/date.h"

#define FROM_LINE_MAX 1000 /* bytes of a From_ line that are looked at */

/* ---- writing ---- */

static bool quoted_from(const char *line, const char *end)
{
    while (line < end && *line == '>')
        line++;
    return end - line >= 5 && memcmp(line, "From ", 5) == 0;
}

void mbox_append(GString *text, const char *sender, int64_t arrival, const char *octets, size_t length)
{
    g_autofree char *shown = g_strdup(*sender != '\0' ? sender : "MAILER-DAEMON");
    time_t seconds = (time_t)(arrival / CLOCK_SECOND);
    struct tm broken;
    char date[64];
    for (char *at = shown; *at != '\0'; at++) /* one word of ASCII, for all who read it */
        *at = g_ascii_isgraph(*at) ? *at : '_';
    gmtime_r(&seconds, &broken);
    strftime(date, sizeof date, "%a %b %e %H:%M:%S %Y", &broken);
    g_string_append_printf(text, "From %s %s\n", shown, date);
    const char *end = octets + length;
    for (const char *line = octets; line < end;) {
        const char *feed = memchr(line, '\n', (size_t)(end - line));
        const char *next = feed != NULL ? feed + 1 : end;
        if (quoted_from(line, end))
            g_string_append_c(text, '>');
        g_string_append_len(text, line, next - line);
        line = next;
    }
    g_string_append(text, length > 0 && end[-1] != '\n' ? "\n\n" : "\n");
}

/* ---- reading ---- */

struct MboxReader {
    FILE *stream;
    char *line; /* of getdelim() */
    size_t room;
    GString *octets;
    int64_t from_time; /* of the From_ line that was read already; 0: none was */
    uint64_t offset;
    bool begun;
};

MboxReader *mbox_reader_new(FILE *stream)
{
    MboxReader *reader = g_new0(MboxReader, 1);
    reader->stream = stream;
    reader->octets = g_string_new(NULL);
    return reader;
}

void mbox_reader_free(MboxReader *reader)
{
    if (!reader)
        return;
    free(reader->line);
    g_string_free(reader->octets, TRUE);
    g_free(reader);
}

/* Reads a part of a line, at most so many bytes; a longer line comes in parts. *length 0: the end. */
static bool read_part(MboxReader *reader, size_t *length, GError **error)
{
    enum { PART = 65536 };
    if (!reader->line)
        reader->line = malloc(reader->room = PART);
    if (!reader->line)
        return fail(error, FAIL_LATER, "out of memory");
    size_t count = 0;
    for (int byte; count < PART - 1 && (byte = getc_unlocked(reader->stream)) != EOF;) {
        reader->line[count++] = (char)byte;
        if (byte == '\n')
            break;
    }
    reader->line[count] = '\0';
    reader->offset += count;
    *length = count;
    return !ferror(reader->stream) || fail_errno(error, FAIL_LATER, "read");
}

/* The time of a From_ line (RFC 4155: "From anne@example.org Wed Jan  3 11:11:11 2001", perhaps with a zone), 0 for
 * another line: text may begin so, too, and is no line between mails. */
static int64_t from_line_time(const char *line, size_t length)
{
    if (length < 10 || length > FROM_LINE_MAX || memcmp(line, "From ", 5) != 0)
        return 0;
    struct tm weekday;
    int64_t seconds;
    int zone;
    const char *at = strchr(line + 5, ' ');
    while (at && !strptime(at, " %a ", &weekday)) /* a sender may be "anne at example.org", as in pipermail's files */
        at = strchr(at + 1, ' ');
    return at && date_parse(at, &seconds, &zone) ? seconds * CLOCK_SECOND : 0;
}

/* Adds a part of a line, without the CR of its end and one '>' before "From ". */
static void add_part(MboxReader *reader, size_t length, bool begins, bool *cut)
{
    const char *line = reader->line;
    bool whole = length > 0 && line[length - 1] == '\n';
    if (begins && *line == '>' && quoted_from(line, line + length)) {
        line++;
        length--;
    }
    bool crlf = whole && length > 1 && line[length - 2] == '\r';
    if (reader->octets->len + length > MBOX_MAIL_MAX) {
        *cut = true;
        return;
    }
    g_string_append_len(reader->octets, line, (gssize)(length - (whole ? 1u + crlf : 0)));
    if (whole)
        g_string_append_c(reader->octets, '\n');
}

static bool is_empty(const char *line, size_t length)
{
    return (length == 1 && line[0] == '\n') || (length == 2 && line[0] == '\r' && line[1] == '\n');
}

/* The line before the first mail. */
static bool begin(MboxReader *reader, GError **error)
{
    size_t length = 1;
    reader->begun = true;
    do {
        if (!read_part(reader, &length, error))
            return false;
    } while (length > 0 && is_empty(reader->line, length));
    reader->from_time = from_line_time(reader->line, length);
    return length == 0 || reader->from_time != 0 ||
           fail(error, FAIL_NEVER, "it is no mbox: it does not begin with a line \"From SENDER TIME\"");
}

/* The empty line before the next From_ line, or at the end, is none of the mail's. */
static void drop_last_line(GString *octets)
{
    bool empty = octets->len == 1 || (octets->len >= 2 && octets->str[octets->len - 2] == '\n');
    if (empty && octets->str[octets->len - 1] == '\n')
        g_string_truncate(octets, octets->len - 1);
}

bool mbox_reader_next(MboxReader *reader, MboxMail *mail, GError **error)
{
    *mail = (MboxMail){0};
    if (!reader->begun && !begin(reader, error))
        return false;
    if (reader->from_time == 0)
        return true;
    mail->from_time = reader->from_time;
    mail->octets = reader->octets;
    reader->from_time = 0;
    g_string_truncate(reader->octets, 0);
    bool begins = true, empty = false;
    for (size_t length;;) {
        mail->offset = reader->offset;
        if (!read_part(reader, &length, error))
            return false;
        reader->from_time = begins && empty ? from_line_time(reader->line, length) : 0;
        if (length == 0 || reader->from_time != 0)
            break;
        add_part(reader, length, begins, &mail->cut);
        empty = begins && is_empty(reader->line, length);
        begins = reader->line[length - 1] == '\n';
    }
    drop_last_line(reader->octets);
    return true;
}
