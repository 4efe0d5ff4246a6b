/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <libxml/HTMLparser.h>
#include <stdlib.h>
#include <string.h>

#include "mail/mime/mime.h"

/* ---- character references ---- */

#define NAME_MAX_OCTETS 8

typedef struct Entity {
    const char *name;
    gunichar code;
} Entity;

/* These are the entities of HTML 4 and XML, in the order of strcmp(). */
static const Entity entities[] = {
    {"AElig", 198},   {"Aacute", 193},  {"Acirc", 194},    {"Agrave", 192},  {"Alpha", 913},    {"Aring", 197},
    {"Atilde", 195},  {"Auml", 196},    {"Beta", 914},     {"Ccedil", 199},  {"Chi", 935},      {"Dagger", 8225},
    {"Delta", 916},   {"ETH", 208},     {"Eacute", 201},   {"Ecirc", 202},   {"Egrave", 200},   {"Epsilon", 917},
    {"Eta", 919},     {"Euml", 203},    {"Gamma", 915},    {"Iacute", 205},  {"Icirc", 206},    {"Igrave", 204},
    {"Iota", 921},    {"Iuml", 207},    {"Kappa", 922},    {"Lambda", 923},  {"Mu", 924},       {"Ntilde", 209},
    {"Nu", 925},      {"OElig", 338},   {"Oacute", 211},   {"Ocirc", 212},   {"Ograve", 210},   {"Omega", 937},
    {"Omicron", 927}, {"Oslash", 216},  {"Otilde", 213},   {"Ouml", 214},    {"Phi", 934},      {"Pi", 928},
    {"Prime", 8243},  {"Psi", 936},     {"Rho", 929},      {"Scaron", 352},  {"Sigma", 931},    {"THORN", 222},
    {"Tau", 932},     {"Theta", 920},   {"Uacute", 218},   {"Ucirc", 219},   {"Ugrave", 217},   {"Upsilon", 933},
    {"Uuml", 220},    {"Xi", 926},      {"Yacute", 221},   {"Yuml", 376},    {"Zeta", 918},     {"aacute", 225},
    {"acirc", 226},   {"acute", 180},   {"aelig", 230},    {"agrave", 224},  {"alefsym", 8501}, {"alpha", 945},
    {"amp", 38},      {"and", 8743},    {"ang", 8736},     {"apos", 39},     {"aring", 229},    {"asymp", 8776},
    {"atilde", 227},  {"auml", 228},    {"bdquo", 8222},   {"beta", 946},    {"brvbar", 166},   {"bull", 8226},
    {"cap", 8745},    {"ccedil", 231},  {"cedil", 184},    {"cent", 162},    {"chi", 967},      {"circ", 710},
    {"clubs", 9827},  {"cong", 8773},   {"copy", 169},     {"crarr", 8629},  {"cup", 8746},     {"curren", 164},
    {"dArr", 8659},   {"dagger", 8224}, {"darr", 8595},    {"deg", 176},     {"delta", 948},    {"diams", 9830},
    {"divide", 247},  {"eacute", 233},  {"ecirc", 234},    {"egrave", 232},  {"empty", 8709},   {"emsp", 8195},
    {"ensp", 8194},   {"epsilon", 949}, {"equiv", 8801},   {"eta", 951},     {"eth", 240},      {"euml", 235},
    {"euro", 8364},   {"exist", 8707},  {"fnof", 402},     {"forall", 8704}, {"frac12", 189},   {"frac14", 188},
    {"frac34", 190},  {"frasl", 8260},  {"gamma", 947},    {"ge", 8805},     {"gt", 62},        {"hArr", 8660},
    {"harr", 8596},   {"hearts", 9829}, {"hellip", 8230},  {"iacute", 237},  {"icirc", 238},    {"iexcl", 161},
    {"igrave", 236},  {"image", 8465},  {"infin", 8734},   {"int", 8747},    {"iota", 953},     {"iquest", 191},
    {"isin", 8712},   {"iuml", 239},    {"kappa", 954},    {"lArr", 8656},   {"lambda", 955},   {"lang", 9001},
    {"laquo", 171},   {"larr", 8592},   {"lceil", 8968},   {"ldquo", 8220},  {"le", 8804},      {"lfloor", 8970},
    {"lowast", 8727}, {"loz", 9674},    {"lrm", 8206},     {"lsaquo", 8249}, {"lsquo", 8216},   {"lt", 60},
    {"macr", 175},    {"mdash", 8212},  {"micro", 181},    {"middot", 183},  {"minus", 8722},   {"mu", 956},
    {"nabla", 8711},  {"nbsp", 160},    {"ndash", 8211},   {"ne", 8800},     {"ni", 8715},      {"not", 172},
    {"notin", 8713},  {"nsub", 8836},   {"ntilde", 241},   {"nu", 957},      {"oacute", 243},   {"ocirc", 244},
    {"oelig", 339},   {"ograve", 242},  {"oline", 8254},   {"omega", 969},   {"omicron", 959},  {"oplus", 8853},
    {"or", 8744},     {"ordf", 170},    {"ordm", 186},     {"oslash", 248},  {"otilde", 245},   {"otimes", 8855},
    {"ouml", 246},    {"para", 182},    {"part", 8706},    {"permil", 8240}, {"perp", 8869},    {"phi", 966},
    {"pi", 960},      {"piv", 982},     {"plusmn", 177},   {"pound", 163},   {"prime", 8242},   {"prod", 8719},
    {"prop", 8733},   {"psi", 968},     {"quot", 34},      {"rArr", 8658},   {"radic", 8730},   {"rang", 9002},
    {"raquo", 187},   {"rarr", 8594},   {"rceil", 8969},   {"rdquo", 8221},  {"real", 8476},    {"reg", 174},
    {"rfloor", 8971}, {"rho", 961},     {"rlm", 8207},     {"rsaquo", 8250}, {"rsquo", 8217},   {"sbquo", 8218},
    {"scaron", 353},  {"sdot", 8901},   {"sect", 167},     {"shy", 173},     {"sigma", 963},    {"sigmaf", 962},
    {"sim", 8764},    {"spades", 9824}, {"sub", 8834},     {"sube", 8838},   {"sum", 8721},     {"sup", 8835},
    {"sup1", 185},    {"sup2", 178},    {"sup3", 179},     {"supe", 8839},   {"szlig", 223},    {"tau", 964},
    {"there4", 8756}, {"theta", 952},   {"thetasym", 977}, {"thinsp", 8201}, {"thorn", 254},    {"tilde", 732},
    {"times", 215},   {"trade", 8482},  {"uArr", 8657},    {"uacute", 250},  {"uarr", 8593},    {"ucirc", 251},
    {"ugrave", 249},  {"uml", 168},     {"upsih", 978},    {"upsilon", 965}, {"uuml", 252},     {"weierp", 8472},
    {"xi", 958},      {"yacute", 253},  {"yen", 165},      {"yuml", 255},    {"zeta", 950},     {"zwj", 8205},
    {"zwnj", 8204},
};

