/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* This finds the files that a mail holds for download. */
#include <string.h>

#include "mail/mime/file_name.h"
#include "mail/mime/parameter.h"
#include "mail/text/readable_internal.h"
#include "mail/transfer.h"
#include "mail/visible.h"

#define PIECE 4096
#define TYPE_MAX 100

typedef enum Encoding { ENCODING_NONE, ENCODING_QUOTED, ENCODING_BASE64 } Encoding;

struct ReadableSource {
    GBytes *encoded;
    Encoding encoding;
};

/* Types that a browser shows or keeps, and never runs; with the ending that a file without a name gets. */
static const struct {
    const char *type, *serve_as, *ending;
} types[] = {
    {"text/plain", "text/plain", "txt"},
    {"text/x-patch", "text/plain", "patch"},
    {"text/x-diff", "text/plain", "diff"},
    {"text/csv", "text/plain", "csv"},
    {"text/markdown", "text/plain", "md"},
    {"text/x-log", "text/plain", "log"},
    {"text/html", NULL, "html"},
    {"text/calendar", NULL, "ics"},
    {"image/png", "image/png", "png"},
    {"image/jpeg", "image/jpeg", "jpg"},
    {"image/pjpeg", "image/jpeg", "jpg"},
    {"image/jpg", "image/jpeg", "jpg"},
    {"image/gif", "image/gif", "gif"},
    {"image/webp", "image/webp", "webp"},
    {"application/pdf", "application/pdf", "pdf"},
    {"application/zip", "application/zip", "zip"},
    {"application/gzip", "application/gzip", "gz"},
    {"application/x-gzip", "application/gzip", "gz"},
    {"message/rfc822", NULL, "eml"},
    {"application/pgp-keys", NULL, "asc"},
};

static size_t row_of(const char *type)
{
    size_t row = 0;
    while (row < G_N_ELEMENTS(types) && strcmp(types[row].type, type) != 0)
        row++;
    return row;
}

/* ---- names ---- */

bool readable_is_attachment(const MimePart *part)
{
    g_autofree char *value = mime_field(part->head, part->head_length, "Content-Disposition");
    if (value)
        value[strcspn(value, ";")] = '\0';
    g_autofree char *kind = content_token(value ? value : "");
    return g_ascii_strcasecmp(kind, "attachment") == 0;
}

char *readable_part_name(const MimePart *part)
{
    MimeField fields[] = {MIME_FIELD("Content-Disposition"), MIME_FIELD("Content-Type"), MIME_FIELD("Content-Name"),
                          MIME_FIELD("X-Sun-Data-Name")};
    char *found = NULL;
    mime_fields(part->head, part->head_length, fields, G_N_ELEMENTS(fields));
    for (size_t at = 0; at < G_N_ELEMENTS(fields); at++) {
        g_autofree char *value = fields[at].value;
        g_autoptr(GPtrArray) names = file_names_new();
        if (value && !found)
            file_names_add(names, fields[at].name, value);
        const FileName *first = names->len > 0 ? names->pdata[0] : NULL;
        if (first && *first->text)
            found = g_strdup(first->text);
    }
    return found;
}

bool readable_is_patch_name(const char *name)
{
    g_autofree char *ending = file_name_ending(name ? name : "");
    return g_ascii_strcasecmp(ending, "patch") == 0 || g_ascii_strcasecmp(ending, "diff") == 0;
}

/* ---- bytes ---- */

/* How many bytes base64 stands for. */
static size_t count_base64(const char *text, size_t length)
{
    guchar piece[PIECE];
    int state = 0;
    guint save = 0;
    size_t count = 0;
    for (size_t at = 0, taken; at < length; at += taken) {
        taken = MIN(length - at, PIECE);
        count += g_base64_decode_step(text + at, taken, piece, &state, &save);
    }
    return count;
}

static size_t count_quoted(const char *text, size_t length)
{
    size_t count = 0;
    for (const char *at = text, *end = text + length; at < end;)
        count += transfer_take_quoted(&at, end) >= 0;
    return count;
}

static size_t decoded_size(const struct ReadableSource *source)
{
    size_t length;
    const char *text = g_bytes_get_data(source->encoded, &length);
    return source->encoding == ENCODING_BASE64   ? count_base64(text, length)
           : source->encoding == ENCODING_QUOTED ? count_quoted(text, length)
                                                 : length;
}

GBytes *readable_file_bytes(const ReadableFile *file)
{
    const struct ReadableSource *source = file->source;
    if (source->encoding == ENCODING_NONE)
        return g_bytes_ref(source->encoded);
    size_t length;
    const char *text = g_bytes_get_data(source->encoded, &length);
    GString *decoded = g_string_sized_new(file->size + 1);
    if (source->encoding == ENCODING_BASE64)
        transfer_decode_base64(text, length, decoded);
    else
        transfer_decode_quoted(text, length, decoded);
    return g_string_free_to_bytes(decoded);
}

ReadableFile *readable_file_new(const MimePart *part, GBytes *octets, size_t number)
{
    ReadableFile *file = g_new0(ReadableFile, 1);
    const char *start = g_bytes_get_data(octets, NULL);
    size_t row = row_of(part->type);
    g_autofree char *name = readable_part_name(part);
    file->number = number;
    file->type = visible_line(part->type, TYPE_MAX);
    file->serve_as = row < G_N_ELEMENTS(types) ? types[row].serve_as : NULL;
    file->serve_as = file->serve_as ? file->serve_as : "application/octet-stream";
    file->name = file_name_safe(name ? name : "", READABLE_FILE_NAME);
    if (!*file->name) {
        g_free(file->name);
        file->name = g_strdup_printf("part-%zu.%s", number + 1, row < G_N_ELEMENTS(types) ? types[row].ending : "bin");
    }
    file->source = g_new0(struct ReadableSource, 1);
    file->source->encoded = part->body_length > 0
                                ? g_bytes_new_from_bytes(octets, (gsize)(part->body - start), part->body_length)
                                : g_bytes_new_static("", 0);
    file->source->encoding = strcmp(part->encoding, "base64") == 0             ? ENCODING_BASE64
                             : strcmp(part->encoding, "quoted-printable") == 0 ? ENCODING_QUOTED
                                                                               : ENCODING_NONE;
    file->size = decoded_size(file->source);
    return file;
}

void readable_file_free(void *data)
{
    ReadableFile *file = data;
    g_free(file->name);
    g_free(file->type);
    g_bytes_unref(file->source->encoded);
    g_free(file->source);
    g_free(file);
}
