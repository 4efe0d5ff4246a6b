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

/* The kinds of lines that may stand between two mails. */
typedef enum FromLine {
    FROM_NONE,    /* text, or the end */
    FROM_TEXT,    /* it begins with "From ", and reads as text */
    FROM_UNDATED, /* it may stand between mails, if a header field follows it */
    FROM_DATED,   /* "From SENDER TIME" */
} FromLine;

struct MboxReader {
    FILE *stream;
    char *line; /* of getdelim() */
    size_t room;
    GString *octets, *before; /* before: the last line that begins with "From ", while the one behind it is looked at */
    FromLine next;            /* of the From_ line that was read already; FROM_NONE: none was */
    int64_t from_time;        /* its time */
    uint64_t offset, lines;   /* of what was read */
    size_t kept;              /* bytes of line[] that are read once more */
    bool begun;
    GString *doubts; /* their line numbers */
    uint64_t doubtful;
};

MboxReader *mbox_reader_new(FILE *stream)
{
    MboxReader *reader = g_new0(MboxReader, 1);
    reader->stream = stream;
    reader->octets = g_string_new(NULL);
    reader->before = g_string_new(NULL);
    reader->doubts = g_string_new(NULL);
    return reader;
}

void mbox_reader_free(MboxReader *reader)
{
    if (!reader)
        return;
    free(reader->line);
    g_string_free(reader->octets, TRUE);
    g_string_free(reader->before, TRUE);
    g_string_free(reader->doubts, TRUE);
    g_free(reader);
}

uint64_t mbox_reader_doubts(const MboxReader *reader, const char **lines)
{
    *lines = reader->doubts->str;
    return reader->doubtful;
}

/* Reads a part of a line, at most so many bytes; a longer line comes in parts. *length 0: the end. */
static bool read_part(MboxReader *reader, size_t *length, GError **error)
{
    enum { PART = 65536 };
    *length = reader->kept;
    reader->kept = 0;
    if (*length > 0)
        return true;
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
    reader->lines += count > 0 && reader->line[count - 1] == '\n';
    *length = count;
    return !ferror(reader->stream) || fail_errno(error, FAIL_LATER, "read");
}

/* ---- From_ lines ---- */

/* Is it a date, though perhaps one that date_parse() cannot read or that is before 1970? It has a year of four digits,
 * or is like 8/27/23. */
static bool is_date(char *const *words)
{
    static const char days[] = "Sun Mon Tue Wed Thu Fri Sat Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec ";
    bool year = false;
    for (char *const *word = words; *word; word++) {
        /* A number of any form, a day, a month or a zone in letters. */
        size_t length = strlen(*word);
        char start[5];
        g_snprintf(start, sizeof start, "%.3s ", *word);
        if (strspn(*word, "0123456789/:.,+-") != length && strspn(*word, G_CSET_A_2_Z) != length &&
            (length < 3 || !strstr(days, start)))
            return false;
        const char *slash = strpbrk(*word, "/-");
        year |= (strlen(*word) == 4 && strspn(*word, "0123456789") == 4) ||
                (slash && slash > *word && strpbrk(slash + 1, "/-"));
    }
    return year;
}

/* Is the text behind "From ", without a time, one that programs write: nothing, a sender of one word or of the form
 * "anne at example.org", or these and a date of another form? */
static bool is_undated(const char *text)
{
    unsigned count = 0;
    char *words[16];
    g_auto(GStrv) split = g_strsplit(text, " ", -1);
    for (char **word = split; *word; word++) {
        if (**word && count == G_N_ELEMENTS(words) - 1)
            return false;
        if (**word)
            words[count++] = *word;
    }
    words[count] = NULL;
    unsigned sender = count >= 3 && strcmp(words[1], "at") == 0 ? 3 : MIN(count, 1);
    return sender == count || is_date(words + sender) || is_date(words);
}

/* Tell the kind of a line, and its time, or 0 where it has none (RFC 4155, perhaps with a zone: "From anne@example.org
 * Wed Jan  3 11:11:11 2001"). Text may begin so, too, and is no line between mails. */
static FromLine read_from_line(const char *line, size_t length, int64_t *time)
{
    struct tm weekday;
    int64_t seconds;
    int zone;
    *time = 0;
    if (length <= 5 || memcmp(line, "From", 4) != 0 || (line[4] != ' ' && line[4] != '\t'))
        return FROM_NONE;
    if (length > FROM_LINE_MAX || line[length - 1] != '\n' || strlen(line) < length)
        return FROM_TEXT;
    g_autofree char *text = g_strchomp(g_strdelimit(g_strdup(line + 4), "\t", ' '));
    const char *at = text;
    while (at && !strptime(at, " %a ", &weekday)) /* a sender may be "anne at example.org", as in pipermail's files */
        at = strchr(at + 1, ' ');
    bool dated = at && date_parse(at, &seconds, &zone), tab = line[4] == '\t'; /* a tab, which no writer quotes */
    if (dated) {
        *time = seconds * CLOCK_SECOND;
        return tab ? FROM_UNDATED : FROM_DATED;
    }
    if (tab || !is_undated(text))
        return FROM_TEXT;
    for (at = text; at && *time == 0; at = strchr(at + 1, ' '))
        *time = strpbrk(at, "0123456789") && date_parse(at, &seconds, &zone) ? seconds * CLOCK_SECOND : 0;
    return FROM_UNDATED;
}

