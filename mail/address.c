/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/address.h"

#include <string.h>

#include "base/bytes.h"
#include "base/mailbox.h"

void address_free(Address *address)
{
    if (!address)
        return;
    g_free(address->display);
    g_free(address->mailbox);
    g_free(address);
}

GPtrArray *address_list_new(void)
{
    return g_ptr_array_new_with_free_func((GDestroyNotify)address_free);
}

#define BEFORE_MAX 200 /* bytes of words before a comma that may belong to a name */

/* One address in the making. */
typedef struct Parser {
    const char *text, *at, *end;
    const char *begin; /* of the one in the making: behind the last separator */
    GString *display; /* the words before a bracket */
    GString *mailbox; /* the same as an address: no blanks around @ and . */
    GString *comment;
    GString *before; /* words that ended at a comma, such as those of Smith, Bob <b@x>: a name that wants quotes */
    char last;   /* the last character of mailbox, or the quote behind a quoted string */
    bool sign;   /* mailbox has an @ outside of quotes */
    bool gap;    /* a blank stands between two words of mailbox: it can be no address */
    bool loose;  /* a blank stands beside a . or @ of mailbox */
    bool behind; /* an address in brackets stands before, and no comma since */
    bool plain;  /* what address_parse() returns */
} Parser;

static bool is_atom(char octet)
{
    return (unsigned char)octet > ' ' && octet != 127 && !strchr("()<>[]:;@,.\"\\", octet);
}

static void reset(Parser *parser)
{
    g_string_truncate(parser->display, 0);
    g_string_truncate(parser->mailbox, 0);
    g_string_truncate(parser->comment, 0);
    parser->last = '\0';
    parser->sign = parser->gap = parser->loose = false;
}

/* Comments nest; the text of the last one may serve as a display name. */
static void skip_comment(Parser *parser)
{
    unsigned depth = 0;
    g_string_truncate(parser->comment, 0);
    for (; parser->at < parser->end; parser->at++) {
        char octet = *parser->at;
        if (octet == '\\' && parser->at + 1 < parser->end) {
            g_string_append_c(parser->comment, *++parser->at);
        } else if (octet == '(') {
            if (depth++ > 0)
                g_string_append_c(parser->comment, octet);
        } else if (octet == ')') {
            if (--depth == 0) {
                parser->at++;
                return;
            }
            g_string_append_c(parser->comment, octet);
        } else if (octet != '\r' && octet != '\n') {
            g_string_append_c(parser->comment, octet);
        }
    }
    parser->plain = false;
}

static void skip_blanks(Parser *parser)
{
    while (parser->at < parser->end) {
        if (byte_is_blank(*parser->at))
            parser->at++;
        else if (*parser->at == '(')
            skip_comment(parser);
        else
            return;
    }
}

/* Reads one word, special or domain literal into mailbox (and display). */
static void read_piece(Parser *parser, bool spaced)
{
    char octet = *parser->at;
    bool joins = octet == '.' || octet == '@' || parser->last == '.' || parser->last == '@';
    if (parser->mailbox->len > 0 && (spaced || octet == '"') && !joins)
        parser->gap = true;
    if (parser->mailbox->len > 0 && spaced && joins)
        parser->loose = true;
    parser->last = octet;
    if (octet == '@')
        parser->sign = true;
    if (parser->behind || strchr(">)\\", octet))
        parser->plain = false;
    if (parser->display->len > 0 && spaced)
        g_string_append_c(parser->display, ' ');
    if (octet == '"') {
        g_autoptr(GString) text = g_string_new(NULL);
        for (parser->at++; parser->at < parser->end && *parser->at != '"'; parser->at++) {
            if (*parser->at == '\\' && parser->at + 1 < parser->end)
                parser->at++;
            if (*parser->at != '\r' && *parser->at != '\n')
                g_string_append_c(text, *parser->at);
        }
        parser->plain = parser->plain && parser->at < parser->end;
        parser->at += parser->at < parser->end;
        g_string_append_len(parser->display, text->str, (gssize)text->len);
        /* An address has quotes only where the text needs them. */
        bool bare = mailbox_local_valid(text->str, text->len);
        g_string_append(parser->mailbox, bare ? "" : "\"");
        for (size_t at = 0; at < text->len; at++) {
            if (!bare && (text->str[at] == '"' || text->str[at] == '\\'))
                g_string_append_c(parser->mailbox, '\\');
            g_string_append_c(parser->mailbox, text->str[at]);
        }
        g_string_append(parser->mailbox, bare ? "" : "\"");
        return;
    }
    const char *start = parser->at++;
    if (octet == '[')
        while (parser->at < parser->end && parser->at[-1] != ']' && *parser->at != '>' && *parser->at != ',')
            parser->at++;
    else if (is_atom(octet))
        while (parser->at < parser->end && is_atom(*parser->at))
            parser->at++;
    parser->last = parser->at[-1];
    g_string_append_len(parser->mailbox, start, parser->at - start);
    g_string_append_len(parser->display, start, parser->at - start);
}

/* "See ... anne@example.com" is a sentence. Dots that only mailbox_valid() allows, and not RFC 5322, are taken for a
 * part of the address only where no blank stands beside them. */
