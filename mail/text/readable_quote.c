/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* This recognises the lines that mail programs write above the mail that somebody answers, in many languages: by their
 * shape, and by their verb. */
#include <string.h>

#include "mail/text/readable_internal.h"

#define LINES 4             /* of an attribution */
#define ATTRIBUTION_MAX 500 /* bytes */
#define WEAK_MAX 200
#define BLOCK_LINES 12 /* of From, Sent, To, Cc, Subject */
#define LINE_MAX_BYTES 1000
#define LABEL_MAX 40

static const char *const verbs[] = {
    "wrote",   "writes",    "said",     "Quoting",     "schrieb", "schreibt", "écrit",      "escribió", "escribio",
    "scritto", "scrive",    "escreveu", "schreef",     "skrev",   "napisał",  "пишет",      "писал",    "написал",
    "пише",    "kirjoitti", "yazdı",    "yazmış",      "írta",    "napsal",   "napísal",    "a scris",  "je napis",
    "έγραψε",  "כתב",       "كتب",      "写道",        "写到",    "寫道",     "書きました", "のメール", "님이",
    "작성",    "đã viết",   "menulis",  "va escriure", "idatzi",  NULL,
};

/* An attribution that fills more than a line begins with one of these words. */
static const char *const openers[] = {
    "On ",     "Am ",   "Le ",      "El ", "Il ",  "Em ",  "Op ",   "Den ",  "På ",
    "W dniu ", "Dnia ", "At ",      "In ", "Dne ", "Dňa ", "Dana ", "Pe ",   "A ",
    "Στις ",   "В ",    "Quoting ", "* ",  "--- ", "Von ", "Vào ",  "Pada ", NULL,
};

/* "From" in the block that a program copies. */
static const char *const from_words[] = {
    "From", "Von",       "De",     "Da",     "Van",        "Från",      "Fra",      "Od",       "От",
    "Від",  "Lähettäjä", "Feladó", "Kimden", "Expéditeur", "Mittente",  "Afsender", "Avsender", "Remitente",
    "Από",  "מאת",       "发件人", "寄件者", "差出人",     "보낸 사람", "보낸사람", NULL,
};

static const char *const forward_words[] = {
    "orward",    "eitergeleitet", "ransféré", "eenviado", "noltrato", "ncaminhad", "oorgestuurd", "idarebefordr",
    "rzekazana", "Fwd",           "ересыл",   "转发",     "轉寄",     "転送",      NULL,
};

static bool has_any(const char *text, const char *const *words)
{
    for (; *words; words++)
        if (strstr(text, *words))
            return true;
    return false;
}

static bool begins_with_any(const char *text, const char *const *words)
{
    for (; *words; words++)
        if (g_str_has_prefix(text, *words))
            return true;
    return false;
}

/* Is there a year from 1970 to 2099, or a time of day? */
static bool has_date(const char *text)
{
    for (const char *at = text; (at = strpbrk(at, "0123456789"));) {
        size_t digits = strspn(at, "0123456789");
        bool year = digits == 4 && (strncmp(at, "19", 2) == 0 || strncmp(at, "20", 2) == 0);
        bool time = digits <= 2 && strchr(":.h", at[digits]) && at[digits] && g_ascii_isdigit(at[digits + 1]) &&
                    g_ascii_isdigit(at[digits + 2]) && !g_ascii_isdigit(at[digits + 3]);
        if (year || time)
            return true;
        at += digits;
    }
    return false;
}

/* Does it end with a colon, if stars, underscores and blanks behind it are not counted? */
static bool ends_with_colon(const char *text)
{
    size_t length = strlen(text);
    while (length > 0 && strchr(" *_\n", text[length - 1]))
        length--;
    return (length > 0 && text[length - 1] == ':') ||
           (length >= 3 && memcmp(text + length - strlen("："), "：", strlen("：")) == 0);
}

static bool is_attribution(const char *text)
{
    bool verb = has_any(text, verbs), address = strchr(text, '@') != NULL;
    return verb && (address || has_date(text)) && (ends_with_colon(text) || strlen(text) <= WEAK_MAX);
}

/* With less to go by: the one line above the quotation. */
static bool is_weak_attribution(const char *line)
{
    return ends_with_colon(line) && strlen(line) <= WEAK_MAX &&
           (has_any(line, verbs) || strchr(line, '@') || has_date(line));
}

