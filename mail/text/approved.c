/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/text/approved.h"

#include <string.h>

#include "mail/mime/mime.h"
#include "mail/transfer.h"

#define FIRST_MAX 4096      /* bytes of a part in which its first line is looked for */
#define WORDS_MAX (1 << 18) /* bytes of a part in which a known password is looked for */
/* GAP may stand between the words in HTML. The length of a tag is bounded so that the search stays linear. */
#define GAP "(\\s|&nbsp;|<[^>]{0,200}>)*"

static const char *const names[] = {"Approved", "Approve", "X-Approved", "X-Approve"};

/* ---- a part's text, and where each byte of it stands in the raw bytes ---- */

typedef struct Decoded {
    GString *text;
    GArray *places; /* of size_t: where each byte of text begins in the part's body; one more for the end */
} Decoded;

static void decoded_clear(Decoded *decoded)
{
    g_string_free(decoded->text, TRUE);
    g_array_unref(decoded->places);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Decoded, decoded_clear)

/* At most so many bytes of it, except where they must be written anew. */
static void decode(const MimePart *part, size_t most, Decoded *decoded)
{
    size_t length = MIN(part->body_length, most);
    *decoded = (Decoded){g_string_new(NULL), g_array_new(FALSE, FALSE, sizeof(size_t))};
    if (g_str_equal(part->encoding, "base64")) {
        transfer_decode_base64(part->body, part->body_length, decoded->text);
        return;
    }
    bool quoted = g_str_equal(part->encoding, "quoted-printable");
    for (const char *at = part->body, *end = at + length; at < end;) {
        size_t place = (size_t)(at - part->body);
        int octet = quoted ? transfer_take_quoted(&at, end) : (unsigned char)*at++;
        if (octet < 0)
            continue;
        g_string_append_c(decoded->text, (char)octet);
        g_array_append_val(decoded->places, place);
    }
    g_array_append_val(decoded->places, length);
}

/* ---- finding it ---- */

/* "Approved: secret" at text: the password (g_free()) and *end, behind its line; NULL: it is none. */
static char *read_line(const char *text, size_t length, size_t *end)
{
    for (size_t at = 0; at < G_N_ELEMENTS(names); at++) {
        size_t name = strlen(names[at]);
        if (length <= name || g_ascii_strncasecmp(text, names[at], name) != 0)
            continue;
        const char *colon = text + name;
        while (colon < text + length && (*colon == ' ' || *colon == '\t'))
            colon++;
        if (colon == text + length || *colon != ':')
            continue;
        const char *feed = memchr(colon, '\n', length - (size_t)(colon - text));
        *end = feed ? (size_t)(feed - text) + 1 : length;
        return g_strstrip(g_strndup(colon + 1, (size_t)((feed ? feed : text + length) - colon - 1)));
    }
    return NULL;
}

/* "Approved:" and, behind blanks, tags or entities, the password in an HTML or another text part. */
static bool find_words(const Decoded *decoded, const char *password, size_t *start, size_t *end)
{
    const char *text = decoded->text->str;
    g_autofree char *quoted = g_regex_escape_string(password, -1), *markup = g_markup_escape_text(password, -1);
    g_autofree char *also = g_regex_escape_string(markup, -1);
    g_autofree char *pattern = g_strdup_printf("(X-)?Approved?" GAP ":" GAP "(%s|%s)", *also ? also : quoted,
                                               quoted);
    g_autoptr(GRegex) regex = g_regex_new(pattern, G_REGEX_CASELESS | G_REGEX_RAW, 0, NULL);
    g_autoptr(GMatchInfo) match = NULL;
    int from, to;
    if (!regex || !g_regex_match_full(regex, text, (gssize)decoded->text->len, 0, 0, &match, NULL) ||
        !g_match_info_fetch_pos(match, 0, &from, &to))
        return false;
    *start = (size_t)from;
    *end = (size_t)to;
    return true;
}

/* Cut is a range that is to be cut out of the body. */
typedef struct Cut {
    const MimePart *part;
    Decoded decoded;
    size_t start, end;
} Cut;

