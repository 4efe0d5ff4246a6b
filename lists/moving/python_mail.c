/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/moving/python_mail.h"

#include <string.h>

#include "base/fail.h"
#include "mail/mbox.h"
#include "mail/mime/parameter.h"

#define REPORT "message/delivery-status"
#define NO_SEPARATOR "email.errors.MissingHeaderBodySeparatorDefect"
#define NOT_CLOSED "email.errors.CloseBoundaryNotFoundDefect"
#define DEPTH_MOST 100
#define PARTS_MOST 10000 /* of all depths: a part may stand in several places */

const char *const python_mail_classes[] = {
    "email.",    "mailman.email.message.", "Mailman.Message.", "copyreg.",
    "copy_reg.", "__builtin__.object",     "builtins.object",  NULL,
};

/* Fields that Mailman adds to each mail that comes in. */
static const char *const added[] = {"Message-ID-Hash",     "X-Message-ID-Hash",     "X-MailFrom",
                                    "X-Mailman-Rule-Hits", "X-Mailman-Rule-Misses", NULL};

typedef struct Writer {
    GString *text;
    char *sender;
    unsigned depth, parts;
    GError **error;
} Writer;

static bool write_mail(Writer *writer, const PickleValue *mail);

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (g_ascii_strcasecmp(name, *names) == 0)
            return true;
    return false;
}

/* Appends bytes with LF line ends. */
static bool append_lines(Writer *writer, const PickleValue *value)
{
    g_autoptr(GString) bytes = g_string_new(NULL);
    pickle_text_bytes(value, bytes);
    if (writer->text->len + bytes->len > MBOX_MAIL_MAX)
        return fail(writer->error, FAIL_NEVER, "the mail is too large");
    for (size_t at = 0; at < bytes->len; at++)
        if (bytes->str[at] != '\r' || bytes->str[at + 1] != '\n')
            g_string_append_c(writer->text, bytes->str[at]);
    return true;
}

/* A value that was set from text by a program is an object of chunks, (text, charset) each; *text has them joined. */
static const PickleValue *text_of_header(const PickleValue *value, GString *text)
{
    const PickleValue *chunks = value->type == PICKLE_OBJECT ? pickle_get(value->state, "_chunks") : NULL;
    for (guint i = 0; chunks && chunks->items && i < chunks->items->len && text->len <= MBOX_MAIL_MAX; i++) {
        const PickleValue *chunk = chunks->items->pdata[i];
        const PickleValue *part = chunk->items && chunk->items->len > 0 ? chunk->items->pdata[0] : NULL;
        if (text->len > 0)
            g_string_append_c(text, ' ');
        pickle_text_bytes(part, text);
    }
    return chunks ? NULL : value;
}

static bool write_field(Writer *writer, const PickleValue *field, bool outermost)
{
    const char *name = field->items && field->items->len == 2 ? pickle_string(field->items->pdata[0]) : NULL;
    if (!name)
        return fail(writer->error, FAIL_NEVER, "a header field has no name and value");
    g_autoptr(GString) value = g_string_new(NULL);
    pickle_text_bytes(text_of_header(field->items->pdata[1], value), value);
    if (outermost && !writer->sender && g_ascii_strcasecmp(name, "X-MailFrom") == 0)
        writer->sender = g_utf8_make_valid(value->str, (gssize)value->len);
    if (outermost && is_one_of(name, added))
        return true;
    if (!*name || strpbrk(name, ":\r\n \t"))
        return fail(writer->error, FAIL_NEVER, "a header field has a wrong name");
    /* Python takes blanks off the beginning of a value. Where its first line is empty, there mostly were none. */
    g_string_append_printf(writer->text, "%s:%s", name, value->len > 0 && value->str[0] == '\n' ? "" : " ");
    for (size_t at = 0; at < value->len; at++) { /* the next line goes on with this field, whatever is in the value */
        char c = value->str[at];
        if (c == '\r')
            continue;
        g_string_append_c(writer->text, c);
        if (c == '\n' && at + 1 < value->len && value->str[at + 1] != ' ' && value->str[at + 1] != '\t')
            g_string_append_c(writer->text, ' ');
    }
    g_string_append_c(writer->text, '\n');
    return writer->text->len <= MBOX_MAIL_MAX || fail(writer->error, FAIL_NEVER, "the mail is too large");
}

/* The value of a field of the mail; NULL: there is none. g_free() */
static char *field_of(const PickleValue *fields, const char *name)
{
    for (guint i = 0; fields && fields->items && i < fields->items->len; i++) {
        const PickleValue *field = fields->items->pdata[i];
        if (!field->items || field->items->len != 2 || !pickle_string(field->items->pdata[0]) ||
            g_ascii_strcasecmp(pickle_string(field->items->pdata[0]), name) != 0)
            continue;
        g_autoptr(GString) value = g_string_new(NULL);
        pickle_text_bytes(text_of_header(field->items->pdata[1], value), value);
        return g_strdup(value->str);
    }
    return NULL;
}

