/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <libxml/HTMLparser.h>
#include <string.h>

#include "mail/mime/html_entity.h"
#include "mail/mime/mime.h"

#define DEPTH_MAX 200      /* open elements: libxml2 searches all of them for each end tag that fits none */
#define SEPARATORS_MAX 200 /* in a tag: libxml2 compares each attribute with all before it */
#define PIECE 4096         /* bytes that libxml2 is given at a time */
#define ADDRESS_MAX 320

#define QUOTE_OPENS '\1' /* in the text that is made, until its lines are marked */
#define QUOTE_CLOSES '\2'

/* Text that is being made. */
typedef struct Strip {
    GString *out;
    bool for_people; /* the targets of links are named, and preformatted text keeps its lines */
    bool quotes;     /* what is quoted is marked */
    bool tags;       /* it is HTML indeed, and line ends are blanks */
    bool preformatted;
    unsigned depth, silent; /* elements that are open; those of them that hold no text */
    char *target;           /* of the link to a page that is open; NULL: none is */
    size_t target_from;     /* where in out its text begins */
    char *mailbox;          /* of the link to an address whose text is read; NULL: none is */
    size_t mailbox_from;
} Strip;

static bool is_any(const char *name, const char *const *names, size_t count)
{
    for (size_t at = 0; at < count; at++)
        if (strcmp(name, names[at]) == 0)
            return true;
    return false;
}

/* An element that holds no text for people. */
static bool is_silent(const char *name)
{
    static const char *const names[] = {"style", "script", "title"};
    return is_any(name, names, G_N_ELEMENTS(names));
}

/* A link to an address of which the text does not tell gets its target before the text, "<mailto:joe@example.com>":
 * called when the text is there. */
static void end_mailbox(Strip *strip)
{
    if (!strip->mailbox)
        return;
    if (!strchr(strip->out->str + strip->mailbox_from, '@')) {
        g_autofree char *shown = g_strdup_printf("<%s>", strip->mailbox);
        g_string_insert(strip->out, (gssize)strip->mailbox_from, shown);
    }
    g_clear_pointer(&strip->mailbox, g_free);
}

/* For people the cells of a table stand in one line, an item of a list in its own, and no empty line is between two
 * <div>, with which some programs write each line. False: it is another element. */
static bool break_line(GString *out, const char *name, bool opens)
{
    bool cell = strcmp(name, "td") == 0 || strcmp(name, "th") == 0, item = strcmp(name, "li") == 0;
    if (!cell && !item && strcmp(name, "tr") != 0 && strcmp(name, "div") != 0)
        return false;
    char last = out->len > 0 ? out->str[out->len - 1] : '\n';
    if (last != '\n' && !(cell && last == ' '))
        g_string_append_c(out, cell ? ' ' : '\n');
    if (item && opens)
        g_string_append(out, "* ");
    return true;
}

static void put_break(Strip *strip, const char *name, bool opens)
{
    static const char *const blocks[] = {"br", "p",  "div", "tr",         "li", "table", "h1",
                                         "h2", "h3", "pre", "blockquote", "hr", "td",    "th"};
    static const char *const empty[] = {"br", "hr"};
    end_mailbox(strip);
    if (strip->silent == 0 && is_any(name, blocks, G_N_ELEMENTS(blocks)) &&
        (opens || !is_any(name, empty, G_N_ELEMENTS(empty))) &&
        !(strip->for_people && break_line(strip->out, name, opens)))
        g_string_append_c(strip->out, '\n');
}

/* A line of its own with nothing but the sign. */
static void put_quote(Strip *strip, const char *name, char sign)
{
    if (!strip->quotes || strcmp(name, "blockquote") != 0)
        return;
    g_string_append_c(strip->out, sign);
    g_string_append_c(strip->out, '\n');
}

static void start_element(void *data, const xmlChar *name, const xmlChar **attributes)
{
    Strip *strip = data;
    const char *element = (const char *)name;
    put_break(strip, element, true);
    put_quote(strip, element, QUOTE_OPENS);
    strip->depth++;
    strip->silent += is_silent(element);
    if (strip->for_people && strcmp(element, "pre") == 0)
        strip->preformatted = true;
    for (; strcmp(element, "a") == 0 && attributes && attributes[0]; attributes += 2) {
        const char *target = (const char *)attributes[1];
        if (!target || strcmp((const char *)attributes[0], "href") != 0)
            continue;
        g_clear_pointer(&strip->target, g_free);
        size_t length = strcspn(target, "\"'?> \t");
        if (g_ascii_strncasecmp(target, "mailto:", strlen("mailto:")) == 0) {
            if (length > strlen("mailto:") && length <= ADDRESS_MAX)
                strip->mailbox = g_strndup(target, length);
            strip->mailbox_from = strip->out->len;
        } else if (strip->for_people && (g_ascii_strncasecmp(target, "http:", strlen("http:")) == 0 ||
                                         g_ascii_strncasecmp(target, "https:", strlen("https:")) == 0)) {
            strip->target = g_strndup(target, strcspn(target, "\"'> \t\r\n"));
            strip->target_from = strip->out->len;
        }
    }
}