static void emit(Parser *parser, const char *display, GPtrArray *list)
{
    const char *mailbox = parser->mailbox->str;
    bool whole = !parser->gap && strlen(mailbox) == parser->mailbox->len && mailbox_valid(mailbox);
    bool odd = parser->loose && (*mailbox == '.' || strstr(mailbox, "..") || strstr(mailbox, ".@"));
    if (!whole || odd || list->len >= ADDRESS_LIST_MAX) {
        if (parser->mailbox->len > 0)
            parser->plain = false;
        return;
    }
    /* Some readers would take it for another one: they look for the first "@", or decode what looks encoded. */
    if (strchr(mailbox, '@') != strrchr(mailbox, '@') || strstr(mailbox, "=?"))
        parser->plain = false;
    Address *address = g_new0(Address, 1);
    address->display = g_strstrip(g_strdup(display));
    address->mailbox = g_strdup(mailbox);
    address->start = (size_t)(parser->begin - parser->text);
    address->end = (size_t)(parser->at - parser->text);
    g_ptr_array_add(list, address);
}

/* "<" [route ":"] addr-spec ">". Without its end it ends at a comma. */
static void read_angle(Parser *parser, GPtrArray *list)
{
    bool named = parser->display->len > 0;
    g_autofree char *display = named ? g_strconcat(parser->before->str, parser->display->str, NULL)
                                     : g_strdup(parser->comment->str);
    g_string_truncate(parser->before, 0);
    bool closed = false;
    if (parser->sign || parser->behind)
        parser->plain = false;
    reset(parser);
    parser->at++;
    parser->behind = false; /* for the words of this address */
    while (parser->at < parser->end) {
        const char *before = parser->at;
        skip_blanks(parser);
        if (parser->at >= parser->end)
            break;
        char octet = *parser->at;
        bool route = parser->mailbox->len > 0 && parser->mailbox->str[0] == '@';
        if (octet == '>') {
            parser->at++;
            closed = true;
            break;
        }
        parser->plain = parser->plain && !route;
        if (octet == ':' && route) {
            g_string_truncate(parser->mailbox, 0);
            parser->at++;
        } else if (octet == ',' && route) {
            parser->at++;
        } else if (octet == ',') {
            break;
        } else {
            read_piece(parser, parser->at > before);
        }
    }
    parser->plain = parser->plain && closed && parser->mailbox->len > 0;
    emit(parser, display, list);
    reset(parser);
    parser->begin = parser->at;
    parser->behind = true;
}

bool address_parse(const char *text, size_t length, GPtrArray *list)
{
    g_autoptr(GString) display = g_string_new(NULL), mailbox = g_string_new(NULL), comment = g_string_new(NULL);
    g_autoptr(GString) words = g_string_new(NULL);
    Parser parser = {.text = text,
                     .at = text,
                     .end = text + length,
                     .begin = text,
                     .display = display,
                     .mailbox = mailbox,
                     .comment = comment,
                     .before = words,
                     .plain = true};
    /* No control characters are plain but tabs and line ends. A bare CR ends a line for some readers. */
    for (const char *at = text; at < parser.end && parser.plain; at++) {
        bool line_end = *at == '\n' || (*at == '\r' && at + 1 < parser.end && at[1] == '\n');
        parser.plain = *at == '\t' || line_end || ((guchar)*at >= ' ' && *at != 127);
    }
    while (parser.at < parser.end && list->len < ADDRESS_LIST_MAX) {
        const char *before = parser.at;
        skip_blanks(&parser);
        if (parser.at >= parser.end)
            break;
        char octet = *parser.at;
        if (octet == '<') {
            read_angle(&parser, list);
        } else if (octet == ',' || octet == ';') {
            emit(&parser, comment->str, list);
            /* Words without an address that end at a comma may be the first half of a name. */
            bool half = octet == ',' && display->len > 0 && !parser.sign && !parser.behind;
            if (half && words->len + display->len <= BEFORE_MAX)
                g_string_append_printf(words, "%s, ", display->str);
            else
                g_string_truncate(words, 0);
            reset(&parser);
            parser.begin = ++parser.at;
            parser.plain = parser.plain && octet == ',';
            parser.behind = false;
        } else if (octet == ':' && !parser.sign) {
            g_string_truncate(words, 0);
            reset(&parser);
            parser.begin = ++parser.at;
            parser.plain = parser.behind = false;
        } else {
            read_piece(&parser, parser.at > before);
        }
    }
    emit(&parser, comment->str, list);
    return parser.plain && parser.at >= parser.end;
}

bool address_split(const char *mailbox, char **local, char **domain)
{
    const char *at = strrchr(mailbox, '@');
    if (!at || at == mailbox || !at[1])
        return false;
    if (local)
        *local = g_strndup(mailbox, (size_t)(at - mailbox));
    if (domain)
        *domain = g_strdup(at + 1);
    return true;
}

char *address_key(const char *mailbox)
{
    return mailbox_key(mailbox);
}

bool address_same(const char *a, const char *b)
{
    return mailbox_same(a, b);
}