/* Did Python's parser note this fault in the mail? Then it is to be there again. */
static bool has_defect(const PickleValue *state, const char *name)
{
    const PickleValue *defects = pickle_get(state, "defects");
    for (guint i = 0; defects && defects->type == PICKLE_LIST && i < defects->items->len; i++) {
        const PickleValue *defect = defects->items->pdata[i];
        if (defect->type == PICKLE_OBJECT && g_strcmp0(defect->bytes->str, name) == 0)
            return true;
    }
    return false;
}

static bool write_parts(Writer *writer, const PickleValue *state, const GPtrArray *parts, const char *boundary)
{
    const PickleValue *before = pickle_get(state, "preamble"), *after = pickle_get(state, "epilogue");
    if (pickle_string(before)) {
        if (!append_lines(writer, before))
            return false;
        g_string_append_c(writer->text, '\n');
    }
    for (guint i = 0; i < parts->len; i++) {
        g_string_append_printf(writer->text, "%s--%s\n", i > 0 ? "\n" : "", boundary);
        if (!write_mail(writer, parts->pdata[i]))
            return false;
    }
    if (has_defect(state, NOT_CLOSED))
        return true;
    g_string_append_printf(writer->text, "\n--%s--%s", boundary, pickle_string(after) ? "\n" : "");
    return !pickle_string(after) || append_lines(writer, after);
}

static bool write_body(Writer *writer, const PickleValue *state, const char *type)
{
    const PickleValue *body = pickle_get(state, "_payload");
    if (!body || body->type != PICKLE_LIST)
        return !pickle_string(body) || append_lines(writer, body);
    if (type && g_ascii_strncasecmp(type, "multipart/", strlen("multipart/")) == 0) {
        g_autoptr(ContentType) parsed = content_type_parse(type);
        g_autofree char *boundary = parsed ? content_type_first(parsed, "boundary") : NULL;
        if (!boundary)
            return fail(writer->error, FAIL_NEVER, "a part has parts, and no boundary");
        g_strchomp(boundary); /* as Python reads it */
        return write_parts(writer, state, body->items, boundary);
    }
    /* The one mail inside message/rfc822, or the blocks of fields of a delivery report: each has an empty line behind
     * it but for the last. */
    bool blocks = type && g_ascii_strncasecmp(type, REPORT, strlen(REPORT)) == 0;
    for (guint i = 0; i < body->items->len; i++) {
        const PickleValue *part = body->items->pdata[i];
        if (blocks && i > 0)
            g_string_append_c(writer->text, '\n');
        if (!write_mail(writer, part))
            return false;
        if (blocks && !has_defect(part->state, NO_SEPARATOR) && g_str_has_suffix(writer->text->str, "\n"))
            g_string_truncate(writer->text, writer->text->len - 1);
    }
    return true;
}

static bool write_mail(Writer *writer, const PickleValue *mail)
{
    const PickleValue *fields = mail->type == PICKLE_OBJECT ? pickle_get(mail->state, "_headers") : NULL;
    if (!fields || fields->type != PICKLE_LIST)
        return fail(writer->error, FAIL_NEVER, "it is no mail of Python");
    if (writer->depth == DEPTH_MOST)
        return fail(writer->error, FAIL_NEVER, "the parts of the mail lie too deep");
    if (++writer->parts > PARTS_MOST)
        return fail(writer->error, FAIL_NEVER, "the mail has too many parts");
    for (guint i = 0; i < fields->items->len; i++)
        if (!write_field(writer, fields->items->pdata[i], writer->depth == 0))
            return false;
    if (!has_defect(mail->state, NO_SEPARATOR))
        g_string_append_c(writer->text, '\n');
    g_autofree char *type = field_of(fields, "Content-Type");
    writer->depth++;
    bool written = write_body(writer, mail->state, type);
    writer->depth--;
    return written;
}

GBytes *python_mail_bytes(const PickleValue *mail, char **sender, GError **error)
{
    Writer writer = {.text = g_string_new(NULL), .error = error};
    bool written = write_mail(&writer, mail);
    if (!g_str_has_suffix(writer.text->str, "\n")) /* each mail that came by SMTP has it */
        g_string_append_c(writer.text, '\n');
    if (sender)
        *sender = g_steal_pointer(&writer.sender);
    g_free(writer.sender);
    if (written)
        return g_string_free_to_bytes(writer.text);
    g_string_free(writer.text, TRUE);
    return NULL;
}
