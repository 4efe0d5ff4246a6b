/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/mime/decorate.h"

#include <string.h>

#include "base/bytes.h"
#include "mail/mime/mime.h"
#include "mail/mime/parameter.h"
#include "mail/transfer.h"

/* BodyForm holds what the header says of the body. */
typedef struct BodyForm {
    char *type;     /* "text/plain" */
    char *charset;  /* lower case, "us-ascii" when not given */
    char *encoding; /* lower case, "7bit" when not given */
    char *boundary; /* or NULL */
    char *as_utf8;  /* the field Content-Type for the same text in UTF-8; NULL: it says more than is understood here */
    bool flowed;    /* RFC 3676: a line that ends with a blank goes on in the next */
} BodyForm;

static void content_clear(BodyForm *content)
{
    g_free(content->type);
    g_free(content->charset);
    g_free(content->encoding);
    g_free(content->boundary);
    g_free(content->as_utf8);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(BodyForm, content_clear)

/* The value of the field, missing where there is none; false: there are several. g_free() */
static bool only_value(const Message *message, const char *name, const char *missing, char **value)
{
    size_t index = 0;
    const Field *field = message_find(message, name, &index);
    *value = field ? field_value(field) : g_strdup(missing);
    index++;
    return !field || !message_find(message, name, &index);
}

/* Lower case. The type is "" where the fields can be read in two ways, or where the body is an attachment: nothing is
 * joined to that. */
static void read_content(const Message *message, BodyForm *content)
{
    g_autofree char *field = NULL, *encoding = NULL, *charset = NULL, *format = NULL, *delsp = NULL, *place = NULL;
    bool clear = only_value(message, "Content-Type", "text/plain", &field);
    clear &= only_value(message, "Content-Transfer-Encoding", "", &encoding);
    /* RFC 2183: what is not inline is taken for an attachment. */
    clear &= only_value(message, "Content-Disposition", "inline", &place);
    place[strcspn(place, ";")] = '\0';
    g_autofree char *token = content_token(encoding), *where = content_token(place);
    g_autoptr(ContentType) type = content_type_parse(field);
    clear = clear && g_ascii_strcasecmp(where, "inline") == 0 && !type->broken &&
            content_type_parameter(type, "charset", &charset) && content_type_parameter(type, "format", &format) &&
            content_type_parameter(type, "boundary", &content->boundary);
    content->flowed = format && g_ascii_strcasecmp(format, "flowed") == 0;
    content->type = g_ascii_strdown(clear ? type->type : "", -1);
    content->charset = g_ascii_strdown(charset && *charset ? charset : "us-ascii", -1);
    content->encoding = g_ascii_strdown(*token ? token : "7bit", -1);
    /* The same text in UTF-8 has these parameters alone, with values that are known. */
    bool known = clear && content_type_parameter(type, "delsp", &delsp) &&
                 (!delsp || g_ascii_strcasecmp(delsp, "yes") == 0 || g_ascii_strcasecmp(delsp, "no") == 0) &&
                 (!format || content->flowed || g_ascii_strcasecmp(format, "fixed") == 0) &&
                 content_type_parameters(type) == (unsigned)(charset != NULL) + (format != NULL) + (delsp != NULL);
    if (known)
        content->as_utf8 = g_strconcat("text/plain; charset=utf-8", format ? "; format=" : "", format ? format : "",
                                       delsp ? "; delsp=" : "", delsp ? delsp : "", NULL);
}

static void add(Decorated *result, GBytes *piece)
{
    if (g_bytes_get_size(piece) > 0)
        g_ptr_array_add(result->pieces, g_bytes_ref(piece));
}

static void add_text(Decorated *result, const char *text)
{
    g_autoptr(GBytes) piece = g_bytes_new(text, strlen(text));
    add(result, piece);
}

static void add_slice(Decorated *result, size_t from, size_t to)
{
    g_autoptr(GBytes) piece = g_bytes_new_from_bytes(result->body, from, to - from);
    add(result, piece);
}

static void add_head(Decorated *result, const Message *message)
{
    g_autoptr(GBytes) head = message_head(message);
    size_t length;
    const char *octets = g_bytes_get_data(head, &length);
    bool ended = length > 0 && octets[length - 1] == '\n';
    bool empty_line = ended && (length == 1 || octets[length - 2] == '\n' ||
                                (octets[length - 2] == '\r' && (length == 2 || octets[length - 3] == '\n')));
    add(result, head);
    /* A message that ends with its header has no empty line behind it; what is added would be taken for a field. */
    add_text(result, empty_line ? "" : ended || length == 0 ? "\r\n" : "\r\n\r\n");
}

/* --- how text is written --------------------------------------------------- */

/* Bytes of a text with CRLF as quoted-printable. Marks stay in one piece. */
static char *to_qp(const char *text, const char *secret)
{
    GString *out = g_string_new(NULL);
    size_t column = 0;
    for (const char *at = text; *at;) {
        const char *mark = secret ? strstr(at, secret) : NULL;
        while (mark && !copy_is_mark(secret, mark, strlen(mark)))
            mark = strstr(mark + 1, secret);
        size_t length = mark ? (size_t)(mark - at) : strlen(at);
        transfer_encode_quoted(out, &column, at, length, "\r\n");
        at += length;
        if (!mark)
            break;
        if (column + COPY_MARK_LENGTH >= TRANSFER_LINE) {
            g_string_append(out, "=\r\n");
            column = 0;
        }
        g_string_append_len(out, at, COPY_MARK_LENGTH);
        column += COPY_MARK_LENGTH;
        at += COPY_MARK_LENGTH;
    }
    return g_string_free(out, FALSE);
}

/* The text with CRLF, also at its end, and with the marks for this encoding. */
static char *prepared(const char *text, const Decoration *decoration, CopyEncoding encoding)
{
    GString *out = g_string_new(NULL);
    for (const char *at = text; *at; at++) {
        if (*at == '\n')
            g_string_append_c(out, '\r');
        if (*at != '\r')
            g_string_append_c(out, *at);
    }
    if (out->len > 0 && out->str[out->len - 1] != '\n')
        g_string_append(out, "\r\n");
    char *lines = g_string_free(out, FALSE);
    if (decoration->secret)
        copy_set_encoding(decoration->secret, lines, encoding);
    return lines;
}

/* --- a text of its own ------------------------------------------------------ */

/* A charset in which ASCII bytes are ASCII. */
static bool holds_ascii(const char *charset)
{
    static const char *const prefixes[] = {"us-ascii", "ascii", "utf-8", "utf8", "iso-8859-", "windows-125", "koi8-"};
    for (size_t at = 0; at < G_N_ELEMENTS(prefixes); at++)
        if (g_str_has_prefix(charset, prefixes[at]))
            return true;
    return false;
}

static bool is_utf8(const BodyForm *content)
{
    return strcmp(content->charset, "utf-8") == 0 || strcmp(content->charset, "utf8") == 0;
}

/* The text as it stands in this content; NULL when it cannot stand there. */
static char *joinable(const char *text, const Decoration *decoration, const BodyForm *content)
{
    bool qp = strcmp(content->encoding, "quoted-printable") == 0;
    bool octets = strcmp(content->encoding, "8bit") == 0 || strcmp(content->encoding, "binary") == 0;
    bool plain = octets || strcmp(content->encoding, "7bit") == 0;
    if (!(qp || plain) || !holds_ascii(content->charset))
        return NULL;
    bool personal = decoration->secret && strstr(text, decoration->secret);
    if (personal && !(is_utf8(content) && (qp || octets))) /* names of members need not be ASCII */
        return NULL;
    CopyEncoding encoding = qp ? COPY_QP : COPY_UTF8;
    g_autofree char *lines = prepared(text, decoration, encoding);
    if (!g_str_is_ascii(lines) && !is_utf8(content)) {
        if (strcmp(content->charset, "us-ascii") == 0 || strcmp(content->charset, "ascii") == 0)
            return NULL;
        char *converted = g_convert(lines, -1, content->charset, "UTF-8", NULL, NULL, NULL);
        if (!converted)
            return NULL;
        g_free(lines);
        lines = converted;
    }
    if (!g_str_is_ascii(lines) && !qp && !octets)
        return NULL;
    return qp ? to_qp(lines, decoration->secret) : g_steal_pointer(&lines);
}

/* Return the line end that the text needs before something is joined behind it. */
static const char *missing_end(GBytes *body, const BodyForm *content)
{
    size_t length;
    const char *octets = g_bytes_get_data(body, &length);
    bool ended = length > 0 && octets[length - 1] == '\n', qp = strcmp(content->encoding, "quoted-printable") == 0;
    if (length == 0)
        return "";
    length -= ended;
    length -= ended && length > 0 && octets[length - 1] == '\r';
    /* A soft line break of quoted-printable (which may have blanks behind it), or a flowed line that is not the one
     * above a signature, goes on in what is joined. */
    const char *feed = length > 0 ? memrchr(octets, '\n', length) : NULL, *line = feed ? feed + 1 : octets;
    g_autofree char *last = g_strndup(line, (size_t)(octets + length - line));
    bool goes_on = content->flowed && g_str_has_suffix(last, qp ? "=20" : " ")
                       ? strcmp(last, qp ? "--=20" : "-- ") != 0
                       : qp && g_str_has_suffix(g_strchomp(last), "=");
    return goes_on ? (ended ? "\r\n" : "\r\n\r\n") : ended ? "" : "\r\n";
}

/* The list's texts as they stand in this content; false: one cannot. */
static bool joinable_both(const Decoration *decoration, const BodyForm *content, char **before, char **after)
{
    g_clear_pointer(before, g_free);
    g_clear_pointer(after, g_free);
    *before = decoration->header ? joinable(decoration->header, decoration, content) : g_strdup("");
    *after = decoration->footer ? joinable(decoration->footer, decoration, content) : g_strdup("");
    return *before && *after;
}

static bool join(Message *message, const Decoration *decoration, const BodyForm *content, Decorated *result)
{
    static const char *const plain[] = {"7bit", "8bit", "binary", NULL};
    g_autofree char *before = NULL, *after = NULL;
    if (strcmp(content->type, "text/plain") != 0)
        return false;
    if (!joinable_both(decoration, content, &before, &after)) {
        /* A body of ASCII alone is the same in UTF-8: then only the fields need say so for a text that has more. */
        BodyForm utf8 = *content;
        utf8.charset = (char *)"utf-8";
        utf8.encoding = (char *)"8bit";
        if (!content->as_utf8 || !holds_ascii(content->charset) || !g_strv_contains(plain, content->encoding) ||
            bytes_8bit_of(result->body) || !joinable_both(decoration, &utf8, &before, &after))
            return false;
        /* Where it is more only for readers with such a name, each copy says it for itself. */
        bool each = decoration->secret && g_str_is_ascii(before) && g_str_is_ascii(after);
        g_autofree char *charset = each ? copy_mark(decoration->secret, COPY_CHARSET, COPY_HEADER) : NULL;
        g_autofree char *transfer = each ? copy_mark(decoration->secret, COPY_TRANSFER, COPY_HEADER) : g_strdup("8bit");
        const char *parameters = content->as_utf8 + strlen("text/plain; charset=utf-8");
        g_autofree char *type = each && !is_utf8(content)
                                    ? g_strconcat("text/plain; charset=", charset, parameters, NULL)
                                    : g_strdup(content->as_utf8);
        if (!message_has(message, "MIME-Version"))
            message_append(message, "MIME-Version", "1.0");
        message_set(message, "Content-Type", type);
        message_set(message, "Content-Transfer-Encoding", transfer);
    }
    message_remove(message, "Content-MD5");
    add_head(result, message);
    add_text(result, before);
    add(result, result->body);
    if (*after)
        add_text(result, missing_end(result->body, content));
    add_text(result, after);
    return true;
}

/* --- parts ------------------------------------------------------------------ */

/* A part that holds the text, with its header. */
static char *make_part(const char *text, const Decoration *decoration)
{
    bool personal = decoration->secret && strstr(text, decoration->secret);
    bool ascii = g_str_is_ascii(text) && !personal;
    g_autofree char *lines = prepared(text, decoration, ascii ? COPY_ASCII : COPY_QP);
    g_autofree char *body = ascii ? g_strdup(lines) : to_qp(lines, decoration->secret);
    return g_strdup_printf("Content-Type: text/plain; charset=\"%s\"\r\nContent-Transfer-Encoding: %s\r\n"
                           "Content-Disposition: inline\r\n\r\n%s",
                           ascii ? "us-ascii" : "utf-8", ascii ? "7bit" : "quoted-printable", body);
}

char *decorate_text_part(const char *text)
{
    return make_part(text, &(Decoration){0});
}

static bool extend_mixed(Message *message, const Decoration *decoration, const BodyForm *content, Decorated *result)
{
    const char *opening, *closing, *body = g_bytes_get_data(result->body, NULL);
    if (strcmp(content->type, "multipart/mixed") != 0 || !content->boundary || !*content->boundary || !body ||
        !mime_delimiters(body, g_bytes_get_size(result->body), content->boundary, &opening, &closing))
        return false;
    size_t first = (size_t)(opening - body), last = (size_t)(closing - body);
    message_remove(message, "Content-MD5");
    add_head(result, message);
    add_slice(result, 0, first);
    if (decoration->header && *decoration->header) {
        g_autofree char *part = make_part(decoration->header, decoration);
        g_autofree char *text = g_strdup_printf("--%s\r\n%s\r\n", content->boundary, part);
        add_text(result, text);
    }
    add_slice(result, first, last);
    if (decoration->footer && *decoration->footer) {
        g_autofree char *part = make_part(decoration->footer, decoration);
        g_autofree char *text = g_strdup_printf("--%s\r\n%s\r\n", content->boundary, part);
        add_text(result, text);
    }
    add_slice(result, last, g_bytes_get_size(result->body));
    return true;
}

static bool take_if_content(const Field *field, void *fields)
{
    bool content = field_is_content(field, NULL);
    if (content)
        g_string_append_len(fields, field->text, (gssize)field->length);
    return content;
}

static void wrap(Message *message, const Decoration *decoration, Decorated *result)
{
    /* A boundary that stands nowhere in the body. */
    size_t length;
    const char *octets = g_bytes_get_data(result->body, &length);
    g_autofree char *sum = g_compute_checksum_for_bytes(G_CHECKSUM_SHA256, result->body);
    g_autofree char *boundary = g_strdup_printf("=_%.24s.0", sum);
    for (unsigned attempt = 1; length > 0 && memmem(octets, length, boundary, strlen(boundary)); attempt++) {
        g_free(boundary);
        boundary = g_strdup_printf("=_%.24s.%u", sum, attempt);
    }
    g_autofree char *type = g_strdup_printf("multipart/mixed; boundary=\"%s\"", boundary);
    g_autoptr(GString) fields = g_string_new(NULL); /* that tell of the content, as they stand */
    message_remove_if(message, take_if_content, fields);
    if (!message_has(message, "MIME-Version"))
        message_append(message, "MIME-Version", "1.0");
    message_append(message, "Content-Type", type);
    add_head(result, message);
    g_autoptr(GString) text = g_string_new(NULL);
    if (decoration->header && *decoration->header) {
        g_autofree char *part = make_part(decoration->header, decoration);
        g_string_append_printf(text, "--%s\r\n%s\r\n", boundary, part);
    }
    g_string_append_printf(text, "--%s\r\n%s\r\n", boundary, fields->str);
    add_text(result, text->str);
    add(result, result->body);
    g_string_truncate(text, 0);
    if (decoration->footer && *decoration->footer) {
        g_autofree char *part = make_part(decoration->footer, decoration);
        g_string_append_printf(text, "\r\n--%s\r\n%s", boundary, part);
    }
    g_string_append_printf(text, "\r\n--%s--\r\n", boundary);
    add_text(result, text->str);
}

void decorate(Message *message, const Decoration *decoration, Decorated *result)
{
    g_auto(BodyForm) content = {0};
    *result = (Decorated){g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref), message_body(message)};
    bool any = (decoration->header && *decoration->header) || (decoration->footer && *decoration->footer);
    read_content(message, &content);
    if (!any) {
        g_autoptr(GBytes) head = message_head(message);
        add(result, head);
        add(result, result->body);
        return;
    }
    /* Fields that are true only of the body as it came. */
    message_remove(message, "Content-Length");
    message_remove(message, "Lines");
    if (!join(message, decoration, &content, result) && !extend_mixed(message, decoration, &content, result))
        wrap(message, decoration, result);
}

void decorated_clear(Decorated *decorated)
{
    g_clear_pointer(&decorated->pieces, g_ptr_array_unref);
    g_clear_pointer(&decorated->body, g_bytes_unref);
}

bool decorated_is_own(const Decorated *decorated, GBytes *piece)
{
    size_t all, length;
    const char *body = g_bytes_get_data(decorated->body, &all), *octets = g_bytes_get_data(piece, &length);
    return body && octets >= body && octets + length <= body + all;
}
