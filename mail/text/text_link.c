/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/text/text_link.h"

#include <string.h>

#define LOCAL_MAX 128 /* bytes before the "@": twice of what RFC 5321 has, for VERP */
#define DOMAIN_MAX 255

/* A text that is read from its beginning. */
typedef struct LinkReading {
    const char *text, *end;
    const char *done; /* what stands before it belongs to a link already */
} LinkReading;

/* ---- characters ---- */

static bool is_beyond_ascii(const char *at)
{
    return (unsigned char)*at >= 0x80;
}

static bool is_letter(const char *at)
{
    if (!is_beyond_ascii(at))
        return g_ascii_isalnum(*at);
    gunichar character = g_utf8_get_char(at);
    return g_unichar_isalnum(character) || g_unichar_ismark(character);
}

static bool is_local_character(const char *at)
{
    return is_letter(at) || (!is_beyond_ascii(at) && *at && strchr("._%+-=&~'", *at));
}

/* ---- addresses ---- */

/* The end of the domain that begins at at; NULL when there is none with a dot. Behind it may stand a full stop. */
static const char *domain_end(const char *at, const char *end)
{
    const char *last = at, *dot = NULL;
    while (last < end && last - at <= DOMAIN_MAX && (is_letter(last) || (*last && strchr("-._", *last))) &&
           !(*last == '.' && (last == at || last[-1] == '.'))) {
        dot = *last == '.' ? last : dot;
        last = g_utf8_next_char(last);
    }
    while (last > at && strchr(".-_", last[-1])) {
        last--;
        dot = dot == last ? memrchr(at, '.', (size_t)(last - at)) : dot;
    }
    bool top = dot && dot > at && last - dot > 2 && !g_ascii_isdigit(dot[1]);
    return top && last - at <= DOMAIN_MAX ? last : NULL;
}

/* Is the sign at at that of an address? Its beginning and end. */
static bool is_address(const LinkReading *reading, const char *at, size_t sign, const char **start, const char **end)
{
    *end = domain_end(at + sign, reading->end);
    *start = at;
    if (!*end)
        return false;
    const char *from = MAX(reading->done, at - MIN(at - reading->text, LOCAL_MAX));
    while (*start > from) {
        const char *before = g_utf8_find_prev_char(from, *start);
        if (!before || !is_local_character(before))
            break;
        *start = before;
    }
    while (*start < at && !is_letter(*start) && !strchr("_+", **start))
        ++*start;
    return *start < at;
}

/* The length of the sign of an address, or of what encodes it, at at; 0: another character. */
static size_t sign_length(const char *at, const char *end)
{
    return *at == '@' ? 1 : end - at >= 3 && at[0] == '%' && at[1] == '4' && at[2] == '0' ? 3 : 0;
}

/* ---- links ---- */

/* Return the scheme that stands before the colon at at, if it is known. */
static const char *scheme_start(const LinkReading *reading, const char *at, TextLinkKind *kind)
{
    static const char *const schemes[] = {"https", "http", "ftp", "mailto"};
    for (size_t scheme = 0; scheme < G_N_ELEMENTS(schemes); scheme++) {
        size_t length = strlen(schemes[scheme]);
        if ((size_t)(at - reading->done) < length || g_ascii_strncasecmp(at - length, schemes[scheme], length) != 0)
            continue;
        const char *start = at - length;
        const char *before = start > reading->text ? g_utf8_find_prev_char(reading->text, start) : NULL;
        if (before && !is_beyond_ascii(before) && (is_letter(before) || strchr("+-.", *before)))
            return NULL;
        *kind = strcmp(schemes[scheme], "mailto") == 0 ? TEXT_LINK_MAILTO : TEXT_LINK_WEB;
        return start;
    }
    return NULL;
}

