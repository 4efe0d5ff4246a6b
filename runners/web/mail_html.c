/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/web/mail_html.h"

#include <string.h>

#include "mail/header.h"
#include "mail/text/text_link.h"
#include "mail/text/mustache.h"

#define OPEN_LINES 4 /* a quotation of more lines is folded */

static const char *say(const MailHtml *how, const char *text)
{
    return theme_text(how->theme, how->language, text);
}

static void append_escaped(GString *out, const char *text, size_t length)
{
    g_autofree char *part = g_strndup(text, length);
    mustache_escape(out, part);
}

/* ---- text with links ---- */

static void append_linked(const MailHtml *how, const char *text, size_t length, const GArray *links, GString *out)
{
    size_t at = 0;
    for (guint i = 0; links && i < links->len; i++) {
        const TextLink *link = &g_array_index(links, TextLink, i);
        append_escaped(out, text + at, link->start - at);
        at = link->start + link->length;
        g_autofree char *target = g_strndup(text + link->start, link->length), *masked = NULL;
        if (how->masked && (link->holds_address || link->kind != TEXT_LINK_WEB))
            masked = text_link_mask(target, link->length);
        if (masked) {
            mustache_escape(out, masked);
            continue;
        }
        g_string_append(out, "<a rel=\"nofollow noopener\" href=\"");
        if (link->kind == TEXT_LINK_ADDRESS)
            g_string_append(out, "mailto:");
        mustache_escape(out, target);
        g_string_append(out, "\">");
        mustache_escape(out, target);
        g_string_append(out, "</a>");
    }
    append_escaped(out, text + at, length - at);
}

void mail_html_line(const MailHtml *how, const char *text, GString *out)
{
    g_autofree char *masked = how->masked ? text_link_mask(text, strlen(text)) : NULL;
    mustache_escape(out, masked ? masked : text);
}

char *mail_html_person(const MailHtml *how, const char *name, const char *address)
{
    g_autofree char *shown = how->masked ? text_link_mask(address, strlen(address)) : g_strdup(address);
    g_autofree char *called = how->masked ? text_link_mask(name, strlen(name)) : g_strdup(name);
    if (!*called || !*shown)
        return g_strdup(*called ? called : shown);
    return how->masked ? g_steal_pointer(&called) : g_strdup_printf("%s <%s>", called, shown);
}

json_t *mail_html_people(const MailHtml *how, const ReadablePeople *people)
{
    json_t *all = json_array();
    for (guint i = 0; i < people->list->len; i++) {
        const ReadablePerson *person = people->list->pdata[i];
        g_autofree char *text = mail_html_person(how, person->name, person->address);
        json_array_append_new(all, json_string(text));
    }
    if (people->more)
        json_array_append_new(all, json_string("…"));
    return all;
}

bool mail_html_is_addressed(const ReadableHead *head)
{
    return head->to.list->len > 0 || head->cc.list->len > 0;
}

/* ---- blocks ---- */

static void append_text(const MailHtml *how, const ReadableBlock *block, const char *tag, const char *class,
                        GString *out)
{
    g_string_append_printf(out, "<%s%s%s%s dir=\"auto\">", tag, class ? " class=\"" : "", class ? class : "",
                           class ? "\"" : "");
    append_linked(how, block->text, block->length, block->links, out);
    g_string_append_printf(out, "</%s>\n", tag);
}

static const char *next_line(const char *line)
{
    line += strcspn(line, "\n");
    return *line ? line + 1 : line;
}

/* Do the two lines here name the files of a change, "--- a/x" and "+++ b/x" with its first place behind them? A line
 * that was removed may look like the first of them. */
static bool names_files(const char *line)
{
    const char *second = next_line(line);
    return g_str_has_prefix(line, "--- ") && g_str_has_prefix(second, "+++ ") &&
           g_str_has_prefix(next_line(second), "@@ ");
}

