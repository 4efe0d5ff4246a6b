/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/moving/hyperkitty.h"

#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "lists/moving/file.h"
#include "lists/moving/mailman3_internal.h"
#include "mail/header.h"
#include "mail/mbox.h"
#include "mail/message.h"
#include "mail/mime/file_name.h"
#include "mail/transfer.h"

#define LINE_LONGEST 998     /* RFC 5322, 2.1.1 */
#define NAME_MAX_BYTES 200   /* of a file */
#define OFFSET_MAX (14 * 60) /* minutes */

typedef struct HyperkittyReading {
    const HyperKitty *from;
    HyperKittyCounts *counts;
    char *list; /* its number there */
    char *name; /* "talk@example.com" there */
} HyperkittyReading;

/* ---- which list ---- */

bool hyperkitty_check(Foreign *database, GError **error)
{
    static const char *const columns[][2] = {{"hyperkitty_mailinglist", "list_id"},
                                             {"hyperkitty_mailinglist", "id"},
                                             {"hyperkitty_email", "in_reply_to"},
                                             {"hyperkitty_email", "sender_name"},
                                             {"hyperkitty_attachment", "content"}};
    for (size_t i = 0; i < G_N_ELEMENTS(columns); i++) {
        bool has;
        if (!foreign_has(database, columns[i][0], columns[i][1], &has, error))
            return false;
        if (!has)
            return fail(error, FAIL_CONFIG,
                        "%s is no database of HyperKitty 1.2 or later: it has no column %s in a table %s",
                        foreign_shown(database), columns[i][1], columns[i][0]);
    }
    return true;
}

/* The number and the name of the list by a column; *found is false where there is none. */
static bool find_by(HyperkittyReading *self, const char *sql, const char *argument, bool *found, GError **error)
{
    g_autofree char *folded = g_ascii_strdown(argument, -1);
    g_autoptr(ForeignRows) rows = foreign_query(self->from->database, sql, folded, error);
    if (!rows || !foreign_next(rows, found, error))
        return false;
    if (*found) {
        self->list = g_strdup(foreign_text(rows, 0));
        self->name = g_strdup(foreign_text(rows, 1));
    }
    return true;
}

static bool find_list(HyperkittyReading *self, GError **error)
{
    bool found;
    const HyperKitty *from = self->from;
    if (!find_by(self, "SELECT `id`, `name` FROM hyperkitty_mailinglist WHERE lower(list_id) = $1", from->list_id,
                 &found, error) ||
        (!found && !find_by(self, "SELECT `id`, `name` FROM hyperkitty_mailinglist WHERE lower(name) = $1",
                            from->address, &found, error)))
        return false;
    return (found && self->list && self->name) ||
           fail(error, FAIL_MISSING, "%s has no list %s, neither by the List-Id %s", foreign_shown(from->database),
                from->address, from->list_id);
}

/* ---- a mail ---- */

static bool is_token(const char *text)
{
    return *text && strlen(text) < 100 &&
           strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.+!#$&^") == strlen(text);
}

/* Text as one part: as it is where lines may be so long and none can be taken for the boundary (NULL: there is none),
 * else in base64. */
static void append_text(GString *out, const char *text, const char *boundary)
{
    size_t longest = 0;
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\n");
        longest = MAX(longest, length);
        line += length + (line[length] == '\n');
    }
    bool plain = longest <= LINE_LONGEST && !strchr(text, '\r') && !(boundary && strstr(text, boundary));
    g_string_append_printf(out, "Content-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: %s\n\n",
                           plain ? "8bit" : "base64");
    if (plain)
        g_string_append_printf(out, "%s%s", text, *text && text[strlen(text) - 1] != '\n' ? "\n" : "");
    else
        transfer_encode(out, "base64", text, strlen(text), "\n");
}

/* A line of the header whose value is text of the database; without what could end the line. */
static void append_field(GString *out, const char *name, const char *text)
{
    g_autofree char *line = g_strdelimit(g_utf8_make_valid(text, -1), "\r\n", ' ');
    g_autofree char *value = header_encode(line, strlen(name) + 2);
    g_string_append_printf(out, "%s: %s\n", name, value);
}

/* A Message-ID in brackets. */
static void append_id(GString *out, const char *name, const char *id)
{
    g_string_append_printf(out, "%s: <", name);
    for (const char *at = id; *at; at++)
        if (!g_ascii_isspace(*at) && !g_ascii_iscntrl(*at) && *at != '<' && *at != '>')
            g_string_append_c(out, *at);
    g_string_append(out, ">\n");
}

/* ---- files ---- */

