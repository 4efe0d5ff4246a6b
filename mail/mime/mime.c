/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/mime/mime.h"

#include <string.h>

#include "mail/charset.h"
#include "mail/header.h"
#include "mail/mime/parameter.h"
#include "mail/transfer.h"

#define DEPTH_LIMIT 12
#define PART_LIMIT 200

typedef struct MimeReader {
    const char *end;
    GPtrArray *parts;
    unsigned most, deepest;
    bool whole;         /* messages within are split, too */
    GHashTable *levels; /* of the multiparts that are open, by their boundaries; of two with one, that of the inner */
    GString *line;      /* where a boundary is cut out */
} MimeReader;

/* Where a part stands. */
typedef struct PartPlace {
    unsigned level; /* multiparts and messages around it */
    bool inside;    /* it is a mail inside a message/rfc822 part */
    bool digest;    /* in a multipart/digest: parts without a type are messages (RFC 2046, 5.1.5) */
} PartPlace;

/* The line that begins a part of a multipart, or ends it. */
typedef struct Delimiter {
    const char *start, *behind; /* at the end of the mail both are there */
    unsigned level;             /* of the multipart; 0: it is the end of the mail */
    bool closing;
} Delimiter;

static void part_free(void *data)
{
    MimePart *part = data;
    g_free(part->type);
    g_free(part->charset);
    g_free(part->encoding);
    g_free(part);
}

static size_t line_length(const char *at, const char *end)
{
    const char *feed = memchr(at, '\n', (size_t)(end - at));
    return feed ? (size_t)(feed - at) + 1 : (size_t)(end - at);
}

/* Is the line a delimiter of an open multipart? Blanks behind the boundary do not count (RFC 2046, 5.1.1); but anything
 * else does, so that a boundary may begin like another one. */
static bool is_delimiter(const MimeReader *reader, const char *at, size_t line, Delimiter *found)
{
    size_t length = line;
    if (line < 2 || memcmp(at, "--", 2) != 0)
        return false;
    while (length > 2 && g_ascii_isspace(at[length - 1]))
        length--;
    if (memchr(at, '\0', length))
        return false;
    g_string_truncate(reader->line, 0);
    g_string_append_len(reader->line, at + 2, (gssize)length - 2);
    *found = (Delimiter){.start = at, .behind = at + line};
    found->level = GPOINTER_TO_UINT(g_hash_table_lookup(reader->levels, reader->line->str));
    if (found->level == 0 && g_str_has_suffix(reader->line->str, "--")) {
        g_string_truncate(reader->line, reader->line->len - 2);
        found->level = GPOINTER_TO_UINT(g_hash_table_lookup(reader->levels, reader->line->str));
        found->closing = true;
    }
    return found->level > 0;
}

/* The first delimiter at or behind a line, of whichever multipart. */
static Delimiter find_delimiter(const MimeReader *reader, const char *at)
{
    const char *end = reader->end;
    Delimiter found;
    bool any = g_hash_table_size(reader->levels) > 0;
    for (const char *before; any && at < end; at = before + 1) {
        if (is_delimiter(reader, at, line_length(at, end), &found))
            return found;
        before = memmem(at, (size_t)(end - at), "\n--", 3);
        if (!before)
            break;
    }
    return (Delimiter){.start = end, .behind = end};
}

/* Is the line, of a head that begins at head, a field, or one that may stand before the first? */
static bool is_field(const char *head, const char *line, size_t length)
{
    bool first = line == head;
    if (first && length > 6 && memcmp(line + (*line == '>'), "From ", 5) == 0)
        return true;
    size_t name = first && length > 3 && memcmp(line, "\xef\xbb\xbf", 3) == 0 ? 3 : 0; /* as in message.h */
    size_t at = name;
    while (at < length && line[at] > ' ' && line[at] < 127 && line[at] != ':')
        at++;
    while (at > name && at < length && (line[at] == ' ' || line[at] == '\t'))
        at++;
    return at > name && at < length && line[at] == ':';
}

static bool is_empty(const char *at, size_t line)
{
    return at[0] == '\n' || (at[0] == '\r' && (line == 1 || at[1] == '\n'));
}

/* The next line that begins as a field of the content, before an empty line or a delimiter; NULL: there is none. */
static const char *next_content(const MimeReader *reader, const char *at)
{
    Delimiter found;
    for (size_t line; at < reader->end; at += line) {
        line = line_length(at, reader->end);
        if (is_empty(at, line) || is_delimiter(reader, at, line, &found))
            return NULL;
        if (line > 8 && g_ascii_strncasecmp(at, "Content-", 8) == 0)
            return at;
    }
    return NULL;
}

