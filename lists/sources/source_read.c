/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/sources/source_read.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/secret.h"
#include "lists/people/member_line.h"
#include "net/http_client.h"
#include "store/moving/foreign.h"
#include "store/place.h"

#define LOOK 1000          /* lines after which the run is asked whether it goes on */
#define TEXT_SHOWN 100     /* bytes of a bad line */
#define LINES_MOST 5000000 /* a query may give rows without an end */
#define URL_PATIENCE (5 * 60 * CLOCK_SECOND)
#define BODY_MAX (64 * 1024 * 1024) /* bytes of a page: some million addresses */

G_DEFINE_AUTOPTR_CLEANUP_FUNC(FILE, fclose)

bool source_reading_goes_on(const SourceReading *reading, GError **error)
{
    const SourceRun *run = reading->run;
    return !run->alive || run->alive(run->data) ||
           fail(error, FAIL_LATER, "the reading was ended, for this process stops");
}

static bool count_line(SourceReading *reading, GError **error)
{
    if (++reading->lines > LINES_MOST)
        return fail(error, FAIL_CONFIG, "it gives more than %d addresses", LINES_MOST);
    return reading->lines % LOOK != 0 || source_reading_goes_on(reading, error);
}

/* Count a bad line, and keep what of it a person needs to find it: its begin in whole characters, with blanks for
 * control characters. */
static void note_bad(SourceReading *reading, const char *text)
{
    if (++reading->bad > SOURCE_BAD_SHOWN)
        return;
    size_t length = strnlen(text, TEXT_SHOWN + 1);
    if (length > TEXT_SHOWN)
        for (length = TEXT_SHOWN; length > TEXT_SHOWN - 3 && ((unsigned char)text[length] & 0xc0) == 0x80;)
            length--;
    g_autofree char *valid = g_utf8_make_valid(text, (gssize)length);
    g_string_append_printf(reading->bad_lines, "%s%" G_GUINT64_FORMAT ": ", reading->bad_lines->len > 0 ? "\n" : "",
                           reading->number > 0 ? reading->number : (uint64_t)reading->lines);
    for (const char *at = valid; *at; at = g_utf8_next_char(at)) {
        gunichar character = g_utf8_get_char(at);
        g_string_append_unichar(reading->bad_lines, g_unichar_iscntrl(character) ? ' ' : character);
    }
}

bool source_reading_add(SourceReading *reading, const char *address, const char *name, GError **error)
{
    g_autoptr(GError) refusal = NULL;
    if (!count_line(reading, error))
        return false;
    if (source_stage_add(reading->stage, address, name, &refusal))
        return true;
    if (!g_error_matches(refusal, FAIL, FAIL_NEVER))
        return fail_with(error, &refusal);
    note_bad(reading, reading->text ? reading->text : address);
    return true;
}

bool source_reading_lines(SourceReading *reading, FILE *file, GError **error)
{
    g_autoptr(MemberLines) lines = member_lines_new(file);
    for (;;) {
        g_auto(MemberLine) line = {0};
        g_autoptr(GError) refusal = NULL;
        bool fine = member_lines_next(lines, &line, &refusal);
        reading->number = line.number;
        reading->text = member_lines_text(lines);
        if (!fine) {
            if (!g_error_matches(refusal, FAIL, FAIL_NEVER))
                return fail_with(error, &refusal);
            if (!count_line(reading, error))
                return false;
            note_bad(reading, reading->text);
            continue;
        }
        if (line.last)
            return true;
        if (line.rank == RANK_NONE) /* of that group, so not of this list either */
            continue;
        if (!source_reading_add(reading, line.address, line.display_name, error))
            return false;
    }
}

/* ---- a file ---- */

static bool read_file(SourceReading *reading, GError **error)
{
    struct stat before, after;
    char last = '\n';
    const char *path = reading->source->place;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    g_autoptr(FILE) file = fd >= 0 ? fdopen(fd, "r") : NULL;
    if (!file || fstat(fd, &before) < 0)
        return fail_errno(error, errno == ENOENT ? FAIL_MISSING : FAIL_LATER, "cannot read it");
    if (!S_ISREG(before.st_mode))
        return fail(error, FAIL_CONFIG, "it is no file");
    if (before.st_size > 0 && pread(fd, &last, 1, before.st_size - 1) != 1)
        return fail_errno(error, FAIL_LATER, "cannot read its end");
    if (last != '\n')
        return fail(error, FAIL_LATER,
                    "its last line has no end, so it is not whole: somebody writes it "
                    "now, or it was cut; end it with a line end");
    if (!source_reading_lines(reading, file, error))
        return false;
    if (fstat(fd, &after) < 0)
        return fail_errno(error, FAIL_LATER, "cannot look at it");
    bool same = before.st_ino == after.st_ino && before.st_size == after.st_size &&
                before.st_mtim.tv_sec == after.st_mtim.tv_sec && before.st_mtim.tv_nsec == after.st_mtim.tv_nsec;
    return same || fail(error, FAIL_LATER, "it was changed while it was read");
}

