/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/member_line.h"

#include <string.h>

#include "base/fail.h"
#include "mail/header.h"

#define GROUP_TITLE "Members for group " /* the first line of a file of Google Groups, before that with the names */

typedef enum MemberField {
    FIELD_IGNORED,
    FIELD_ADDRESS,
    FIELD_NICKNAME,  /* of these three only the last kind that a file has counts */
    FIELD_NAME_PART, /* the first or the last name */
    FIELD_NAME,
    FIELD_MODE,
    FIELD_STATUS
} MemberField;

struct MemberLines {
    FILE *file;
    uint64_t number, bytes;
    bool begun;
    char delimiter;  /* 0: no CSV */
    GArray *columns; /* of MemberField */
    char text[MEMBER_LINE_MAX + 1];
};

/* Titles of columns, as title_key() has them. "E-mail 1 - Value" is that of Google's contacts. */
static const struct {
    const char *title;
    MemberField field;
} titles[] = {
    {"address", FIELD_ADDRESS},      {"email", FIELD_ADDRESS},       {"emailaddress", FIELD_ADDRESS},
    {"email1value", FIELD_ADDRESS},  {"displayname", FIELD_NAME},    {"name", FIELD_NAME},
    {"nickname", FIELD_NICKNAME},    {"firstname", FIELD_NAME_PART}, {"givenname", FIELD_NAME_PART},
    {"lastname", FIELD_NAME_PART},   {"familyname", FIELD_NAME_PART}, {"deliverymode", FIELD_MODE},
    {"deliverystatus", FIELD_STATUS},
};

void member_line_clear(MemberLine *line)
{
    g_clear_pointer(&line->address, g_free);
    g_clear_pointer(&line->display_name, g_free);
    line->own = preferences_unset;
    line->last = false;
}

MemberLines *member_lines_new(FILE *file)
{
    MemberLines *lines = g_new0(MemberLines, 1);
    lines->file = file;
    lines->columns = g_array_new(FALSE, FALSE, sizeof(MemberField));
    return lines;
}

void member_lines_free(MemberLines *lines)
{
    if (!lines)
        return;
    g_array_unref(lines->columns);
    g_free(lines);
}

uint64_t member_lines_bytes(const MemberLines *lines)
{
    return lines->bytes;
}

const char *member_lines_text(const MemberLines *lines)
{
    return lines->text;
}

/* Reads a line into lines->text, without its end. *end: nothing was left. */
static bool read_line(MemberLines *lines, bool *end, GError **error)
{
    size_t length = 0;
    bool zero = false;
    int c;
    while ((c = getc_unlocked(lines->file)) != EOF && c != '\n') {
        lines->bytes++;
        zero = zero || c == '\0';
        if (length <= MEMBER_LINE_MAX)
            lines->text[MIN(length, MEMBER_LINE_MAX)] = (char)c;
        length++;
    }
    if (c == EOF && ferror(lines->file))
        return fail_errno(error, FAIL_LATER, "cannot read on");
    *end = c == EOF && length == 0;
    if (*end)
        return true;
    lines->bytes += c == '\n';
    lines->number++;
    if (length > MEMBER_LINE_MAX)
        return fail(error, FAIL_NEVER, "longer than %d bytes", MEMBER_LINE_MAX);
    if (length > 0 && lines->text[length - 1] == '\r')
        length--;
    lines->text[length] = '\0';
    if (zero || !g_utf8_validate(lines->text, (gssize)length, NULL))
        return fail(error, FAIL_NEVER, zero ? "holds a NUL byte" : "not UTF-8");
    if (lines->number == 1 && g_str_has_prefix(lines->text, "\xef\xbb\xbf"))
        memmove(lines->text, lines->text + 3, length - 2);
    return true;
}

/* Takes one quoted field, at pointing behind its opening quote. */
static const char *take_quoted(const char *at, GString *field, GError **error)
{
    for (; *at && !(at[0] == '"' && at[1] != '"'); at++) {
        g_string_append_c(field, *at);
        if (*at == '"')
            at++;
    }
    if (*at == '"')
        return at + 1;
    fail(error, FAIL_NEVER, "a quoted field is not closed on its line");
    return NULL;
}

