/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/mime/parameter.h"

#include <string.h>

#include "base/bytes.h"
#include "mail/charset.h"

#define PIECES_MAX 1000

typedef struct Parameter {
    char *name;    /* without what RFC 2231 adds */
    char *value;   /* as written, quotes and escapes removed */
    int piece;     /* -1: whole */
    bool extended; /* has percent signs (and, in piece 0 or a whole, charset and language) */
} Parameter;

static void parameter_free(gpointer data)
{
    Parameter *parameter = data;
    g_free(parameter->name);
    g_free(parameter->value);
    g_free(parameter);
}

void content_type_free(ContentType *type)
{
    if (!type)
        return;
    g_free(type->type);
    g_ptr_array_unref(type->parameters);
    g_free(type);
}

/* Past blanks and comments, which nest; one that does not end takes all. */
static const char *skip_comments(const char *at, bool *broken)
{
    unsigned depth = 0;
    for (; *at; at++) {
        if (depth > 0 && *at == '\\' && at[1])
            at++;
        else if (*at == '(')
            depth++;
        else if (depth > 0 && *at == ')')
            depth--;
        else if (depth == 0 && !byte_is_blank(*at))
            break;
    }
    *broken |= depth > 0;
    return at;
}

/* An unquoted word, up to a character that ends it. Writers put @, / and others into one without quotes. */
static char *take_word(const char **at, const char *more)
{
    const char *start = *at;
    while (**at && !byte_is_blank(**at) && !strchr(";(\"", **at) && !strchr(more, **at))
        ++*at;
    return g_strndup(start, (size_t)(*at - start));
}

static char *take_quoted(const char **at, bool *broken)
{
    GString *text = g_string_new(NULL);
    for (++*at; **at && **at != '"'; ++*at) {
        if (**at == '\\' && (*at)[1])
            ++*at;
        g_string_append_c(text, **at);
    }
    if (**at == '"')
        ++*at;
    else
        *broken = true;
    return g_string_free(text, FALSE);
}

/* One "NAME=VALUE"; false when there is none. */
static bool take_parameter(ContentType *type, const char **at)
{
    Parameter *parameter = g_new0(Parameter, 1);
    g_ptr_array_add(type->parameters, parameter);
    parameter->name = take_word(at, "=");
    *at = skip_comments(*at, &type->broken);
    if (**at != '=' || !*parameter->name)
        return false;
    *at = skip_comments(*at + 1, &type->broken);
    parameter->value = **at == '"' ? take_quoted(at, &type->broken) : take_word(at, "");
    *at = skip_comments(*at, &type->broken);
    /* NAME, NAME*, NAME*N, NAME*N*: the additions are taken off. */
    char *star = strchr(parameter->name, '*');
    parameter->piece = -1;
    if (!star)
        return true;
    *star++ = '\0';
    size_t digits = strspn(star, "0123456789");
    parameter->extended = star[digits] == '*' || *star == '\0';
    if (digits > 0 && digits < 4 && (*star != '0' || digits == 1))
        parameter->piece = (int)g_ascii_strtoll(star, NULL, 10);
    else if (digits > 0)
        return false;
    return star[digits] == '\0' || (digits > 0 && star[digits] == '*' && star[digits + 1] == '\0');
}

ContentType *content_type_parse(const char *value)
{
    ContentType *type = g_new0(ContentType, 1);
    type->parameters = g_ptr_array_new_with_free_func(parameter_free);
    const char *at = skip_comments(value, &type->broken);
    g_autofree char *major = take_word(&at, "/"), *minor = NULL;
    at = skip_comments(at, &type->broken);
    if (*at == '/') {
        at = skip_comments(at + 1, &type->broken);
        minor = take_word(&at, "/,");
        at = skip_comments(at, &type->broken);
    }
    type->type = minor ? g_strconcat(major, "/", minor, NULL) : g_strdup("");
    while (*at && type->parameters->len < PIECES_MAX) {
        if (*at != ';') { /* what stands between two parameters */
            type->broken = true;
            at += strcspn(at, ";");
            continue;
        }
        at = skip_comments(at + 1, &type->broken);
        if (*at != ';' && *at && !take_parameter(type, &at)) {
            g_ptr_array_set_size(type->parameters, (int)type->parameters->len - 1);
            type->broken = true;
            at += strcspn(at, ";");
        }
    }
    type->broken |= *at != '\0';
    return type;
}

static void append_decoded(GString *text, const Parameter *parameter, bool first)
{
    const char *at = parameter->value;
    if (!parameter->extended) {
        g_string_append(text, at);
        return;
    }
    for (int quotes = 0; first && quotes < 2; quotes++) { /* CHARSET'LANGUAGE'TEXT */
        const char *quote = strchr(at, '\'');
        at = quote ? quote + 1 : at;
    }
    for (; *at; at++) {
        if (*at == '%' && g_ascii_isxdigit(at[1]) && g_ascii_isxdigit(at[2])) {
            g_string_append_c(text, (char)(g_ascii_xdigit_value(at[1]) << 4 | g_ascii_xdigit_value(at[2])));
            at += 2;
        } else {
            g_string_append_c(text, *at);
        }
    }
}