/* The end of a link without punctuation, and without a bracket that it did not open. */
static const char *without_punctuation(const char *start, const char *end)
{
    int round = 0, square = 0; /* those that are opened, less those that are closed */
    for (const char *at = start; at < end; at++) {
        round += (*at == '(') - (*at == ')');
        square += (*at == '[') - (*at == ']');
    }
    for (; end > start; end--) {
        bool spare = strchr(".,:;!?'*", end[-1]) || (end[-1] == ')' && round < 0) || (end[-1] == ']' && square < 0) ||
                     strchr("([", end[-1]);
        if (!spare)
            break;
        round += end[-1] == ')';
        round -= end[-1] == '(';
        square += end[-1] == ']';
        square -= end[-1] == '[';
    }
    return end;
}

/* Take the link whose colon is at at; return what follows it, or NULL when there is none. */
static const char *take_link(const LinkReading *reading, const char *at, GArray *links)
{
    TextLink link = {0};
    const char *start = scheme_start(reading, at, &link.kind), *body = at + 1;
    bool web = link.kind == TEXT_LINK_WEB;
    if (!start || (web && (reading->end - at < 4 || memcmp(at, "://", 3) != 0)))
        return NULL;
    body += web ? 2 : 0;
    if (body >= reading->end || !(is_letter(body) || (web && *body == '[')))
        return NULL;
    if (!web) {
        /* An address begins, and only what belongs to a link follows it; else the address in it may be found for
         * itself. What stands far away is not looked at, so that many that fail cost no more than their own length. */
        const char *sign = body;
        while (sign < reading->end && sign - body <= LOCAL_MAX && is_local_character(sign))
            sign = g_utf8_next_char(sign);
        bool local = sign > body && sign < reading->end && *sign == '@';
        const char *behind = local ? domain_end(sign + 1, reading->end) : NULL;
        if (!behind || (behind < reading->end && *behind == '@'))
            return NULL;
    }
    const char *stop = body;
    while (stop < reading->end &&
           (is_beyond_ascii(stop) ? is_letter(stop) : *stop > ' ' && *stop != 0x7f && !strchr("<>\"`{}|\\^", *stop)))
        stop = g_utf8_next_char(stop);
    bool framed = start > reading->text && start[-1] == '<' && stop < reading->end && *stop == '>';
    const char *end = framed ? stop : without_punctuation(body, stop);
    if (end == body || end - start > TEXT_LINK_MAX)
        return stop;
    link.start = (size_t)(start - reading->text);
    link.length = (size_t)(end - start);
    link.holds_address = !web;
    const LinkReading inside = {.text = body, .end = end, .done = body};
    for (const char *within = body, *first, *last; within < end && !link.holds_address; within++) {
        size_t sign = sign_length(within, end);
        link.holds_address = sign > 0 && is_address(&inside, within, sign, &first, &last);
    }
    g_array_append_val(links, link);
    return end;
}

void text_link_find(const char *text, size_t length, GArray *links)
{
    LinkReading reading = {.text = text, .end = text + length, .done = text};
    for (const char *at = text; at < reading.end;) {
        const char *behind = *at == ':' ? take_link(&reading, at, links) : NULL;
        const char *start, *end;
        if (!behind && *at == '@' && is_address(&reading, at, 1, &start, &end)) {
            const TextLink link = {.start = (size_t)(start - text),
                                   .length = (size_t)(end - start),
                                   .kind = TEXT_LINK_ADDRESS,
                                   .holds_address = true};
            g_array_append_val(links, link);
            behind = end;
        }
        at = behind ? behind : at + 1;
        reading.done = behind ? behind : reading.done;
    }
}

char *text_link_mask(const char *text, size_t length)
{
    GString *masked = g_string_sized_new(length);
    LinkReading reading = {.text = text, .end = text + length, .done = text};
    const char *kept = text;
    for (const char *at = text; at < reading.end;) {
        const char *start, *end;
        size_t sign = sign_length(at, reading.end);
        if (sign == 0 || !is_address(&reading, at, sign, &start, &end)) {
            at++;
            continue;
        }
        g_string_append_len(masked, kept, at + sign - kept);
        g_string_append(masked, "\u2026");
        kept = at = reading.done = end;
    }
    g_string_append_len(masked, kept, reading.end - kept);
    return g_string_free(masked, FALSE);
}