/* Splits a CSV line; NULL with FAIL_NEVER when its quotes are wrong. */
static GPtrArray *split(const char *text, char delimiter, GError **error)
{
    g_autoptr(GPtrArray) fields = g_ptr_array_new_with_free_func(g_free);
    for (const char *at = text;; at++) {
        g_autoptr(GString) field = g_string_new(NULL);
        while (*at == ' ')
            at++;
        if (*at == '"') {
            at = take_quoted(at + 1, field, error);
            if (!at)
                return NULL;
            while (*at == ' ')
                at++;
            if (*at && *at != delimiter) {
                fail(error, FAIL_NEVER, "text after a closing quote");
                return NULL;
            }
        } else
            for (; *at && *at != delimiter; at++)
                g_string_append_c(field, *at);
        g_ptr_array_add(fields, g_strstrip(g_string_free(g_steal_pointer(&field), FALSE)));
        if (!*at)
            return g_steal_pointer(&fields);
    }
}

/* "E-mail Address" is "emailaddress". g_free() */
static char *title_key(const char *title)
{
    GString *key = g_string_new(NULL);
    for (; *title; title++)
        if (g_ascii_isalnum(*title))
            g_string_append_c(key, g_ascii_tolower(*title));
    return g_string_free(key, FALSE);
}

static MemberField field_of(const char *title)
{
    g_autofree char *key = title_key(title);
    for (size_t i = 0; i < G_N_ELEMENTS(titles); i++)
        if (strcmp(titles[i].title, key) == 0)
            return titles[i].field;
    return FIELD_IGNORED;
}

/* Put a name, or a part of one, behind what is known of it. Some programs export names as mail has them, encoded. */
static void add_name(MemberLine *line, const char *name)
{
    g_autofree char *plain = strstr(name, "=?") ? header_decode(name) : g_strdup(name);
    g_autofree char *before = g_steal_pointer(&line->display_name);
    line->display_name = before ? g_strconcat(before, " ", plain, NULL) : g_steal_pointer(&plain);
}

/* Take "mailto:" from before an address. */
static char *bare_address(const char *text)
{
    const bool link = g_ascii_strncasecmp(text, "mailto:", strlen("mailto:")) == 0;
    return g_strstrip(g_strdup(link ? text + strlen("mailto:") : text));
}

/* Looks whether the first line is a CSV header and takes it in. */
static bool take_header(MemberLines *lines, bool *taken, GError **error)
{
    size_t plain = strcspn(lines->text, ",;\t");
    char delimiter = lines->text[plain] ? lines->text[plain] : ',';
    g_autoptr(GPtrArray) fields = split(lines->text, delimiter, NULL);
    unsigned addresses = 0;
    MemberField name = FIELD_IGNORED;
    for (guint i = 0; fields && i < fields->len; i++) {
        MemberField field = field_of(fields->pdata[i]);
        g_array_append_val(lines->columns, field);
        addresses += field == FIELD_ADDRESS;
        name = field >= FIELD_NICKNAME && field <= FIELD_NAME ? MAX(name, field) : name;
    }
    for (guint i = 0; i < lines->columns->len; i++) {
        MemberField *field = &g_array_index(lines->columns, MemberField, i);
        *field = *field >= FIELD_NICKNAME && *field < name ? FIELD_IGNORED : *field;
    }
    *taken = addresses > 0;
    if (addresses > 1)
        return fail(error, FAIL_CONFIG, "line %" G_GUINT64_FORMAT ": the header names two columns of addresses",
                    lines->number);
    if (*taken)
        lines->delimiter = delimiter;
    return true;
}

