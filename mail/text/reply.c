/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "mail/text/reply.h"

#include <string.h>

#include "mail/header.h"
#include "mail/mime/mime.h"
#include "mail/mime/parameter.h"

#define LABEL_CHARS 24  /* of a label such as "Gesendet" in a header block */
#define ATTRIBUTION 160 /* characters of a line such as "On Monday, Anne wrote:", which may be folded once */

/* Mail programs put these before the Subject of an answer, and of a mail that is passed on. */
static const char *const reply_words[] = {
    "re", "aw", "antw", "antwort", "sv", "vs", "ref", "odp", "rif", "r", "res", "rép", "RÉP", "ynt", "ΑΠ", "Отв",
    "Ответ", "回复", "回覆", "答复", "答覆", "返信", "回信", "답장", "회신", NULL,
};
static const char *const forward_words[] = {
    "fwd", "fw", "wg", "tr", "rv", "enc", "i", "vb", "vl", "pd", "ilt", "doorst", "ΠΡΘ", "转发", "轉寄", "転送", "전달", NULL,
};

/* The length of one of the words with its colon at the start of subject; 0: there is none. */
static size_t mark_length(const char *subject, const char *const *words)
{
    for (const char *const *word = words; *word; word++) {
        size_t length = strlen(*word);
        if (g_ascii_strncasecmp(subject, *word, length) != 0)
            continue;
        const char *at = subject + length;
        if (*at == '[' || *at == '(') {
            at++;
            at += strspn(at, "0123456789");
            at += *at == ']' || *at == ')';
        }
        at += g_str_has_prefix(at, "\u00a0") ? strlen("\u00a0") : strspn(at, " ");
        size_t colon = *at == ':' ? 1 : g_str_has_prefix(at, "：") ? strlen("：") : 0;
        if (colon > 0)
            return (size_t)(at - subject) + colon;
    }
    return 0;
}

size_t reply_mark_length(const char *subject)
{
    return mark_length(subject, reply_words);
}

size_t reply_forward_length(const char *subject)
{
    return mark_length(subject, forward_words);
}

/* Put a plain blank for each other kind of blank, as programs write them for two in a row, and leave zero-width spaces
 * and hyphens out. */
static char *with_plain_blanks(const char *text)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    GString *plain = g_string_sized_new(strlen(valid));
    for (const char *at = valid; *at; at = g_utf8_next_char(at)) {
        gunichar character = g_utf8_get_char(at);
        if (g_unichar_type(character) == G_UNICODE_SPACE_SEPARATOR)
            g_string_append_c(plain, ' ');
        else if (character != 0x200b && character != 0x2060 && character != 0xfeff && character != 0xad)
            g_string_append_unichar(plain, character);
    }
    return g_string_free(plain, FALSE);
}

char *reply_subject(const Message *message)
{
    g_autofree char *raw = message_value(message, "Subject");
    g_autofree char *decoded = header_decode(raw ? raw : ""), *plain = with_plain_blanks(decoded);
    const char *subject = plain;
    for (;;) {
        while (g_unichar_isspace(g_utf8_get_char(subject)))
            subject = g_utf8_next_char(subject);
        size_t length = reply_mark_length(subject);
        if (length == 0)
            length = reply_forward_length(subject);
        if (length == 0)
            return g_strstrip(g_strdup(subject));
        subject += length;
    }
}

/* The text of a text/plain part. Lines that the program broke are joined (RFC 3676); those of quoted text stay as they
 * are. */
static GString *plain_text(const MimePart *part)
{
    g_autofree char *field = mime_field(part->head, part->head_length, "Content-Type");
    g_autoptr(ContentType) type = content_type_parse(field ? field : "");
    g_autofree char *format = content_type_first(type, "format"), *delsp = content_type_first(type, "delsp");
    GString *text = mime_text(part, REPLY_TEXT_MAX);
    if (!format || g_ascii_strcasecmp(format, "flowed") != 0)
        return text;
    bool drop_blank = delsp && g_ascii_strcasecmp(delsp, "yes") == 0; /* at which a line was broken */
    GString *joined = g_string_sized_new(text->len);
    g_auto(GStrv) lines = g_strsplit(text->str, "\n", -1);
    for (char **line = lines; *line; line++) {
        size_t length = strcspn(*line, "\r");
        bool quoted = **line == '>', stuffed = **line == ' ';
        bool broken = length > stuffed && (*line)[length - 1] == ' ' && strncmp(*line, "-- ", length) != 0;
        bool goes_on = broken && !quoted && line[1] && *line[1] != '>';
        g_string_append_len(joined, *line + stuffed, (gssize)(length - stuffed - (goes_on && drop_blank)));
        if (!goes_on && line[1])
            g_string_append_c(joined, '\n');
    }
    g_string_free(text, TRUE);
    return joined;
}

