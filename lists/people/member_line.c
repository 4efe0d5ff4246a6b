/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/people/member_line.h"

#include <string.h>

#include "base/fail.h"
#include "mail/header.h"

#define QUOTED_LINES_MAX 50 /* over which one quoted field goes */
#define GROUP_TITLE "Members for group " /* the first line of a file of Google Groups, before that with the names */

typedef enum MemberField {
    FIELD_IGNORED,
    FIELD_ADDRESS,
    FIELD_NICKNAME,  /* of these three only the last kind that a file has counts */
    FIELD_NAME_PART, /* the first or the last name */
    FIELD_NAME,
    FIELD_MODE,
    FIELD_STATUS,
    FIELD_RANK,   /* these two are of Google Groups */
    FIELD_DELIVERY
} MemberField;

struct MemberLines {
    FILE *file;
    uint64_t number, bytes;
    bool begun;
    char delimiter;  /* 0: no CSV */
    GArray *columns; /* of MemberField */
    GQueue ahead;    /* of GBytes: lines that were read, and come next */
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
    {"deliverystatus", FIELD_STATUS}, {"groupstatus", FIELD_RANK},   {"emailstatus", FIELD_DELIVERY},
    {"emailpreference", FIELD_DELIVERY},
};

/* Words of Google Groups for how mail comes, as title_key() has them. */
static const struct {
    const char *word;
    int mode, status; /* -1: nothing is said */
} deliveries[] = {
    {"allemail", MODE_REGULAR, -1},          {"eachemail", MODE_REGULAR, -1},    {"email", MODE_REGULAR, -1},
    {"digest", MODE_MIME_DIGESTS, -1},       {"abridged", MODE_SUMMARY_DIGESTS, -1},
    {"dailysummary", MODE_SUMMARY_DIGESTS, -1}, {"noemail", -1, DELIVERY_BY_USER},
    {"none", -1, DELIVERY_BY_USER},          {"bouncing", -1, DELIVERY_BY_BOUNCES},
    {"active", -1, -1},                      {"normal", -1, -1},
};

void member_line_clear(MemberLine *line)
{
    g_clear_pointer(&line->address, g_free);
    g_clear_pointer(&line->display_name, g_free);
    line->own = preferences_unset;
    line->rank = RANK_UNSAID;
    line->last = false;
}

MemberLines *member_lines_new(FILE *file)
{
    MemberLines *lines = g_new0(MemberLines, 1);
    lines->file = file;
    lines->columns = g_array_new(FALSE, FALSE, sizeof(MemberField));
    g_queue_init(&lines->ahead);
    return lines;
}