static void cut_clear(void *data)
{
    decoded_clear(&((Cut *)data)->decoded);
}

/* Puts the message's body together again without the cuts. */
static void apply(Message *message, const char *whole, size_t length, size_t head, const GArray *cuts)
{
    g_autoptr(GString) body = g_string_new(NULL);
    const char *done = whole + head;
    for (unsigned at = 0; at < cuts->len; at++) {
        const Cut *cut = &g_array_index(cuts, Cut, at);
        const MimePart *part = cut->part;
        if (g_str_equal(part->encoding, "base64")) {
            g_autoptr(GString) left = g_string_new_len(cut->decoded.text->str, (gssize)cut->decoded.text->len);
            g_string_erase(left, (gssize)cut->start, (gssize)(cut->end - cut->start));
            g_string_append_len(body, done, part->body - done);
            transfer_encode(body, "base64", left->str, left->len, "\r\n");
            done = part->body + part->body_length;
        } else {
            const char *from = part->body + g_array_index(cut->decoded.places, size_t, cut->start);
            g_string_append_len(body, done, from - done);
            done = part->body + g_array_index(cut->decoded.places, size_t, cut->end);
        }
    }
    g_string_append_len(body, done, whole + length - done);
    g_autoptr(GBytes) octets = g_string_free_to_bytes(g_steal_pointer(&body));
    message_set_body(message, octets);
}

/* Is it text of the mail itself? */
static bool is_text(const MimePart *part, const char *body)
{
    return !part->inside && g_str_has_prefix(part->type, "text/") && part->body >= body;
}

/* Looks into the first line of the first text/plain part, and, once the password is known, into all text. */
static char *take_from_body(Message *message, const char *known)
{
    g_autoptr(GBytes) octets = message_octets(message), body = message_body(message);
    size_t length;
    const char *whole = g_bytes_get_data(octets, &length);
    if (length == 0)
        return g_strdup(known);
    size_t head = length - g_bytes_get_size(body);
    g_autoptr(GPtrArray) parts = mime_parts(whole, length);
    g_autoptr(GArray) cuts = g_array_new(FALSE, FALSE, sizeof(Cut));
    g_array_set_clear_func(cuts, cut_clear);
    g_autofree char *password = g_strdup(known);
    const MimePart *first = NULL;
    for (unsigned at = 0; at < parts->len && !first; at++) {
        const MimePart *part = parts->pdata[at];
        first = is_text(part, whole + head) && g_str_equal(part->type, "text/plain") ? part : NULL;
    }
    Cut cut = {.part = first};
    g_autofree char *found = NULL;
    if (first) {
        decode(first, FIRST_MAX, &cut.decoded);
        /* The first line that is not empty. */
        const GString *text = cut.decoded.text;
        while (cut.start < text->len && strchr(" \t\r\n", text->str[cut.start]))
            cut.start++;
        found = read_line(text->str + cut.start, text->len - cut.start, &cut.end);
        cut.end += cut.start;
        if (!found)
            cut_clear(&cut);
    }
    if (!password)
        password = g_strdup(found);
    for (unsigned at = 0; password && at < parts->len; at++) {
        const MimePart *part = parts->pdata[at];
        if (part == first && found) {
            g_array_append_val(cuts, cut);
            continue;
        }
        Cut other = {.part = part};
        if (!*password || !is_text(part, whole + head))
            continue;
        decode(part, WORDS_MAX, &other.decoded);
        if (find_words(&other.decoded, password, &other.start, &other.end))
            g_array_append_val(cuts, other);
        else
            cut_clear(&other);
    }
    if (cuts->len > 0)
        apply(message, whole, length, head, cuts);
    return g_steal_pointer(&password);
}

char *approved_take(Message *message)
{
    g_autofree char *password = NULL;
    for (size_t at = 0; at < G_N_ELEMENTS(names); at++) {
        if (!password)
            password = message_value(message, names[at]);
        message_remove(message, names[at]);
    }
    return take_from_body(message, password);
}