bool member_line_mailbox(const char *text, char **address, char **name, GError **error)
{
    g_autofree char *copy = g_strstrip(g_strdup(text));
    *address = *name = NULL;
    char *open = strrchr(copy, '<');
    if (!open && *copy == '\0')
        return fail(error, FAIL_NEVER, "no address");
    if (!open) {
        *address = bare_address(copy);
        return true;
    }
    size_t length = strlen(open);
    if (open[length - 1] != '>')
        return fail(error, FAIL_NEVER, "'%s' is no 'Name <address>': no '>' at its end", copy);
    open[length - 1] = '\0';
    *address = bare_address(open + 1);
    *open = '\0';
    g_strstrip(copy);
    size_t named = strlen(copy);
    if (named >= 2 && copy[0] == '"' && copy[named - 1] == '"') {
        g_autoptr(GString) bare = g_string_new(NULL);
        for (const char *at = copy + 1; at < copy + named - 1; at++) {
            if (*at == '\\' && at + 1 < copy + named - 1)
                at++;
            g_string_append_c(bare, *at);
        }
        *name = g_string_free(g_steal_pointer(&bare), FALSE);
    } else if (named > 0)
        *name = g_steal_pointer(&copy);
    return true;
}

/* Puts one field where it belongs. */
static bool take_field(MemberLine *line, MemberField field, const char *value, GError **error)
{
    DeliveryMode mode;
    DeliveryStatus status;
    if (!*value && field != FIELD_ADDRESS)
        return true;
    switch (field) {
    case FIELD_ADDRESS: {
        g_autofree char *name = NULL;
        if (!member_line_mailbox(value, &line->address, &name, error))
            return false;
        if (!line->display_name)
            line->display_name = g_steal_pointer(&name);
        return true;
    }
    case FIELD_NAME:
        g_clear_pointer(&line->display_name, g_free);
        add_name(line, value);
        return true;
    case FIELD_NICKNAME:
    case FIELD_NAME_PART:
        add_name(line, value);
        return true;
    case FIELD_MODE:
        if (!delivery_mode_parse(value, &mode))
            return fail(error, FAIL_NEVER, "there is no delivery_mode '%s'; allowed: regular, plaintext_digests, "
                        "mime_digests, summary_digests", value);
        line->own.delivery_mode = (int)mode;
        return true;
    case FIELD_STATUS:
        if (!delivery_status_parse(value, &status))
            return fail(error, FAIL_NEVER, "there is no delivery_status '%s'; allowed: enabled, by_user, "
                        "by_moderator, by_bounces", value);
        line->own.delivery_status = (int)status;
        return true;
    default:
        return true;
    }
}

static bool take_csv(MemberLines *lines, MemberLine *line, GError **error)
{
    g_autoptr(GPtrArray) fields = split(lines->text, lines->delimiter, error);
    if (!fields)
        return false;
    if (fields->len > lines->columns->len)
        return fail(error, FAIL_NEVER, "%u fields where the header has %u", fields->len, lines->columns->len);
    for (guint i = 0; i < fields->len; i++)
        if (!take_field(line, g_array_index(lines->columns, MemberField, i), fields->pdata[i], error))
            return false;
    return line->address != NULL || fail(error, FAIL_NEVER, "no address");
}

static bool take_plain(MemberLines *lines, MemberLine *line, GError **error)
{
    if (strchr(lines->text, ',') && !strchr(lines->text, '<'))
        return fail(error, FAIL_NEVER, "a comma: CSV needs a first line that names the columns (address,display_name)");
    g_autofree char *name = NULL;
    if (!member_line_mailbox(lines->text, &line->address, &name, error))
        return false;
    if (name)
        add_name(line, name);
    return true;
}

bool member_lines_next(MemberLines *lines, MemberLine *line, GError **error)
{
    bool end = false;
    member_line_clear(line);
    for (;;) {
        bool fine = read_line(lines, &end, error);
        line->number = lines->number;
        if (!fine)
            return false;
        line->last = end;
        if (end)
            return true;
        if (lines->text[strspn(lines->text, " \t,;")] == '\0' ||
            (!lines->begun && g_str_has_prefix(lines->text, GROUP_TITLE)))
            continue;
        bool header = false;
        if (!lines->begun && !take_header(lines, &header, error))
            return false;
        lines->begun = true;
        if (header || (!lines->delimiter && lines->text[0] == '#'))
            continue;
        return lines->delimiter ? take_csv(lines, line, error) : take_plain(lines, line, error);
    }
}
