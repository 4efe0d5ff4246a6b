/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/sources/source_read.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/secret_file.h"
#include "lists/people/member_line.h"

#define LOOK 1000          /* lines after which the run is asked whether it goes on */
#define TEXT_SHOWN 100     /* bytes of a bad line */
#define LINES_MOST 5000000 /* a query may give rows without an end */

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

/* Return the begin of a text in whole characters, with blanks for control characters. g_free() */
static char *head_of(const char *text)
{
    size_t length = strnlen(text, TEXT_SHOWN + 1);
    if (length > TEXT_SHOWN)
        for (length = TEXT_SHOWN; length > TEXT_SHOWN - 3 && ((unsigned char)text[length] & 0xc0) == 0x80;)
            length--;
    g_autofree char *valid = g_utf8_make_valid(text, (gssize)length);
    g_autoptr(GString) head = g_string_new(NULL);
    for (const char *at = valid; *at; at = g_utf8_next_char(at)) {
        gunichar character = g_utf8_get_char(at);
        g_string_append_unichar(head, g_unichar_iscntrl(character) ? ' ' : character);
    }
    return g_string_free(g_steal_pointer(&head), FALSE);
}

/* Counts a bad line, and keeps what of it a person needs to find it. */
static void note_bad(SourceReading *reading, const char *text)
{
    if (++reading->bad > SOURCE_BAD_SHOWN)
        return;
    g_autofree char *head = head_of(text);
    g_string_append_printf(reading->bad_lines, "%s%" G_GUINT64_FORMAT ": %s", reading->bad_lines->len > 0 ? "\n" : "",
                           reading->number > 0 ? reading->number : (uint64_t)reading->lines, head);
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

/* A text file ends in a line end; one that does not is still being written, or was cut. */
static bool check_end(int fd, const struct stat *status, GError **error)
{
    char last;
    if (status->st_size == 0)
        return true;
    if (pread(fd, &last, 1, status->st_size - 1) != 1)
        return fail_errno(error, FAIL_LATER, "cannot read its end");
    return last == '\n' || fail(error, FAIL_LATER,
                                "its last line has no end, so it is not whole: somebody writes it "
                                "now, or it was cut; end it with a line end");
}

static bool same(const struct stat *one, const struct stat *other)
{
    return one->st_ino == other->st_ino && one->st_size == other->st_size &&
           one->st_mtim.tv_sec == other->st_mtim.tv_sec && one->st_mtim.tv_nsec == other->st_mtim.tv_nsec;
}

static bool read_file(SourceReading *reading, GError **error)
{
    struct stat before, after;
    const char *path = reading->source->place;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    g_autoptr(FILE) file = fd >= 0 ? fdopen(fd, "r") : NULL;
    if (!file || fstat(fd, &before) < 0)
        return fail_errno(error, errno == ENOENT ? FAIL_MISSING : FAIL_LATER, "cannot read it");
    if (!S_ISREG(before.st_mode))
        return fail(error, FAIL_CONFIG, "it is no file");
    if (!check_end(fd, &before, error) || !source_reading_lines(reading, file, error))
        return false;
    if (fstat(fd, &after) < 0)
        return fail_errno(error, FAIL_LATER, "cannot look at it");
    return same(&before, &after) || fail(error, FAIL_LATER, "it was changed while it was read");
}

static bool read_list(SourceReading *reading, GError **error)
{
    return source_stage_add_list(reading->stage, reading->source->place, error);
}

static SourceRead *const readers[] = {
    [SOURCE_FILE] = read_file,      [SOURCE_URL] = source_read_url,   [SOURCE_LIST] = read_list,
    [SOURCE_SQL] = source_read_sql, [SOURCE_LDAP] = source_read_ldap,
};

/* Neither an error of a library nor one of a server shows a password that it repeats, as it is or as a part of a URL;
 * and the database takes it, whatever bytes the server sent. */
static void clean(const char *password, GError *fault)
{
    g_autofree char *valid = g_utf8_make_valid(fault->message, -1);
    g_autofree char *escaped = password ? g_uri_escape_string(password, NULL, FALSE) : NULL;
    g_autoptr(GString) message = g_string_new(valid);
    if (password) {
        g_string_replace(message, password, "***", 0);
        g_string_replace(message, escaped, "***", 0);
    }
    g_free(fault->message);
    fault->message = g_string_free(g_steal_pointer(&message), FALSE);
}

/* Also a path that was set before the setting was, or that leads elsewhere now. */
static bool may_read(const SourceRun *run, const MemberSource *source, GError **error)
{
    bool file = *source->place == '/' && (source->kind == SOURCE_FILE || source->kind == SOURCE_SQL);
    return (!file || source_may_read(run->site, source->place, FAIL_CONFIG, error)) &&
           (!source->password_file || source_may_read(run->site, source->password_file, FAIL_CONFIG, error));
}

bool source_read(const SourceRun *run, const MemberSource *source, SourceStage *stage, SourceResult *result,
                 GError **error)
{
    if (!may_read(run, source, error))
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
    clean(password, fault);
    g_propagate_prefixed_error(error, g_steal_pointer(&fault), "%s: ", shown);
    return false;
}