/* ---- a URL: the same lines as in a file, from a web server ---- */

static bool read_url(SourceReading *reading, GError **error)
{
    const SourceRun *run = reading->run;
    const HttpRequest request = {.url = reading->source->place,
                                 .user = reading->source->bind_dn,
                                 .password = reading->password,
                                 .timeout = URL_PATIENCE,
                                 .answer_max = BODY_MAX,
                                 .alive = run->alive,
                                 .data = run->data};
    g_auto(HttpAnswer) answer = {0};
    g_autoptr(GError) fault = NULL;
    if (!http_get(&request, &answer, &fault)) {
        g_autofree char *shown = source_shown(reading->source);
        g_autoptr(GString) message = g_string_new(fault->message);
        g_string_replace(message, reading->source->place, shown, 0);
        return fail(error, fault->code, "%s", message->str);
    }
    if (answer.status != 200)
        return fail(error, answer.status >= 500 ? FAIL_LATER : FAIL_CONFIG, "the server answered %ld", answer.status);
    if (answer.cut)
        return fail(error, FAIL_CONFIG, "it is longer than %d bytes", BODY_MAX);
    GString *body = answer.body;
    if (body->len == 0)
        return true;
    if (body->str[body->len - 1] != '\n')
        return fail(error, FAIL_LATER, "the last line of the answer has no end, so it is not whole");
    g_autoptr(FILE) file = fmemopen(body->str, body->len, "r");
    return file ? source_reading_lines(reading, file, error) : fail_errno(error, FAIL_LATER, "cannot read the answer");
}

/* ---- a database: the first column of a query is the address, the second, if there is one, the name ---- */

static bool read_sql(SourceReading *reading, GError **error)
{
    const char *place = reading->source->place, *password = reading->password;
    g_autofree char *where = password ? store_place_with_password(place, password) : g_strdup(place);
    g_autoptr(Foreign) foreign = foreign_open(where, error);
    g_autoptr(ForeignRows) rows = foreign ? foreign_query_as_is(foreign, reading->source->query, error) : NULL;
    bool more = rows != NULL;
    while (more && foreign_next(rows, &more, error)) {
        if (!more)
            return true;
        const char *address = foreign_text(rows, 0), *name = foreign_columns(rows) > 1 ? foreign_text(rows, 1) : NULL;
        bool valid = name && *name && g_utf8_validate(name, -1, NULL);
        if (address && !source_reading_add(reading, address, valid ? name : NULL, error))
            return false;
    }
    return false;
}

/* ---- all kinds ---- */

static bool read_list(SourceReading *reading, GError **error)
{
    return source_stage_add_list(reading->stage, reading->source->place, error);
}

static SourceRead *const readers[] = {
    [SOURCE_FILE] = read_file, [SOURCE_URL] = read_url,          [SOURCE_LIST] = read_list,
    [SOURCE_SQL] = read_sql,   [SOURCE_LDAP] = source_read_ldap,
};

bool source_read(const SourceRun *run, const MemberSource *source, SourceStage *stage, SourceResult *result,
                 GError **error)
{
    /* Asked again here, for a path may have been set before the setting was, or lead elsewhere now. */
    bool file = *source->place == '/' && (source->kind == SOURCE_FILE || source->kind == SOURCE_SQL);
    if ((file && !source_may_read(run->site, source->place, FAIL_CONFIG, error)) ||
        (source->password_file && !source_may_read(run->site, source->password_file, FAIL_CONFIG, error)))
        return false;
    g_autofree char *shown = source_shown(source);
    g_autofree char *password = source->password_file ? secret_file_line(source->password_file, error) : NULL;
    g_autoptr(GString) bad_lines = g_string_new(NULL);
    SourceReading reading = {
        .run = run, .source = source, .stage = stage, .password = password, .bad_lines = bad_lines};
    g_autoptr(GError) fault = NULL;
    if (source->password_file && !password)
        return false;
    bool whole = readers[source->kind](&reading, &fault);
    result->bad = reading.bad;
    result->bad_lines = bad_lines->len > 0 ? g_strdup(bad_lines->str) : NULL;
    if (whole && reading.bad > 0 && reading.bad == reading.lines)
        whole = fail(&fault, FAIL_CONFIG, "of %" G_GINT64_FORMAT " lines none is an address", reading.lines);
    if (whole)
        return true;

    /* Neither an error of a library nor one of a server shows a password that it repeats, as it is or as a part of a
     * URL; and the database takes the message, whatever bytes the server sent. */
    g_autofree char *valid = g_utf8_make_valid(fault->message, -1);
    g_autofree char *escaped = password ? g_uri_escape_string(password, NULL, FALSE) : NULL;
    g_autoptr(GString) message = g_string_new(valid);
    if (password) {
        g_string_replace(message, password, "***", 0);
        g_string_replace(message, escaped, "***", 0);
    }
    return fail(error, fault->code, "%s: %s", shown, message->str);
}