/* Set reader->next if the line that was read stands between two mails; may: it is where such a line may be. Where the
 * line behind it decides, that is read, too, and kept for read_part(), and the line itself is in `before`, which is
 * else empty. */
static bool find_from_line(MboxReader *reader, bool may, size_t length, GError **error)
{
    int64_t time;
    uint64_t number = reader->lines;
    FromLine form = read_from_line(reader->line, length, &time);
    g_string_truncate(reader->before, 0);
    reader->next = FROM_NONE;
    if (form == FROM_DATED && may) {
        reader->next = form;
        reader->from_time = time;
    }
    if (form == FROM_NONE || reader->next != FROM_NONE || reader->line[length - 1] != '\n')
        return true;
    g_string_append_len(reader->before, reader->line, (gssize)length);
    if (!read_part(reader, &reader->kept, error))
        return false;
    const char *name = reader->line, *end = name + reader->kept;
    while (name < end && *name > ' ' && *name < 127 && *name != ':')
        name++;
    if (name == reader->line || name == end || *name != ':') /* no field: the line is text */
        return true;
    if (may && form == FROM_UNDATED) {
        reader->next = form;
        reader->from_time = time;
    } else if (reader->doubtful++ < 10) { /* the first ten that are taken as text are named */
        g_string_append_printf(reader->doubts, "%s%" G_GUINT64_FORMAT, reader->doubts->len ? ", " : "", number);
    } else if (reader->doubtful == 11) {
        g_string_append(reader->doubts, ", ...");
    }
    return true;
}

/* ---- mails ---- */

static bool is_empty(const char *line, size_t length)
{
    return (length == 1 && line[0] == '\n') || (length == 2 && line[0] == '\r' && line[1] == '\n');
}

bool mbox_reader_next(MboxReader *reader, MboxMail *mail, GError **error)
{
    size_t length;
    *mail = (MboxMail){0};
    if (!reader->begun) { /* the line before the first mail, perhaps behind a byte order mark and empty lines */
        reader->begun = true;
        if (!read_part(reader, &length, error))
            return false;
        if (length >= 3 && memcmp(reader->line, "\xef\xbb\xbf", 3) == 0)
            memmove(reader->line, reader->line + 3, (length -= 3) + 1);
        while (length > 0 && is_empty(reader->line, length))
            if (!read_part(reader, &length, error))
                return false;
        if (length > 0 && !find_from_line(reader, true, length, error))
            return false;
        if (length > 0 && reader->next == FROM_NONE)
            return fail(error, FAIL_NEVER, "it is no mbox: it does not begin with a line \"From SENDER TIME\"");
    }
    if (reader->next == FROM_NONE)
        return true;
    GString *octets = mail->octets = reader->octets;
    mail->from_time = reader->from_time;
    reader->next = FROM_NONE;
    g_string_truncate(octets, 0);
    for (bool begins = true, empty = false;;) {
        mail->offset = reader->offset - reader->kept;
        if (!read_part(reader, &length, error) ||
            (begins && length > 0 && !find_from_line(reader, empty, length, error)))
            return false;
        if (length == 0 || reader->next != FROM_NONE)
            break;
        const char *line = reader->before->len > 0 && begins ? reader->before->str : reader->line;
        bool whole = line[length - 1] == '\n';
        empty = begins && is_empty(line, length);
        /* Without the CR of the line's end and one '>' before "From ". */
        bool quoted = begins && *line == '>' && quoted_from(line, line + length);
        size_t ending = whole + (whole && length - quoted > 1 && line[length - 2] == '\r');
        begins = whole;
        if (octets->len + length - quoted > MBOX_MAIL_MAX) {
            mail->cut = true;
            continue;
        }
        g_string_append_len(octets, line + quoted, (gssize)(length - quoted - ending));
        if (whole)
            g_string_append_c(octets, '\n');
    }
    /* The empty line before the next From_ line, or at the end, is none of the mail's. */
    bool blank = octets->len == 1 || (octets->len >= 2 && octets->str[octets->len - 2] == '\n');
    if (blank && octets->str[octets->len - 1] == '\n')
        g_string_truncate(octets, octets->len - 1);
    return true;
}