GString *reply_text(GBytes *message)
{
    size_t length;
    const char *octets = g_bytes_get_data(message, &length);
    g_autoptr(GPtrArray) parts = mime_parts(octets, length);
    const MimePart *html = NULL;
    for (unsigned at = 0; at < parts->len; at++) {
        const MimePart *part = parts->pdata[at];
        if (part->inside)
            continue;
        if (g_str_equal(part->type, "text/plain"))
            return plain_text(part);
        if (!html && g_str_equal(part->type, "text/html"))
            html = part;
    }
    if (!html)
        return NULL;
    g_autoptr(GString) raw = mime_text(html, REPLY_TEXT_MAX);
    /* A quoted line in the place of what the mail quotes, so that it is known for what it is without its tags. */
    g_autofree char *lower = g_ascii_strdown(raw->str, (gssize)raw->len);
    const char *start = strstr(lower, "<blockquote"), *end = start ? g_strrstr(start, "</blockquote>") : NULL;
    if (start) {
        g_string_erase(raw, start - lower, end ? (gssize)(end - start) : -1);
        g_string_insert(raw, start - lower, "<br>&gt; <br>");
    }
    return mime_strip_html(raw);
}

/* ---- lines ---- */

/* "From: Anne", "*Gesendet:* Montag", "发件人：Anne": a label, a colon, a value. */
static bool is_labelled(const char *line)
{
    const char *colon = line ? strstr(line, "：") : NULL;
    size_t length = colon ? strlen("：") : 1;
    if (line && !colon)
        colon = strchr(line, ':');
    return colon && colon > line && g_utf8_strlen(line, colon - line) <= LABEL_CHARS && colon[length] != '/' &&
           colon[length];
}

/* Does the original begin here, unquoted: "-----Original Message-----", a rule of underscores, or the block of From,
 * Sent, To, Subject that Outlook copies? Or "On 11 Nov 2026, Anne <anne@example.org> wrote:", and nothing below is
 * marked as quoted. */
static bool begins_original(char *const *lines)
{
    static const char *const verbs[] = {"wrote", "schrieb", "écrit", "escribió", "scritto", "escreveu", "schreef",
                                        "skrev", "napisał", "написал", "пишет", "写道", NULL};
    const char *line = *lines;
    size_t length = strlen(line), dashes = strspn(line, "-");
    if ((length >= 12 && dashes >= 4 && dashes < length && strstr(line + dashes, "----")) ||
        (length >= 10 && strspn(line, "_") == length))
        return true;
    bool says = false;
    for (const char *const *verb = verbs; *verb; verb++)
        says = says || strstr(line, *verb);
    if (says && strchr(line, '@') && strpbrk(line, "0123456789") &&
        (g_str_has_suffix(line, ":") || g_str_has_suffix(line, "："))) {
        char *const *below = lines + 1;
        while (*below && !**below)
            below++;
        if (*below && !strchr(">|", **below))
            return true;
    }
    if (!is_labelled(line) || !lines[1] || !is_labelled(lines[1]) || !lines[2] || !is_labelled(lines[2]))
        return false;
    return strchr(lines[0], '@') || strchr(lines[1], '@') || strchr(lines[2], '@');
}

static const char *last_of(const GPtrArray *lines)
{
    return lines->len > 0 ? lines->pdata[lines->len - 1] : "";
}

static void drop_empty(GPtrArray *lines)
{
    while (lines->len > 0 && !*last_of(lines))
        g_ptr_array_set_size(lines, (int)lines->len - 1);
}

/* Is there a digit in a word that is no address? */
static bool has_date(const char *line)
{
    bool found = false;
    g_auto(GStrv) words = g_strsplit(line, " ", -1);
    for (char **word = words; *word; word++)
        found = found || (strpbrk(*word, "0123456789") && !strchr(*word, '@'));
    return found;
}

/* Takes "On 2 Nov, Anne <anne@example.org> wrote:" away, which stands above quoted lines and may be folded twice. */
static void drop_attribution(GPtrArray *lines)
{
    drop_empty(lines);
    const char *last = last_of(lines);
    if ((!g_str_has_suffix(last, ":") && !g_str_has_suffix(last, "：")) || g_utf8_strlen(last, -1) > ATTRIBUTION)
        return;
    bool address = false, date = false;
    for (int folded = 0; folded <= 2 && lines->len > 0 && !(address && date); folded++) {
        last = last_of(lines);
        if (folded > 0 && !strchr(last, '@') && !has_date(last))
            break;
        address = address || strchr(last, '@');
        date = date || has_date(last);
        g_ptr_array_set_size(lines, (int)lines->len - 1);
    }
    drop_empty(lines);
}