/* Lines that a patch adds and removes, each in a span of its own; links are left out there. */
static void append_patch(const MailHtml *how, const ReadableBlock *block, GString *out)
{
    g_string_append(out, "<pre class=\"patch\">");
    unsigned names = 0; /* lines from here on that name files */
    for (const char *line = block->text; *line; names -= names > 0) {
        size_t length = strcspn(line, "\n");
        names = names > 0 ? names : names_files(line) ? 2 : 0;
        const char *class = names > 0 ? NULL : *line == '+' ? "plus" : *line == '-' ? "minus" : NULL;
        if (*line == '@')
            class = "place";
        g_autofree char *own = g_strndup(line, length);
        if (class)
            g_string_append_printf(out, "<span class=\"%s\">", class);
        mail_html_line(how, own, out);
        g_string_append(out, class ? "</span>\n" : "\n");
        line += length + (line[length] != '\0');
    }
    g_string_append(out, "</pre>\n");
}

static void append_file(const MailHtml *how, const ReadableFile *file, GString *out)
{
    g_autofree char *shown = how->masked ? text_link_mask(file->name, strlen(file->name)) : g_strdup(file->name);
    g_autofree char *name = g_uri_escape_string(shown, NULL, false), *size = g_format_size(file->size);
    g_string_append_printf(out, "<p class=\"file\"><a rel=\"nofollow\" href=\"%s%zu/", how->files, file->number);
    mustache_escape(out, name);
    g_string_append(out, "\">");
    mustache_escape(out, shown);
    g_string_append(out, "</a> <span>");
    mail_html_line(how, file->type, out);
    g_string_append_printf(out, ", %s</span></p>\n", size);
}

static void append_block(const MailHtml *how, const ReadableBlock *block, GString *out)
{
    static const char *const notes[] = {
        [READABLE_NOTE_CUT] = N_("The rest of this text is not shown here."),
        [READABLE_NOTE_PARTS] = N_("This message has more parts than are shown here."),
        [READABLE_NOTE_DEEP] = N_("What is deeper within this message is not shown here."),
        [READABLE_NOTE_SIGNED] = N_("This message has a signature, which was not checked."),
        [READABLE_NOTE_ENCRYPTED] = N_("This text is encrypted.")};
    switch (block->kind) {
    case READABLE_PARAGRAPH:
    case READABLE_ATTRIBUTION:
    case READABLE_QUOTATION:
        append_text(how, block, "p", NULL, out);
        break;
    case READABLE_SIGNATURE:
        append_text(how, block, "p", "signature", out);
        break;
    case READABLE_FIXED:
        if (block->patch)
            append_patch(how, block, out);
        else
            append_text(how, block, "pre", NULL, out);
        break;
    case READABLE_NOTE:
        g_string_append(out, "<p class=\"note\">");
        mustache_escape(out, say(how, notes[block->note]));
        g_string_append(out, "</p>\n");
        break;
    case READABLE_FILE:
        append_file(how, block->file, out);
        break;
    case READABLE_MESSAGE: {
        const ReadableHead *head = &block->message->head;
        const ReadablePerson *from = head->from.list->len > 0 ? head->from.list->pdata[0] : NULL;
        g_autofree char *person = from ? mail_html_person(how, from->name, from->address) : g_strdup("");
        g_string_append(out, "<section class=\"inner\">\n<p class=\"facts\" dir=\"auto\"><b>");
        mail_html_line(how, head->subject, out);
        g_string_append(out, "</b> ");
        mustache_escape(out, person);
        g_string_append(out, "</p>\n");
        mail_html(how, block->message, out);
        g_string_append(out, "</section>\n");
        break;
    }
    }
}

/* ---- quotations ---- */

static void set_level(unsigned *level, unsigned wanted, GString *out)
{
    for (; *level < wanted; ++*level)
        g_string_append(out, "<blockquote>\n");
    for (; *level > wanted; --*level)
        g_string_append(out, "</blockquote>\n");
}