/* The head of a mail, or of a part, which ends at the latest where the next part begins. It ends before a line that is
 * no field, too; but there are programs that read on, so whoever decides by what is in a mail has to do so as well. */
static size_t head_length(const char *octets, size_t length, const MimeReader *reader)
{
    const char *end = octets + length, *at = octets, *content = NULL;
    Delimiter found;
    bool any = false;
    while (at < end) {
        size_t line = line_length(at, end);
        if (is_empty(at, line))
            return any ? (size_t)(at - octets) + line : 0;
        if (reader && is_delimiter(reader, at, line, &found))
            return (size_t)(at - octets);
        if (!is_field(octets, at, line) && !(any && (at[0] == ' ' || at[0] == '\t'))) {
            if (reader && reader->whole && (any || reader->parts->len > 1) && (!content || at > content))
                content = next_content(reader, at);
            if (!content)
                return any ? (size_t)(at - octets) : 0;
        }
        any = true;
        at += line;
    }
    return length;
}

size_t mime_head(const char *octets, size_t length)
{
    return head_length(octets, length, NULL);
}

static char *unfold(const char *at, const char *end)
{
    while (at < end && g_ascii_isspace(*at))
        at++;
    while (at < end && g_ascii_isspace(end[-1]))
        end--;
    char *value = g_malloc((gsize)(end - at) + 1), *to = value;
    for (; at < end; at++)
        if (*at != '\r' && *at != '\n' && *at != '\0')
            *to++ = *at == '\t' ? ' ' : *at;
    *to = '\0';
    return value;
}

void mime_fields(const char *head, size_t length, MimeField *fields, size_t count)
{
    const char *end = head + length, *at = head;
    size_t missing = count;
    while (at < end && missing > 0) {
        size_t line = line_length(at, end);
        for (size_t i = 0; i < count; i++) {
            if (fields[i].value || line <= fields[i].length ||
                g_ascii_strncasecmp(at, fields[i].name, fields[i].length) != 0)
                continue;
            const char *colon = at + fields[i].length, *stop = at + line;
            while (colon < stop && (*colon == ' ' || *colon == '\t'))
                colon++;
            if (colon == stop || *colon != ':')
                continue;
            while (stop < end && (*stop == ' ' || *stop == '\t'))
                stop += line_length(stop, end);
            fields[i].value = unfold(colon + 1, stop);
            missing--;
        }
        at += line;
    }
}

char *mime_field(const char *head, size_t length, const char *name)
{
    MimeField field = {.name = name, .length = strlen(name)};
    mime_fields(head, length, &field, 1);
    return field.value;
}

static char *lower_all(char *value)
{
    for (char *at = value; *at; at++)
        *at = g_ascii_isupper(*at) ? (char)(*at | 0x20) : *at;
    return value;
}

static Delimiter read_part(MimeReader *reader, PartPlace place, const char *start, const char *head);

/* The parts of a multipart, up to the first delimiter of another one. A multipart that is not closed ends there. No
 * part begins where the mail ends. */
static Delimiter read_multipart(MimeReader *reader, PartPlace place, const MimePart *part, char *boundary)
{
    void *outer = g_hash_table_lookup(reader->levels, boundary);
    g_hash_table_insert(reader->levels, boundary, GUINT_TO_POINTER(place.level));
    Delimiter next = find_delimiter(reader, part->body);
    while (next.level == place.level && !next.closing && next.behind < reader->end)
        next = reader->parts->len < reader->most ? read_part(reader, place, next.start, next.behind)
                                                 : find_delimiter(reader, next.behind);
    if (outer)
        g_hash_table_insert(reader->levels, boundary, outer);
    else
        g_hash_table_remove(reader->levels, boundary);
    return next.level == place.level ? find_delimiter(reader, next.behind) : next;
}

bool mime_is_message(const MimePart *part)
{
    static const char *const kinds[] = {"message/rfc822", "message/rfc2822", "message/global", "message/news", NULL};
    return g_strv_contains(kinds, part->type);
}

bool mime_is_encoded(const MimePart *part)
{
    static const char *const names[] = {"base64", "quoted-printable", "uuencode", "x-uuencode", "x-uue", NULL};
    return g_strv_contains(names, part->encoding);
}