/* Is this a line that a telephone or a free program has put below the text, such as "Sent from my phone"? */
static bool is_footer(const char *line)
{
    static const char *const starts[] = {
        "Sent from my ", "Sent from Mail ", "Sent from Outlook", "Sent from Yahoo", "Sent with ", "Sent via ",
        "Sent on ", "Get Outlook for ", "Von meinem ", "Gesendet von ", "Gesendet mit ", "Outlook für ",
        "Diese Nachricht wurde von meinem ", "Envoyé de mon ", "Envoyé depuis ", "Envoyé à partir ",
        "Obtenir Outlook ", "Enviado desde ", "Enviado de ", "Obtener Outlook ", "Inviato da ", "Verzonden vanaf ",
        "Verstuurd vanaf ", "Wysłane z ", "发自", "從我的", "从我的", NULL};
    static const char *const ends[] = {"から送信", "传送", "傳送", NULL};
    bool found = false;
    for (const char *const *start = starts; *start; start++)
        found = found || g_str_has_prefix(line, *start);
    for (const char *const *end = ends; *end; end++)
        found = found || g_str_has_suffix(line, *end);
    return found;
}

static bool is_signature(const char *line)
{
    return g_str_equal(line, "-- ") || g_str_equal(line, "-- \r") || g_str_equal(line, "--");
}

GPtrArray *reply_own_lines(const char *text)
{
    GPtrArray *own = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *plain = with_plain_blanks(text);
    g_auto(GStrv) lines = g_strsplit(plain, "\n", -1);
    bool quoted = false;
    for (char **at = lines; *at; at++)
        if (!is_signature(*at))
            g_strstrip(*at);
    for (char **at = lines; *at; at++) {
        if (is_signature(*at) || begins_original(at))
            break;
        if (**at == '>' || **at == '|') {
            if (!quoted)
                drop_attribution(own);
            quoted = true;
            continue;
        }
        quoted = quoted && !**at;
        if (is_footer(*at))
            continue;
        if (**at || (own->len > 0 && *last_of(own)))
            g_ptr_array_add(own, g_strdup(*at));
    }
    drop_empty(own);
    return own;
}

/* ---- commands ---- */

/* Take a pair of marks away that stand around the text. */
static bool unwrap(char *text)
{
    static const char *const pairs[][2] = {{"*", "*"}, {"_", "_"}, {"`", "`"}, {"\"", "\""}, {"'", "'"},
                                           {"<", ">"}, {"(", ")"}, {"[", "]"}, {"“", "”"},   {"„", "“"},
                                           {"‘", "’"}, {"«", "»"}, {"»", "«"}, {"「", "」"}};
    size_t length = strlen(text);
    for (size_t at = 0; at < G_N_ELEMENTS(pairs); at++) {
        size_t open = strlen(pairs[at][0]), close = strlen(pairs[at][1]);
        if (length <= open + close || !g_str_has_prefix(text, pairs[at][0]) || !g_str_has_suffix(text, pairs[at][1]))
            continue;
        memmove(text, text + open, length - open - close);
        text[length - open - close] = '\0';
        return true;
    }
    return false;
}

static bool drop_bullet(char *text)
{
    static const char *const bullets[] = {"- ", "* ", "+ ", "• ", "· ", "‣ ", "▪ ", "– ", "— "};
    for (size_t at = 0; at < G_N_ELEMENTS(bullets); at++) {
        size_t length = strlen(bullets[at]);
        if (!g_str_has_prefix(text, bullets[at]) || !text[length])
            continue;
        memmove(text, text + length, strlen(text + length) + 1);
        return true;
    }
    return false;
}

/* Take a stop, or a word of courtesy that follows another word, from the end. */
static bool drop_end(char *text)
{
    static const char *const courtesies[] = {" please", " pls", " thanks", " thank you", ",please", ",thanks"};
    size_t length = strlen(text);
    if (length > 1 && strchr(".,;!", text[length - 1])) {
        text[length - 1] = '\0';
        return true;
    }
    for (size_t at = 0; at < G_N_ELEMENTS(courtesies); at++) {
        size_t own = strlen(courtesies[at]);
        if (length <= own || g_ascii_strcasecmp(text + length - own, courtesies[at]) != 0)
            continue;
        text[length - own] = '\0';
        return true;
    }
    return false;
}

char *reply_command(const char *line)
{
    if (strlen(line) > REPLY_COMMAND_MAX)
        return g_strdup(line);
    g_autofree char *plain = with_plain_blanks(line);
    GString *shown = g_string_new(NULL);
    for (const char *at = plain; *at; at = g_utf8_next_char(at))
        if (g_unichar_type(g_utf8_get_char(at)) != G_UNICODE_FORMAT)
            g_string_append_unichar(shown, g_utf8_get_char(at));
    char *text = g_string_free(shown, FALSE);
    for (bool changed = true; changed;) {
        changed = drop_end(g_strstrip(text));
        if (changed)
            continue;
        g_auto(GStrv) words = g_strsplit(text, " ", -1);
        for (char **word = words; *word; word++)
            while (unwrap(*word))
                changed = true;
        g_free(text);
        text = g_strjoinv(" ", words);
        changed = changed || drop_bullet(text) || unwrap(text);
    }
    return text;
}