/* A quotation with the line that introduces it, which is what a reader opens it by. Returns the block behind it. */
static guint append_fold(const MailHtml *how, const GPtrArray *blocks, guint begin, GString *out)
{
    guint end = begin, at = begin;
    unsigned level = 0, lines = 0;
    const ReadableBlock *first = blocks->pdata[begin];
    for (; end < blocks->len && ((ReadableBlock *)blocks->pdata[end])->fold == first->fold; end++) {
        lines++;
        for (const char *text = ((ReadableBlock *)blocks->pdata[end])->text; (text = strchr(text, '\n')); text++)
            lines++;
    }
    g_string_append_printf(out, "<details%s><summary dir=\"auto\">", lines <= OPEN_LINES ? " open" : "");
    if (first->kind == READABLE_ATTRIBUTION) {
        append_linked(how, first->text, first->length, first->links, out);
        at++;
    } else {
        mustache_escape(out, say(how, N_("Quotation")));
    }
    g_string_append(out, "</summary>\n");
    for (; at < end; at++) {
        const ReadableBlock *block = blocks->pdata[at];
        set_level(&level, block->level, out);
        append_block(how, block, out);
    }
    set_level(&level, 0, out);
    g_string_append(out, "</details>\n");
    return end;
}

void mail_html(const MailHtml *how, const Readable *mail, GString *out)
{
    const GPtrArray *blocks = mail->blocks;
    for (guint at = 0; at < blocks->len;) {
        const ReadableBlock *block = blocks->pdata[at];
        if (block->begins_part && at > 0)
            g_string_append(out, "<hr>\n");
        if (block->fold > 0) {
            at = append_fold(how, blocks, at, out);
        } else {
            append_block(how, block, out);
            at++;
        }
    }
}

/* ---- for strangers ---- */

#define DOMAIN "@masked.invalid" /* RFC 2606 */

static char *mask(const char *text)
{
    return text_link_mask(text, strlen(text));
}

/* A value that was folded, for LF line ends. */
static void append_value(GString *out, const char *value)
{
    for (; *value; value++)
        if (*value != '\r')
            g_string_append_c(out, *value);
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

static void append_masked(const Readable *mail, GString *out)
{
    for (guint i = 0; i < mail->blocks->len; i++) {
        const ReadableBlock *block = mail->blocks->pdata[i];
        if (i > 0)
            g_string_append_c(out, '\n');
        if (block->kind == READABLE_MESSAGE) {
            append_masked(block->message, out);
        } else if (block->kind == READABLE_FILE) {
            g_autofree char *name = mask(block->file->name);
            g_string_append_printf(out, "[%s, %s, %zu bytes]\n", name, block->file->type, block->file->size);
        } else if (block->kind == READABLE_NOTE) {
            g_string_append(out, "[...]\n");
        } else {
            g_autofree char *masked = mask(block->text);
            g_auto(GStrv) lines = g_strsplit(masked, "\n", -1);
            g_string_append(out, block->kind == READABLE_SIGNATURE ? "-- \n" : "");
            for (char **line = lines; *line; line++) {
                for (unsigned level = 0; level < block->level; level++)
                    g_string_append_c(out, '>');
                g_string_append_printf(out, "%s%s\n", block->level > 0 && **line ? " " : "", *line);
            }
        }
    }
}

void mail_html_masked_mail(const Readable *mail, GString *out)
{
    const ReadableHead *head = &mail->head;
    const ReadablePerson *from = head->from.list->len > 0 ? head->from.list->pdata[0] : NULL;
    g_autofree char *name = mask(from ? from->name : ""), *phrase = header_phrase(name, strlen("From: "));
    const char *address = from ? from->address : "";
    /* A local part that would have to be quoted is left out. */
    size_t length = strspn(address,
                           "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.!#$%&'*+-/=?^_`{|}~");
    bool plain = length > 0 && address[length] == '@';
    g_autofree char *local = plain ? g_strndup(address, length) : g_strdup("somebody");
    g_string_append(out, "From: ");
    append_value(out, phrase);
    g_string_append_printf(out, "%s<%s" DOMAIN ">\n", *phrase ? " " : "", local);
    append_date(head, out);
    g_autofree char *subject = mask(head->subject), *value = header_encode(subject, strlen("Subject: "));
    g_string_append(out, "Subject: ");
    append_value(out, value);
    g_string_append_c(out, '\n');
    append_id(out, "Message-ID:", head->id);
    append_id(out, "In-Reply-To:", head->in_reply_to);
    const char *before = "References:";
    for (guint i = 0; i < head->references->len; i++)
        if (append_id(out, before, head->references->pdata[i]))
            before = "";
    g_string_append(out,
                    "MIME-Version: 1.0\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: 8bit\n\n");
    append_masked(mail, out);
}

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

GBytes *mail_html_masked_file(const ReadableFile *file)
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
