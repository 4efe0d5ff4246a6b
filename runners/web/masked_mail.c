/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/web/masked_mail.h"

#include <string.h>

#include "mail/header.h"
#include "mail/text/text_link.h"

#define DOMAIN "@masked.invalid" /* RFC 2606 */

static char *mask(const char *text)
{
    return text_link_mask(text, strlen(text));
}

/* ---- head ---- */

/* A value that was folded, for LF line ends. */
static void append_value(GString *out, const char *value)
{
    for (; *value; value++)
        if (*value != '\r')
            g_string_append_c(out, *value);
}

static void append_subject(const char *text, GString *out)
{
    g_autofree char *masked = mask(text), *value = header_encode(masked, strlen("Subject: "));
    g_string_append(out, "Subject: ");
    append_value(out, value);
    g_string_append_c(out, '\n');
}

static void append_from(const ReadablePeople *people, GString *out)
{
    const ReadablePerson *person = people->list->len > 0 ? people->list->pdata[0] : NULL;
    g_autofree char *name = mask(person ? person->name : ""), *phrase = header_phrase(name, strlen("From: "));
    const char *address = person ? person->address : "";
    /* A local part that would have to be quoted is left out. */
    size_t length = strspn(address,
                           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.!#$%&'*+-/=?^_`{|}~");
    bool plain = length > 0 && address[length] == '@';
    g_autofree char *local = plain ? g_strndup(address, length) : g_strdup("somebody");
    g_string_append(out, "From: ");
    append_value(out, phrase);
    g_string_append_printf(out, "%s<%s" DOMAIN ">\n", *phrase ? " " : "", local);
}

static void append_date(const ReadableHead *head, GString *out)
{
    static const char *const days[] = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
    static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    g_autoptr(GDateTime) utc = head->dated ? g_date_time_new_from_unix_utc(head->date) : NULL;
    g_autoptr(GDateTime) at = utc ? g_date_time_add_minutes(utc, head->zone) : NULL;
    if (!at)
        return;
    int zone = ABS(head->zone);
    g_string_append_printf(out, "Date: %s, %d %s %d %02d:%02d:%02d %c%02d%02d\n",
                           days[g_date_time_get_day_of_week(at) - 1], g_date_time_get_day_of_month(at),
                           months[g_date_time_get_month(at) - 1], g_date_time_get_year(at), g_date_time_get_hour(at),
                           g_date_time_get_minute(at), g_date_time_get_second(at), head->zone < 0 ? '-' : '+',
                           zone / 60, zone % 60);
}

/* An id as it is: mail programs put threads together by them. One that is missing, or could end the line, is left out,
 * with what stands before it: false. */
static bool append_id(GString *out, const char *before, const char *id)
{
    if (!id)
        return false;
    for (const char *at = id; *at; at++)
        if (!g_ascii_isgraph(*at) || strchr("<>", *at))
            return false;
    g_string_append_printf(out, "%s <%s>\n", before, id);
    return true;
}

static void append_ids(const ReadableHead *head, GString *out)
{
    append_id(out, "Message-ID:", head->id);
    append_id(out, "In-Reply-To:", head->in_reply_to);
    const char *before = "References:";
    for (guint i = 0; i < head->references->len; i++)
        if (append_id(out, before, head->references->pdata[i]))
            before = "";
}

/* ---- text ---- */

static void append_lines(const ReadableBlock *block, GString *out)
{
    g_autofree char *masked = mask(block->text);
    g_auto(GStrv) lines = g_strsplit(masked, "\n", -1);
    for (char **line = lines; *line; line++) {
        for (unsigned level = 0; level < block->level; level++)
            g_string_append_c(out, '>');
        g_string_append_printf(out, "%s%s\n", block->level > 0 && **line ? " " : "", *line);
    }
}

static void append_text(const Readable *mail, GString *out)
{
    for (guint i = 0; i < mail->blocks->len; i++) {
        const ReadableBlock *block = mail->blocks->pdata[i];
        if (i > 0)
            g_string_append_c(out, '\n');
        if (block->kind == READABLE_MESSAGE) {
            append_text(block->message, out);
        } else if (block->kind == READABLE_FILE) {
            g_autofree char *name = mask(block->file->name);
            g_string_append_printf(out, "[%s, %s, %zu bytes]\n", name, block->file->type, block->file->size);
        } else if (block->kind == READABLE_NOTE) {
            g_string_append(out, "[...]\n");
        } else {
            g_string_append(out, block->kind == READABLE_SIGNATURE ? "-- \n" : "");
            append_lines(block, out);
        }
    }
}

void masked_mail(const Readable *mail, GString *out)
{
    append_from(&mail->head.from, out);
    append_date(&mail->head, out);
    append_subject(mail->head.subject, out);
    append_ids(&mail->head, out);
    g_string_append(out,
                    "MIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n");
    append_text(mail, out);
}

/* ---- files ---- */

static bool is_declared(const ReadableFile *file, const char *const *types)
{
    for (; *types; types++)
        if (g_ascii_strncasecmp(file->type, *types, strlen(*types)) == 0)
            return true;
    return false;
}

/* Return a text in UTF-16, which begins with a byte order mark, without the domains of addresses. NULL: it is no such
 * text. g_bytes_unref() */
static GBytes *masked_wide(const char *octets, size_t length)
{
    bool little = length > 2 && memcmp(octets, "\xff\xfe", 2) == 0;
    if (!little && (length <= 2 || memcmp(octets, "\xfe\xff", 2) != 0))
        return NULL;
    const char *set = little ? "UTF-16LE" : "UTF-16BE";
    size_t plain_length, masked_length;
    g_autofree char *plain = g_convert(octets, (gssize)length, "UTF-8", set, NULL, &plain_length, NULL);
    bool sound = plain && !memchr(plain, '\0', plain_length);
    g_autofree char *masked = sound ? text_link_mask(plain, plain_length) : NULL;
    char *back = masked ? g_convert(masked, -1, set, "UTF-8", NULL, &masked_length, NULL) : NULL;
    return back ? g_bytes_new_take(back, masked_length) : NULL;
}

GBytes *masked_file(const ReadableFile *file)
{
    static const char *const texts[] = {"text/", NULL};
    static const char *const others[] = {"text/", "message/", "application/octet-stream", "application/json",
                                         "application/ics", "application/vcard", "application/xml", NULL};
    g_autoptr(GBytes) bytes = readable_file_bytes(file);
    size_t length, masked_length;
    const char *octets = g_bytes_get_data(bytes, &length);
    if (!octets || !memchr(octets, '@', length) || !is_declared(file, others))
        return g_steal_pointer(&bytes);
    GBytes *wide_text = masked_wide(octets, length);
    if (wide_text || memchr(octets, '\0', length))
        return wide_text ? wide_text : g_steal_pointer(&bytes);
    if (g_utf8_validate_len(octets, length, NULL)) {
        char *masked = text_link_mask(octets, length);
        return g_bytes_new_take(masked, strlen(masked));
    }
    if (!is_declared(file, texts))
        return g_steal_pointer(&bytes);
    /* Each byte stands for itself in Latin-1, so whatever the set is, all others stay as they are. */
    g_autofree char *wide = g_convert(octets, (gssize)length, "UTF-8", "ISO-8859-1", NULL, &masked_length, NULL);
    g_autofree char *masked = wide ? text_link_mask(wide, masked_length) : NULL;
    char *back = masked ? g_convert_with_fallback(masked, -1, "ISO-8859-1", "UTF-8", "...", NULL, &masked_length, NULL)
                        : NULL;
    return back ? g_bytes_new_take(back, masked_length) : g_steal_pointer(&bytes);
}