/* The file's content, from the row or from the folder; NULL: it is nowhere. */
static GBytes *file_content(const HyperkittyReading *self, ForeignRows *rows, const char *email, const char *hash)
{
    size_t length;
    const void *bytes = foreign_bytes(rows, 4, &length);
    if (!mm_flag(foreign_text(rows, 5))) /* of no bytes there may be no pointer either */
        return g_bytes_new(bytes, bytes ? length : 0);
    const char *counter = foreign_text(rows, 0), *at = strrchr(self->name, '@');
    if (!self->from->files || !counter || !at || strchr(self->name, '/') || strstr(self->name, ".."))
        return NULL;
    g_autofree char *list = g_strndup(self->name, (size_t)(at - self->name));
    g_autofree char *path = g_strdup_printf("%s/%s/%s/%.2s/%.2s/%.2s/%s/%s", self->from->files, at + 1, list, hash,
                                            hash + 2, hash + 4, email, counter);
    return moving_read_file(self->from->files, path, NULL);
}

/* Append a part for each file of the mail, each behind the boundary. */
static bool append_files(HyperkittyReading *self, GString *out, const char *email, const char *hash,
                         const char *boundary, GError **error)
{
    bool more = true;
    g_autoptr(ForeignRows)
        rows = foreign_query(self->from->database,
                             "SELECT `counter`, `name`, `content_type`, `encoding`, content, "
                             "`CASE WHEN content IS NULL THEN 1 ELSE 0 END` FROM hyperkitty_attachment "
                             "WHERE email_id = CAST($1 AS @number@) ORDER BY counter",
                             email, error);
    while (rows && more) {
        if (!foreign_next(rows, &more, error))
            return false;
        g_autoptr(GBytes) content = more ? file_content(self, rows, email, hash) : NULL;
        if (!more || !content || g_bytes_get_size(content) / 3 * 4 + out->len > MBOX_MAIL_MAX - (64 << 10)) {
            self->counts->files_lost += more;
            continue;
        }
        size_t length;
        const void *bytes = g_bytes_get_data(content, &length);
        const char *name = foreign_text(rows, 1), *type = foreign_text(rows, 2), *charset = foreign_text(rows, 3);
        g_autofree char *safe = file_name_safe(name ? name : "", NAME_MAX_BYTES);
        g_autofree char *escaped = g_uri_escape_string(safe, NULL, false);
        /* A part in base64 may have any type but those of mails and of several parts. */
        g_auto(GStrv) halves = g_strsplit(type ? type : "", "/", 3);
        bool typed = g_strv_length(halves) == 2 && is_token(halves[0]) && is_token(halves[1]) &&
                     g_ascii_strcasecmp(halves[0], "message") != 0 && g_ascii_strcasecmp(halves[0], "multipart") != 0;
        g_string_append_printf(out, "\n--%s\nContent-Type: %s", boundary, typed ? type : "application/octet-stream");
        if (typed && charset && is_token(charset))
            g_string_append_printf(out, "; charset=%s", charset);
        g_string_append(out, "\nContent-Transfer-Encoding: base64\nContent-Disposition: attachment");
        if (*escaped)
            g_string_append_printf(out, ";\n filename*=UTF-8''%s", escaped);
        g_string_append(out, "\n\n");
        transfer_encode(out, "base64", (const char *)bytes, length, "\n");
    }
    return rows != NULL;
}

/* ---- rows ---- */

enum { ID, MESSAGE_ID, SENDER_NAME, SENDER, SUBJECT, CONTENT, DATE, ZONE, ANSWERS, ARCHIVED };

static const char mails_sql[] =
    "SELECT `e.id`, `e.message_id`, `e.sender_name`, `e.sender_id`, `e.subject`, `e.content`, `e.date`, `e.timezone`,"
    " `e.in_reply_to`, `e.archived_date`, `(SELECT count(*) FROM hyperkitty_attachment a WHERE a.email_id = e.id)`"
    " FROM hyperkitty_email e WHERE e.mailinglist_id = CAST($1 AS @number@) ORDER BY e.id";
#define FILES (ARCHIVED + 1)

static const char *text_of(ForeignRows *rows, int column)
{
    const char *text = foreign_text(rows, column);
    return text ? text : "";
}

static void append_from(GString *out, const char *name, const char *address)
{
    g_autofree char *line = g_strdelimit(g_utf8_make_valid(name ? name : "", -1), "\r\n", ' ');
    g_autofree char *phrase = header_phrase(line, strlen("From: "));
    g_autoptr(GString) bare = g_string_new(NULL);
    for (const char *at = address; *at; at++)
        if (!strchr(" \t\r\n<>", *at))
            g_string_append_c(bare, *at);
    if (*phrase && strcmp(line, bare->str) != 0)
        g_string_append_printf(out, "From: %s <%s>\n", phrase, bare->str);
    else
        g_string_append_printf(out, "From: %s\n", bare->str);
}