static void end_element(void *data, const xmlChar *name)
{
    Strip *strip = data;
    const char *element = (const char *)name;
    put_break(strip, element, false);
    put_quote(strip, element, QUOTE_CLOSES);
    strip->depth--;
    strip->silent -= is_silent(element);
    if (strcmp(element, "pre") == 0)
        strip->preformatted = false;
    if (strcmp(element, "a") != 0)
        return;
    /* Name the target of the link behind its text, if the text does not name it. */
    if (strip->target && !strstr(strip->out->str + strip->target_from, strip->target))
        g_string_append_printf(strip->out, " <%s>", strip->target);
    g_clear_pointer(&strip->target, g_free);
}

/* For people blanks in a row are one. */
static void put_text(void *data, const xmlChar *text, int length)
{
    Strip *strip = data;
    GString *out = strip->out;
    for (int at = 0; at < length && strip->silent == 0; at++) {
        char octet = (char)text[at];
        if (strip->quotes && (octet == QUOTE_OPENS || octet == QUOTE_CLOSES))
            continue; /* not ours */
        bool feed = octet == '\n' || octet == '\r';
        if (octet == '\r' && at + 1 < length && text[at + 1] == '\n')
            continue;
        if (feed)
            octet = strip->tags && !strip->preformatted ? ' ' : '\n';
        bool blank = octet == ' ' || octet == '\t';
        bool first = out->len == 0 || strchr(" \n", out->str[out->len - 1]);
        if (!(strip->for_people && strip->tags && !strip->preformatted && blank && first))
            g_string_append_c(out, octet);
    }
}

static void leave_out(void *data, const xmlChar *text, int length)
{
}

/* Append a character so that libxml2 takes it for text. */
static void put_escaped(GString *out, const char *text)
{
    g_autofree char *escaped = g_markup_escape_text(text, -1);
    g_string_append(out, escaped);
}

/* Return the length of "<joe@example.com>" at at, an address that nobody escaped; 0: there is none. */
static size_t address_length(const char *at)
{
    size_t length = 1;
    while (length < ADDRESS_MAX && at[length] && !strchr(" =<>&", at[length]))
        length++;
    return at[length] == '>' && memchr(at, '@', length) ? length + 1 : 0;
}

/* Return the part of a tag that the next byte belongs to, after one that belonged to now: a quoted value (its quote),
 * an unquoted one ('v'), the blanks before a value ('='), or something else (' '). */
static char next_part(char now, char byte)
{
    bool blank = strchr(" \t\r\n", byte) != NULL;
    if (now == '"' || now == '\'')
        return byte == now ? ' ' : now;
    if (now == '=' && !blank)
        return byte == '"' || byte == '\'' ? byte : 'v';
    if (now == '=' || now == 'v')
        return now == 'v' && blank ? ' ' : now;
    return byte == '=' ? '=' : ' ';
}

/* Make HTML that means the same to libxml2 as to browsers, and costs it no time: references are resolved as browsers do
 * it, text that only looks like a tag is escaped, and a tag ends where it has too many attributes. */
static GString *prepare(const char *html)
{
    GString *out = g_string_sized_new(strlen(html) + strlen(html) / 8);
    g_autoptr(GString) character = g_string_new(NULL);
    bool inside = false; /* a tag */
    char part = ' ';     /* of the tag */
    unsigned separators = 0;
    for (const char *at = html; *at;) {
        size_t address = *at == '<' ? address_length(at) : 0;
        bool tag = *at == '<' && address == 0 && (g_ascii_isalpha(at[1]) || (at[1] && strchr("/!?", at[1])));
        bool spare = separators > SEPARATORS_MAX && *at != '>';
        if (*at == '&') {
            g_string_truncate(character, 0);
            at = html_entity_take(at, character);
            if (!spare)
                put_escaped(out, character->str);
            continue;
        }
        if (*at == '<' && !tag && !spare) {
            g_string_append(out, "&lt;");
            for (at++; address > 1; address--)
                g_string_append_c(out, *at++);
            inside = inside && at[-1] != '>';
            separators = inside ? separators : 0;
            part = inside ? part : ' ';
            continue;
        }
        if (!inside && at[0] == '<' && at[1] == '!') { /* libxml2 takes "<![endif]>" for text */
            bool comment = g_str_has_prefix(at, "<!--");
            const char *end = comment ? strstr(at + 2, "-->") : strchr(at, '>');
            at = end ? end + (comment ? 3 : 1) : at + strlen(at); /* one that does not end takes all */
            continue;
        }
        if (separators > SEPARATORS_MAX && !spare && strchr("\"'", part))
            g_string_append_c(out, part); /* else the text behind the tag would be in the value */
        inside = (inside || tag) && *at != '>';
        separators = inside ? separators + (strchr(" \t\r\n/\"'=", *at) != NULL) : 0;
        if (!spare) {
            g_string_append_c(out, *at);
            part = inside ? next_part(part, *at) : ' ';
        }
        at++;
    }
    return out;
}