/* Browsers take &#128; to &#159; for these characters of windows-1252. */
static const gunichar windows[] = {
    0x20ac, 0xfffd, 0x201a, 0x192,  0x201e, 0x2026, 0x2020, 0x2021, 0x2c6,  0x2030, 0x160,
    0x2039, 0x152,  0xfffd, 0x17d,  0xfffd, 0xfffd, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022,
    0x2013, 0x2014, 0x2dc,  0x2122, 0x161,  0x203a, 0x153,  0xfffd, 0x17e,  0x178,
};

static int compare(const void *name, const void *entity)
{
    return strcmp(name, ((const Entity *)entity)->name);
}

static gunichar find_name(const char *name)
{
    const Entity *found = bsearch(name, entities, G_N_ELEMENTS(entities), sizeof *entities, compare);
    if (!found) { /* "&AMP;" is written, too; of others "&Uuml;" and "&uuml;" are two */
        static const char *const plain[] = {"amp", "gt", "lt", "nbsp", "quot"};
        for (size_t at = 0; at < G_N_ELEMENTS(plain) && !found; at++)
            if (g_ascii_strcasecmp(name, plain[at]) == 0)
                found = bsearch(plain[at], entities, G_N_ELEMENTS(entities), sizeof *entities, compare);
    }
    return found ? found->code : 0;
}

static gunichar read_number(const char *text, const char **end)
{
    bool hexadecimal = *text == 'x' || *text == 'X';
    if (hexadecimal)
        text++;
    if (!g_ascii_isxdigit(*text))
        return 0;
    char *stop;
    guint64 code = g_ascii_strtoull(text, &stop, hexadecimal ? 16 : 10);
    *end = stop;
    if (code >= 128 && code < 128 + G_N_ELEMENTS(windows))
        return windows[code - 128];
    return code >= 32 && code < 0x110000 && g_unichar_validate((gunichar)code) ? (gunichar)code : 0;
}

const char *html_entity_take(const char *at, GString *out)
{
    const char *end = at + 1;
    gunichar code = 0;
    if (*end == '#') {
        code = read_number(at + 2, &end);
    } else {
        char name[NAME_MAX_OCTETS + 1] = "";
        while (g_ascii_isalnum(*end) && end - at - 1 < NAME_MAX_OCTETS)
            end++;
        memcpy(name, at + 1, (size_t)(end - at - 1));
        code = find_name(name);
    }
    if (code == 0 || *end != ';') {
        g_string_append_c(out, '&');
        return at + 1;
    }
    g_string_append_unichar(out, code == 0xa0 ? ' ' : code);
    return end + 1;
}

/* ---- HTML made text ---- */

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