static void append_date(GString *out, int64_t date, int64_t offset)
{
    static const char *const days[] = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
    static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    offset = ABS(offset) > OFFSET_MAX ? 0 : offset;
    g_autoptr(GTimeZone) zone = g_time_zone_new_offset((gint32)offset * 60);
    g_autoptr(GDateTime) utc = g_date_time_new_from_unix_utc(date / CLOCK_SECOND);
    g_autoptr(GDateTime) own = utc ? g_date_time_to_timezone(utc, zone) : NULL;
    if (!own)
        return;
    g_string_append_printf(out, "Date: %s, %02d %s %d %02d:%02d:%02d %c%02d%02d\n",
                           days[g_date_time_get_day_of_week(own) - 1], g_date_time_get_day_of_month(own),
                           months[g_date_time_get_month(own) - 1], g_date_time_get_year(own), g_date_time_get_hour(own),
                           g_date_time_get_minute(own), g_date_time_get_second(own), offset < 0 ? '-' : '+',
                           (int)ABS(offset) / 60, (int)ABS(offset) % 60);
}

static bool take_row(HyperkittyReading *self, ForeignRows *rows, GError **error)
{
    bool known;
    const HyperKitty *from = self->from;
    const char *id = foreign_text(rows, MESSAGE_ID);
    if (!id || !*id || !foreign_text(rows, ID)) {
        self->counts->unusable++;
        return true;
    }
    if (!from->known(id, &known, from->data, error))
        return false;
    if (known) {
        self->counts->known++;
        return true;
    }
    /* Copies of the row, since a query for files may read on in the same connection. */
    g_autofree char *content = g_utf8_make_valid(text_of(rows, CONTENT), -1), *email = g_strdup(text_of(rows, ID));
    g_autofree char *hash = message_id_hash(id);
    bool files = mm_integer(foreign_text(rows, FILES), 0) > 0;
    g_autoptr(GString) out = g_string_new(NULL);
    append_from(out, foreign_text(rows, SENDER_NAME), text_of(rows, SENDER));
    append_field(out, "To", self->name);
    append_field(out, "Subject", text_of(rows, SUBJECT));
    if (mm_time(foreign_text(rows, DATE)) > 0)
        append_date(out, mm_time(foreign_text(rows, DATE)), mm_integer(foreign_text(rows, ZONE), 0));
    append_id(out, "Message-ID", text_of(rows, MESSAGE_ID));
    if (*text_of(rows, ANSWERS))
        append_id(out, "In-Reply-To", text_of(rows, ANSWERS));
    g_string_append(out, "MIME-Version: 1.0\n");
    if (files) {
        g_autofree char *boundary = g_strdup_printf("=_%s_0", hash); /* base64 has no such line */
        g_string_append_printf(out, "Content-Type: multipart/mixed; boundary=\"%s\"\n\n--%s\n", boundary, boundary);
        append_text(out, content, boundary);
        if (!append_files(self, out, email, hash, boundary, error))
            return false;
        g_string_append_printf(out, "\n--%s--\n", boundary);
    } else {
        append_text(out, content, NULL);
    }
    self->counts->mails++;
    return from->take(out, mm_time(foreign_text(rows, ARCHIVED)), from->data, error);
}

static bool count_mails(const HyperkittyReading *self, uint64_t *total, GError **error)
{
    bool more;
    g_autoptr(ForeignRows) rows = foreign_query(
        self->from->database, "SELECT `count(*)` FROM hyperkitty_email WHERE mailinglist_id = CAST($1 AS @number@)",
        self->list, error);
    if (!rows || !foreign_next(rows, &more, error))
        return false;
    *total = more ? (uint64_t)mm_integer(foreign_text(rows, 0), 0) : 0;
    return true;
}

bool hyperkitty_count(Foreign *database, const char *list_id, const char *address, bool *there, uint64_t *total,
                      GError **error)
{
    g_autoptr(GError) missing = NULL;
    const HyperKitty from = {.database = database, .list_id = list_id, .address = address};
    HyperkittyReading self = {.from = &from};
    *total = 0;
    *there = find_list(&self, &missing);
    bool done = *there ? count_mails(&self, total, error) : g_error_matches(missing, FAIL, FAIL_MISSING);
    if (!done && missing)
        g_propagate_error(error, g_steal_pointer(&missing));
    g_free(self.list);
    g_free(self.name);
    return done;
}

bool hyperkitty_read(const HyperKitty *from, HyperKittyCounts *counts, uint64_t *total, GError **error)
{
    HyperkittyReading self = {.from = from, .counts = counts};
    bool done = hyperkitty_check(from->database, error) && find_list(&self, error) &&
                (!total || count_mails(&self, total, error)),
         more = done;
    g_autoptr(ForeignRows) rows = done ? foreign_query(from->database, mails_sql, self.list, error) : NULL;
    done = rows != NULL;
    while (done && more)
        done = foreign_next(rows, &more, error) && (!more || take_row(&self, rows, error));
    g_clear_pointer(&rows, foreign_rows_free);
    g_free(self.list);
    g_free(self.name);
    return done;
}