/* The parameter with that name and piece; *count tells how many there are. */
static const Parameter *find(const ContentType *type, const char *name, int piece, unsigned *count)
{
    const Parameter *found = NULL;
    *count = 0;
    for (guint i = 0; i < type->parameters->len; i++) {
        const Parameter *parameter = type->parameters->pdata[i];
        if (g_ascii_strcasecmp(parameter->name, name) != 0 || parameter->piece != piece)
            continue;
        found = parameter;
        ++*count;
    }
    return found;
}

bool content_type_parameter(const ContentType *type, const char *name, char **value)
{
    *value = NULL;
    unsigned all = 0, count, used = 0;
    for (guint i = 0; i < type->parameters->len; i++)
        all += g_ascii_strcasecmp(((const Parameter *)type->parameters->pdata[i])->name, name) == 0;
    const Parameter *parameter = find(type, name, -1, &count);
    g_autoptr(GString) text = g_string_new(NULL);
    if (parameter) {
        append_decoded(text, parameter, true);
        used = 1;
    } else {
        for (int piece = 0; (parameter = find(type, name, piece, &count)) && count == 1; piece++, used++)
            append_decoded(text, parameter, piece == 0);
    }
    if (used != all)
        return false;
    if (all > 0 && strlen(text->str) == text->len)
        *value = g_string_free(g_steal_pointer(&text), FALSE);
    return all == 0 || *value;
}

/* Append the text of some octets to texts. Programs end it at a NUL, or leave that out. */
static void add_text(GPtrArray *texts, const Parameter *first, const GString *octets)
{
    /* The charset that an extended value names: CHARSET'LANGUAGE'TEXT. */
    const char *quote = first->extended ? strchr(first->value, '\'') : NULL;
    g_autofree char *charset = quote ? g_strndup(first->value, (gsize)(quote - first->value)) : g_strdup("");
    g_autoptr(GString) text = g_string_new(NULL);
    charset_decode(charset, octets->str, octets->len, false, text);
    g_ptr_array_add(texts, g_utf8_make_valid(text->str, -1));
    if (strlen(text->str) == text->len)
        return;
    g_autoptr(GString) rest = g_string_new(NULL);
    for (gsize at = 0; at < text->len; at++)
        if (text->str[at])
            g_string_append_c(rest, text->str[at]);
    g_ptr_array_add(texts, g_utf8_make_valid(rest->str, (gssize)rest->len));
}

static gint compare_pieces(gconstpointer a, gconstpointer b)
{
    const Parameter *first = *(Parameter *const *)a, *second = *(Parameter *const *)b;
    return first->piece - second->piece;
}

/* Join the pieces, in order, and of several with one number the first or the last. gaps: go on behind a gap. */
static void add_joined(GPtrArray *texts, const GPtrArray *pieces, bool last, bool gaps)
{
    g_autoptr(GString) octets = g_string_new(NULL);
    int next = 0;
    for (guint at = 0; at < pieces->len; at++) {
        const Parameter *piece = pieces->pdata[at];
        bool repeated = last ? at + 1 < pieces->len && ((Parameter *)pieces->pdata[at + 1])->piece == piece->piece
                             : at > 0 && ((Parameter *)pieces->pdata[at - 1])->piece == piece->piece;
        if (repeated)
            continue;
        if (piece->piece != next && !gaps)
            break;
        append_decoded(octets, piece, at == 0);
        next = piece->piece + 1;
    }
    if (octets->len > 0)
        add_text(texts, pieces->pdata[0], octets);
}

void content_type_texts(const ContentType *type, const char *name, GPtrArray *texts)
{
    g_autoptr(GPtrArray) pieces = g_ptr_array_new();
    for (guint at = 0; at < type->parameters->len; at++) {
        Parameter *parameter = type->parameters->pdata[at];
        if (g_ascii_strcasecmp(parameter->name, name) != 0)
            continue;
        if (parameter->piece >= 0) {
            g_ptr_array_add(pieces, parameter);
            continue;
        }
        g_autoptr(GString) octets = g_string_new(NULL);
        append_decoded(octets, parameter, true);
        add_text(texts, parameter, octets);
    }
    g_ptr_array_sort(pieces, compare_pieces);
    for (unsigned way = 0; pieces->len > 0 && way < 4; way++)
        add_joined(texts, pieces, way & 1, way & 2);
}

unsigned content_type_parameters(const ContentType *type)
{
    return type->parameters->len;
}

char *content_type_first(const ContentType *type, const char *name)
{
    char *value;
    if (content_type_parameter(type, name, &value))
        return value;
    for (guint i = 0; i < type->parameters->len; i++) {
        const Parameter *parameter = type->parameters->pdata[i];
        if (g_ascii_strcasecmp(parameter->name, name) == 0 && parameter->piece == -1)
            return g_strdup(parameter->value);
    }
    return NULL;
}

char *content_token(const char *value)
{
    bool broken = false;
    const char *at = skip_comments(value, &broken);
    g_autofree char *word = take_word(&at, "");
    at = skip_comments(at, &broken);
    return broken || *at ? g_strdup(value) : g_steal_pointer(&word);
}