/* Reads what the fields of a part say. Returns its boundary; NULL: it has none, or readers do not agree about it, which
 * closes a part for who decides by what is in a mail. */
static char *read_fields(const MimeReader *reader, MimePart *part, bool digest)
{
    MimeField fields[] = {MIME_FIELD("Content-Type"), MIME_FIELD("Content-Transfer-Encoding")};
    mime_fields(part->head, part->head_length, fields, G_N_ELEMENTS(fields));
    g_autofree char *type = fields[0].value, *encoding = fields[1].value, *decoded = NULL;
    /* Some readers decode encoded words here. RFC 2047 has none, so a type with one is no type to the others. */
    if (reader->whole && encoding && strstr(encoding, "=?")) {
        decoded = header_decode(encoding);
        g_free(encoding);
        encoding = g_steal_pointer(&decoded);
    }
    if (reader->whole && type && strstr(type, "=?"))
        decoded = header_decode(type);
    bool hidden = decoded && memmem(type, strcspn(type, ";"), "=?", 2);
    g_autoptr(ContentType) content = content_type_parse(hidden ? decoded : type ? type : "");
    char *charset = content_type_first(content, "charset");
    part->charset = charset ? lower_all(charset) : g_strdup("");
    if (encoding)
        encoding[strcspn(encoding, "; \t")] = '\0';
    part->encoding = encoding ? lower_all(g_steal_pointer(&encoding)) : g_strdup("");
    const char *slash = strchr(content->type, '/');
    part->typed = slash > content->type && slash[1] != '\0';
    part->type = part->typed ? lower_all(g_strdup(content->type))
                             : g_strdup(!type && digest ? "message/rfc822" : "text/plain");
    if (!g_str_has_prefix(part->type, "multipart/"))
        return NULL;
    g_autofree char *boundary = content_type_first(content, "boundary");
    bool agreed = boundary && *g_strchomp(boundary);
    if (reader->whole) {
        g_autoptr(GPtrArray) texts = g_ptr_array_new_with_free_func(g_free);
        g_autoptr(ContentType) other = content_type_parse(decoded ? decoded : "");
        content_type_texts(content, "boundary", texts);
        content_type_texts(other, "boundary", texts);
        for (guint at = 0; agreed && at < texts->len; at++)
            agreed = strcmp(g_strchomp(texts->pdata[at]), boundary) == 0;
        part->closed = !agreed;
    }
    return agreed ? g_steal_pointer(&boundary) : NULL;
}

/* Reads the part whose head is at head, and those within it. Returns the delimiter that ends it. */
static Delimiter read_part(MimeReader *reader, PartPlace place, const char *start, const char *head)
{
    MimePart *part = g_new0(MimePart, 1);
    g_ptr_array_add(reader->parts, part);
    part->next = reader->parts->len;
    part->start = start;
    part->head = part->body = head;
    part->inside = place.inside && !reader->whole; /* of the mail that came back only who needs it looks at the head */
    part->head_length = part->inside ? 0 : head_length(head, (size_t)(reader->end - head), reader);
    part->body += part->head_length;
    if (part->head_length == 0 && head < reader->end)
        part->body += *head == '\n' ? 1 : *head == '\r' && head + 1 < reader->end && head[1] == '\n' ? 2 : 0;
    g_autofree char *boundary = read_fields(reader, part, place.digest);
    /* A message whose parts stand in the bytes. Who splits that by himself, decodes it before. */
    static const char *const kinds[] = {"message/rfc822", "message/global", NULL};
    bool message = !boundary && !part->inside &&
                   (reader->whole ? mime_is_message(part) && !mime_is_encoded(part)
                                  : g_strv_contains(kinds, part->type));
    part->closed |= (boundary || message) && place.level >= reader->deepest;
    bool opens = !part->closed && reader->parts->len < reader->most;
    PartPlace within = {
        .level = place.level + 1, .inside = message, .digest = strcmp(part->type, "multipart/digest") == 0};
    Delimiter next = opens && boundary  ? read_multipart(reader, within, part, boundary)
                     : opens && message ? read_part(reader, within, part->body, part->body)
                                        : find_delimiter(reader, part->body);
    part->body_length = (size_t)(next.start - part->body);
    part->end = next.start;
    /* The line end before a delimiter belongs to that (RFC 2046, 5.1.1). */
    if (next.level > 0 && part->end > part->body) {
        part->end--;
        part->end -= part->end > part->body && part->end[-1] == '\r';
    }
    /* But to the last part within, where that is the empty line behind a head. */
    part->end = MAX(part->end, ((const MimePart *)reader->parts->pdata[reader->parts->len - 1])->end);
    if (opens && !reader->whole && part->next > 1 && part->next == reader->parts->len &&
        g_str_has_prefix(part->type, "multipart/")) {
        g_free(part->type);
        part->type = g_strdup("text/plain"); /* what nobody can split is read as it is */
    }
    part->next = reader->parts->len;
    return next;
}