size_t readable_attribution_start(const char *text, size_t length)
{
    size_t starts[LINES], count = 0;
    const char *from = text + (length > ATTRIBUTION_MAX ? length - ATTRIBUTION_MAX : 0);
    for (size_t end = length; count < LINES && end > 0;) {
        const char *feed = text + end > from ? memrchr(from, '\n', (size_t)(text + end - from)) : NULL;
        size_t start = feed ? (size_t)(feed + 1 - text) : 0;
        if ((!feed && from > text) || start == end)
            break; /* a line that is too long, or an empty one */
        starts[count++] = start;
        end = start > 0 ? start - 1 : 0;
    }
    size_t lines = 0; /* of the attribution */
    for (size_t line = 0; lines == 0 && line < count; line++) {
        g_autofree char *tail = g_strndup(text + starts[line], length - starts[line]);
        lines = is_attribution(tail) ? line + 1 : 0;
    }
    if (lines == 0 && count > 0) {
        g_autofree char *last = g_strndup(text + starts[0], length - starts[0]);
        lines = is_weak_attribution(last);
    }
    for (size_t line = lines; lines > 0 && line < count; line++) {
        g_autofree char *tail = g_strndup(text + starts[line], length - starts[line]);
        const char *next = strchr(tail, '\n');
        if (begins_with_any(tail, openers) && has_date(tail) && next && !g_str_has_prefix(next - 1, ".")) {
            lines = line + 1;
            break;
        }
    }
    return lines > 0 ? starts[lines - 1] : length;
}

/* ---- mails that are copied without marks ---- */

/* A line as a string; NULL: it is too long. Moves *at behind it. */
static char *take_line(const char **at, const char *end)
{
    const char *feed = memchr(*at, '\n', MIN((size_t)(end - *at), LINE_MAX_BYTES));
    if (!feed && end - *at > LINE_MAX_BYTES)
        return NULL;
    char *line = g_strndup(*at, (gsize)((feed ? feed : end) - *at));
    *at = feed ? feed + 1 : end;
    return g_strstrip(line);
}

/* "-----Original Message-----", but not of one that is passed on, which is what the mail is about. */
static bool is_rule(const char *line)
{
    size_t length = strlen(line), dashes = strspn(line, "-");
    if (length >= 10 && strspn(line, "_") == length)
        return true;
    return dashes >= 3 && length > dashes + 5 && g_str_has_suffix(line, "---") && !has_any(line, forward_words);
}

/* "*From:* Anne", "发件人：Anne". from: it says who wrote the mail. */
static bool is_labelled(const char *line, bool *from)
{
    line += strspn(line, "*");
    const char *colon = strpbrk(line, ":"), *wide = strstr(line, "：");
    const char *end = !colon || (wide && wide < colon) ? wide : colon;
    if (!end || end == line || end - line > LABEL_MAX)
        return false;
    g_autofree char *label = g_strndup(line, (gsize)(end - line));
    g_strdelimit(label, "*", ' ');
    g_strstrip(label);
    for (const char *const *word = from_words; !*from && *word; word++)
        *from = strcmp(label, *word) == 0;
    return *label && end[1] != '/';
}

size_t readable_original_length(const char *at, const char *end)
{
    if (at >= end || (!strchr("-_*", *at) && !begins_with_any(at, from_words)))
        return 0;
    const char *next = at, *behind = at;
    g_autofree char *line = take_line(&next, end);
    bool rule = line && is_rule(line), underscores = rule && *line == '_', from = false, date = false;
    for (int blank = 0; rule && blank <= 2; blank++) {
        behind = next;
        g_free(line);
        line = take_line(&next, end);
        if (!line || *line)
            break;
    }
    int count = 0;
    while (line && count < BLOCK_LINES && is_labelled(line, &from)) {
        if (count == 0 && !from && (!rule || underscores))
            return 0;
        date = date || has_date(line);
        behind = next;
        count++;
        g_free(line);
        line = next < end ? take_line(&next, end) : NULL;
    }
    bool found = from && (rule ? count >= 2 : count >= 3 && date);
    return found ? (size_t)(behind - at) : 0;
}