void member_lines_free(MemberLines *lines)
{
    if (!lines)
        return;
    g_array_unref(lines->columns);
    g_queue_clear_full(&lines->ahead, (GDestroyNotify)g_bytes_unref);
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

/* Return the next line without its end, at most a byte longer than it may be; g_bytes_unref(). NULL: nothing was left,
 * or with error the file cannot be read. */
static GBytes *next_raw(MemberLines *lines, GError **error)
{
    if (lines->ahead.length > 0)
        return g_queue_pop_head(&lines->ahead);
    g_autoptr(GString) raw = g_string_new(NULL);
    size_t length = 0;
    int c;
    while ((c = getc_unlocked(lines->file)) != EOF && c != '\n') {
        lines->bytes++;
        if (length++ <= MEMBER_LINE_MAX)
            g_string_append_c(raw, (char)c);
    }
    if (c == EOF && ferror(lines->file)) {
        fail_errno(error, FAIL_LATER, "cannot read on");
        return NULL;
    }
    lines->bytes += c == '\n';
    return c == EOF && length == 0 ? NULL : g_string_free_to_bytes(g_steal_pointer(&raw));
}

/* Read a line into lines->text, without its end. *end: nothing was left. */
static bool read_line(MemberLines *lines, bool *end, GError **error)
{
    GError *why = NULL;
    gsize length;
    g_autoptr(GBytes) raw = next_raw(lines, &why);
    *end = !raw && !why;
    if (!raw)
        return *end || fail_with(error, &why);
    lines->number++;
    const char *bytes = g_bytes_get_data(raw, &length);
    memcpy(lines->text, bytes ? bytes : "", MIN(length, MEMBER_LINE_MAX));
    lines->text[MIN(length, MEMBER_LINE_MAX)] = '\0';
    if (length > MEMBER_LINE_MAX)
        return fail(error, FAIL_NEVER, "longer than %d bytes", MEMBER_LINE_MAX);
    if (length > 0 && lines->text[length - 1] == '\r')
        lines->text[--length] = '\0';
    bool zero = memchr(lines->text, '\0', length) != NULL;
    if (zero || !g_utf8_validate(lines->text, (gssize)length, NULL))
        return fail(error, FAIL_NEVER, zero ? "holds a NUL byte" : "not UTF-8");
    if (lines->number == 1 && g_str_has_prefix(lines->text, "\xef\xbb\xbf"))
        memmove(lines->text, lines->text + 3, length - 2);
    return true;
}

/* Takes one quoted field, at pointing behind its opening quote. NULL: the text ends before the field. */
static const char *take_quoted(const char *at, GString *field)
{
    for (; *at && !(at[0] == '"' && at[1] != '"'); at++) {
        g_string_append_c(field, *at);
        if (*at == '"')
            at++;
    }
    return *at == '"' ? at + 1 : NULL;
}

/* Splits a CSV line; NULL with FAIL_NEVER when its quotes are wrong. *open: a quoted field goes on behind it. */
static GPtrArray *split(const char *text, char delimiter, bool *open, GError **error)
{
    *open = false;
    g_autoptr(GPtrArray) fields = g_ptr_array_new_with_free_func(g_free);
    for (const char *at = text;; at++) {
        g_autoptr(GString) field = g_string_new(NULL);
        while (*at == ' ')
            at++;
        if (*at == '"') {
            at = take_quoted(at + 1, field);
            *open = !at;
            if (!at) {
                fail(error, FAIL_NEVER, "a quoted field is not closed");
                return NULL;
            }
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
    g_strdelimit(plain, "\r\n", ' ');
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
    bool open, ranks = false;
    g_autoptr(GPtrArray) fields = split(lines->text, delimiter, &open, NULL);
    unsigned addresses = 0;
    MemberField name = FIELD_IGNORED;
    for (guint i = 0; fields && i < fields->len; i++) {
        MemberField field = field_of(fields->pdata[i]);
        g_array_append_val(lines->columns, field);
        addresses += field == FIELD_ADDRESS;
        ranks |= field == FIELD_RANK;
        name = field >= FIELD_NICKNAME && field <= FIELD_NAME ? MAX(name, field) : name;
    }
    for (guint i = 0; i < lines->columns->len; i++) {
        MemberField *field = &g_array_index(lines->columns, MemberField, i);
        bool other = (*field >= FIELD_NICKNAME && *field < name) || (*field == FIELD_DELIVERY && !ranks);
        *field = other ? FIELD_IGNORED : *field;
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

/* Take in a word of Google Groups for how mail comes. */
static bool take_delivery(MemberLine *line, const char *value, GError **error)
{
    g_autofree char *key = title_key(value);
    for (size_t i = 0; i < G_N_ELEMENTS(deliveries); i++)
        if (strcmp(deliveries[i].word, key) == 0) {
            line->own.delivery_mode = deliveries[i].mode >= 0 ? deliveries[i].mode : line->own.delivery_mode;
            line->own.delivery_status = deliveries[i].status >= 0 ? deliveries[i].status : line->own.delivery_status;
            return true;
        }
    return fail(error, FAIL_NEVER, "Email status or preference '%s' is not known; known are: all email, digest, "
                "abridged, no email, bouncing", value);
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
    case FIELD_RANK: {
        g_autofree char *key = title_key(value);
        line->rank = strcmp(key, "member") == 0    ? RANK_MEMBER
                     : strcmp(key, "manager") == 0 ? RANK_MANAGER
                     : strcmp(key, "owner") == 0   ? RANK_OWNER
                                                   : RANK_NONE;
        return true;
    }
    case FIELD_DELIVERY:
        return take_delivery(line, value, error);
    default:
        return true;
    }
}

/* Split the line, and the following ones where a quoted field goes on there. Lines that are no part of it come next
 * again. */
static GPtrArray *split_on(MemberLines *lines, GError **error)
{
    bool open;
    GError *why = NULL;
    g_autoptr(GString) whole = g_string_new(lines->text);
    g_autoptr(GPtrArray) more = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
    g_autoptr(GPtrArray) fields = split(lines->text, lines->delimiter, &open, &why);
    while (!fields && open && more->len < QUOTED_LINES_MAX) {
        gsize length;
        GBytes *raw = next_raw(lines, NULL);
        if (!raw)
            break;
        const char *bytes = g_bytes_get_data(raw, &length);
        g_ptr_array_add(more, raw);
        g_string_append_c(whole, '\n');
        g_string_append_len(whole, bytes ? bytes : "", (gssize)length);
        if (whole->len > MEMBER_LINE_MAX || !g_utf8_validate(whole->str, (gssize)whole->len, NULL))
            break;
        fields = split(whole->str, lines->delimiter, &open, NULL);
    }
    if (fields && (more->len == 0 || fields->len <= lines->columns->len)) {
        lines->number += more->len;
        g_clear_error(&why);
        return g_steal_pointer(&fields);
    }
    for (guint i = more->len; i-- > 0;)
        g_queue_push_head(&lines->ahead, g_bytes_ref(more->pdata[i]));
    g_propagate_error(error, why);
    return NULL;
}

static bool take_csv(MemberLines *lines, MemberLine *line, GError **error)
{
    g_autoptr(GPtrArray) fields = split_on(lines, error);
    if (!fields)
        return false;
    if (fields->len > lines->columns->len)
        return fail(error, FAIL_NEVER, "%u fields where the header has %u", fields->len, lines->columns->len);
    for (guint i = 0; i < lines->columns->len; i++) {
        const MemberField field = g_array_index(lines->columns, MemberField, i);
        if (field == FIELD_RANK)
            line->rank = RANK_MEMBER; /* unless the line says otherwise: who runs a group is always said */
        if (i < fields->len && !take_field(line, field, fields->pdata[i], error))
            return false;
    }
    return line->address != NULL || fail(error, FAIL_NEVER, "no address");
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
        if (lines->delimiter)
            return take_csv(lines, line, error);
        if (strchr(lines->text, ',') && !strchr(lines->text, '<'))
            return fail(error, FAIL_NEVER,
                        "a comma: CSV needs a first line that names the columns (address,display_name)");
        g_autofree char *name = NULL;
        if (!member_line_mailbox(lines->text, &line->address, &name, error))
            return false;
        if (name)
            add_name(line, name);
        return true;
    }
}