static GPtrArray *read_parts(const char *octets, size_t length, MimeReader reader)
{
    octets = octets ? octets : "";
    reader.end = octets + length;
    reader.parts = g_ptr_array_new_with_free_func(part_free);
    g_autoptr(GHashTable) levels = reader.levels = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GString) line = reader.line = g_string_new(NULL);
    read_part(&reader, (PartPlace){0}, octets, octets);
    return reader.parts;
}

GPtrArray *mime_parts_most(const char *octets, size_t length, unsigned most)
{
    return read_parts(octets, length, (MimeReader){.most = most, .deepest = DEPTH_LIMIT});
}

GPtrArray *mime_parts(const char *octets, size_t length)
{
    return mime_parts_most(octets, length, PART_LIMIT);
}

bool mime_delimiters(const char *body, size_t length, const char *boundary, const char **first, const char **last)
{
    g_autoptr(GHashTable) levels = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GString) line = g_string_new(NULL);
    g_autofree char *bare = g_strchomp(g_strdup(boundary)); /* as is_delimiter() reads a line */
    const MimeReader reader = {.end = body + length, .levels = levels, .line = line};
    if (!*bare)
        return false;
    g_hash_table_insert(levels, bare, GUINT_TO_POINTER(1));
    Delimiter found = find_delimiter(&reader, body);
    while (found.level > 0 && found.closing)
        found = find_delimiter(&reader, found.behind);
    *first = found.start;
    while (found.level > 0 && !found.closing)
        found = find_delimiter(&reader, found.behind);
    *last = found.start;
    return found.level > 0;
}

GBytes *mime_part_fields(const MimePart *part)
{
    GString *fields = g_string_sized_new(part->head_length);
    const char *end = part->head + part->head_length;
    for (const char *at = part->head; at < end;) {
        size_t line = line_length(at, end);
        if (is_field(part->head, at, line) || *at == ' ' || *at == '\t' || is_empty(at, line))
            g_string_append_len(fields, at, (gssize)line);
        at += line;
    }
    return g_string_free_to_bytes(fields);
}

GPtrArray *mime_parts_all(const char *octets, size_t length)
{
    MimeReader reader = {.most = MIME_ALL_PARTS + 1, .deepest = MIME_ALL_DEPTH, .whole = true};
    g_autoptr(GPtrArray) parts = read_parts(octets, length, reader);
    return parts->len <= MIME_ALL_PARTS ? g_steal_pointer(&parts) : NULL;
}

GString *mime_body(const MimePart *part, size_t limit)
{
    size_t length = MIN(part->body_length, limit);
    GString *raw = g_string_sized_new(length + 1);
    if (strcmp(part->encoding, "quoted-printable") == 0)
        transfer_decode_quoted(part->body, length, raw);
    else if (strcmp(part->encoding, "base64") == 0)
        transfer_decode_base64(part->body, length, raw);
    else
        g_string_append_len(raw, part->body, (gssize)length);
    return raw;
}

GString *mime_text(const MimePart *part, size_t limit)
{
    GString *raw = mime_body(part, limit);
    /* Many programs write one of these labels without a look at the text. */
    const char *label = charset_same(part->charset, "us-ascii") ? "" : part->charset;
    GString *text = g_string_sized_new(raw->len);
    charset_decode(label, raw->str, raw->len, limit < part->body_length, text);
    g_string_free(raw, TRUE);
    if (!memchr(text->str, '\r', text->len) && !memchr(text->str, '\0', text->len))
        return text;
    char *to = text->str;
    const char *end = text->str + text->len;
    for (const char *at = text->str; at < end; at++) {
        if (*at == '\r' && at[1] == '\n')
            continue;
        *to++ = *at;
        if ((unsigned char)*at <= '\r' && (*at == '\0' || *at == '\r'))
            to[-1] = *at ? '\n' : ' ';
    }
    g_string_truncate(text, (gsize)(to - text->str));
    return text;
}