static htmlParserCtxtPtr parser_new(Strip *strip)
{
    htmlSAXHandler handler = {.startElement = start_element,
                              .endElement = end_element,
                              .characters = put_text,
                              .ignorableWhitespace = put_text,
                              .cdataBlock = leave_out};
    /* In a body of its own no text is without an element, so that libxml2 makes up no paragraph around it. */
    htmlParserCtxtPtr parser = htmlCreatePushParserCtxt(&handler, strip, "<body>", 6, NULL, XML_CHAR_ENCODING_UTF8);
    htmlCtxtUseOptions(parser, HTML_PARSE_RECOVER | HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING | HTML_PARSE_NONET |
                                   HTML_PARSE_NOIMPLIED | HTML_PARSE_IGNORE_ENC);
    return parser;
}

static void parser_end(htmlParserCtxtPtr parser)
{
    htmlParseChunk(parser, "", 0, 1);
    htmlFreeParserCtxt(parser);
}

static GString *strip_html(const GString *html, bool for_people, bool quotes)
{
    g_autofree char *valid = g_utf8_make_valid(html->str, (gssize)html->len);
    g_autoptr(GString) prepared = prepare(valid);
    Strip strip = {.out = g_string_sized_new(html->len), .for_people = for_people, .quotes = quotes};
    strip.tags = strcasestr(valid, "<br") || strcasestr(valid, "<p") || strcasestr(valid, "</");
    /* libxml2 tells of elements and text as it meets them. Within too many elements it begins anew. */
    htmlParserCtxtPtr parser = parser_new(&strip);
    for (const char *at = prepared->str, *end = at + prepared->len; at < end;) {
        const char *next = end - at > PIECE ? memchr(at + PIECE, '<', (size_t)(end - at - PIECE)) : NULL;
        size_t length = (size_t)((next ? next : end) - at);
        htmlParseChunk(parser, at, (int)length, 0);
        at += length;
        if (strip.depth > DEPTH_MAX && at < end) {
            parser_end(parser);
            strip.depth = strip.silent = 0;
            parser = parser_new(&strip);
        }
    }
    parser_end(parser);
    end_mailbox(&strip);
    g_free(strip.target);
    return strip.out;
}

GString *mime_strip_html(const GString *html)
{
    return strip_html(html, false, false);
}

/* One line without blanks at its end; of empty lines in a row the first. */
static void append_line(GString *text, const char *line, size_t length)
{
    while (length > 0 && strchr(" \t", line[length - 1]))
        length--;
    bool again = text->len == 0 || (text->len >= 2 && memcmp(text->str + text->len - 2, "\n\n", 2) == 0);
    if (length == 0 && again)
        return;
    g_string_append_len(text, line, (gssize)length);
    g_string_append_c(text, '\n');
}

GString *mime_html_text(const GString *html)
{
    GString *raw = strip_html(html, true, false), *text = g_string_sized_new(raw->len);
    for (const char *at = raw->str; *at;) {
        size_t length = strcspn(at, "\n");
        append_line(text, at, length);
        at += length + (at[length] != '\0');
    }
    g_string_free(raw, TRUE);
    return text;
}

GString *mime_html_quoted(const GString *html)
{
    GString *raw = strip_html(html, true, true), *text = g_string_sized_new(raw->len);
    g_autoptr(GString) line = g_string_new(NULL);
    unsigned level = 0;
    for (const char *at = raw->str; *at;) {
        size_t length = strcspn(at, "\n");
        bool opens = *at == QUOTE_OPENS, closes = *at == QUOTE_CLOSES;
        level = opens ? level + 1 : closes && level > 0 ? level - 1 : level;
        g_string_truncate(line, 0);
        for (unsigned mark = 0; mark < MIN(level, MIME_QUOTED_MAX) && length > 0; mark++)
            g_string_append(line, "> ");
        g_string_append_len(line, at, (gssize)length);
        if (!opens && !closes)
            append_line(text, line->str, line->len);
        at += length + (at[length] != '\0');
    }
    g_string_free(raw, TRUE);
    return text;
}
