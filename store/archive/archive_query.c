/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/archive/archive_query.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "store/archive/archive_words.h"

#define SNIPPET_WORDS 20000 /* of a text that are looked at */
#define SNIPPET_BEFORE 4    /* a part of the snippet: so much of it stands before what was found */

static void term_free(void *data)
{
    QueryTerm *term = data;
    g_ptr_array_unref(term->words);
    g_free(term);
}

void archive_query_free(ArchiveQuery *query)
{
    if (!query)
        return;
    g_ptr_array_unref(query->terms);
    g_free(query);
}

bool archive_query_is_empty(const ArchiveQuery *query)
{
    return query->terms->len == 0 && query->after == 0 && query->before == 0;
}

/* "2026", "2026-03", "2026-03-31" at the beginning of a day. */
static bool read_day(const char *text, size_t length, int64_t *seconds)
{
    int year = 0, month = 1, day = 1, end = 0;
    g_autofree char *word = g_strndup(text, length);
    bool whole = (length == 4 && sscanf(word, "%4d%n", &year, &end) == 1) ||
                 (length == 7 && sscanf(word, "%4d-%2d%n", &year, &month, &end) == 2) ||
                 (length == 10 && sscanf(word, "%4d-%2d-%2d%n", &year, &month, &day, &end) == 3);
    if (!whole || (size_t)end != length || year < 1971 ||
        !g_date_valid_dmy((GDateDay)day, (GDateMonth)month, (GDateYear)year))
        return false;
    g_autoptr(GDateTime) time = g_date_time_new_utc(year, month, day, 0, 0, 0);
    *seconds = g_date_time_to_unix(time);
    return true;
}

static void add_term(ArchiveQuery *query, QueryField field, bool negated, const char *text, size_t length)
{
    WordReader reader;
    GPtrArray *words = g_ptr_array_new_with_free_func(g_free);
    word_reader_init(&reader, text, length);
    while (word_reader_next(&reader))
        g_ptr_array_add(words, g_strndup(reader.word, reader.length));
    if (words->len == 0 || query->terms->len >= ARCHIVE_TERMS_MAX) {
        g_ptr_array_unref(words);
        return;
    }
    QueryTerm *term = g_new(QueryTerm, 1);
    *term = (QueryTerm){field, negated, words};
    g_ptr_array_add(query->terms, term);
}

/* Reads one word or phrase, and what stands before it. Returns what follows. */
static const char *read_term(ArchiveQuery *query, const char *at)
{
    bool negated = *at == '-' && at[1] && !g_ascii_isspace(at[1]);
    const char *begin = at + negated, *text = begin;
    QueryField field = QUERY_ANY;
    int64_t *day = NULL;
    if (g_ascii_strncasecmp(text, "subject:", 8) == 0)
        text += 8, field = QUERY_SUBJECT;
    else if (g_ascii_strncasecmp(text, "from:", 5) == 0)
        text += 5, field = QUERY_FROM;
    else if (!negated && g_ascii_strncasecmp(text, "after:", 6) == 0)
        text += 6, day = &query->after;
    else if (!negated && g_ascii_strncasecmp(text, "before:", 7) == 0)
        text += 7, day = &query->before;
    bool phrase = *text == '"';
    text += phrase;
    size_t length = strcspn(text, phrase ? "\"" : " \t\r\n\f\v");
    const char *next = text + length + (phrase && text[length] == '"');
    if (length == 0) { /* "from:" alone, or an empty phrase */
        add_term(query, QUERY_ANY, negated, begin, (size_t)(text - begin));
        return next > at ? next : at + 1;
    }
    if (day && !read_day(text, length, day)) {
        add_term(query, QUERY_ANY, false, begin, (size_t)(next - begin));
        return next;
    }
    if (!day)
        add_term(query, field, negated, text, length);
    return next;
}

ArchiveQuery *archive_query_new(const char *text)
{
    ArchiveQuery *query = g_new0(ArchiveQuery, 1);
    query->terms = g_ptr_array_new_with_free_func(term_free);
    g_autofree char *valid = g_utf8_make_valid(text, (gssize)strnlen(text, ARCHIVE_QUERY_MAX));
    g_autofree char *composed = g_utf8_normalize(valid, -1, G_NORMALIZE_NFC);
    for (const char *at = composed; *at;)
        at = g_ascii_isspace(*at) ? at + 1 : read_term(query, at);
    return query;
}

char *archive_query_text(const ArchiveQuery *query)
{
    static const char *const fields[] = {"", "subject:", "from:"};
    const struct {
        const char *name;
        int64_t day;
    } days[] = {{"after", query->after}, {"before", query->before}};
    GString *text = g_string_new(NULL);
    for (guint i = 0; i < query->terms->len; i++) {
        const QueryTerm *term = query->terms->pdata[i];
        bool phrase = term->words->len > 1;
        g_string_append_printf(text, "%s%s%s%s", i > 0 ? " " : "", term->negated ? "-" : "", fields[term->field],
                               phrase ? "\"" : "");
        for (guint word = 0; word < term->words->len; word++)
            g_string_append_printf(text, "%s%s", word > 0 ? " " : "", (char *)term->words->pdata[word]);
        g_string_append(text, phrase ? "\"" : "");
    }
    for (size_t i = 0; i < G_N_ELEMENTS(days); i++) {
        if (days[i].day == 0)
            continue;
        g_autoptr(GDateTime) time = g_date_time_new_from_unix_utc(days[i].day);
        g_autofree char *day = g_date_time_format(time, "%Y-%m-%d");
        g_string_append_printf(text, "%s%s:%s", text->len > 0 ? " " : "", days[i].name, day);
    }
    return g_string_free(text, FALSE);
}

/* ---- snippets ---- */

typedef struct Span {
    const char *from, *to;
    bool hit;
} Span;

static bool term_is_at(const QueryTerm *term, const GArray *hashes, guint at)
{
    if (at + term->words->len > hashes->len)
        return false;
    for (guint word = 0; word < term->words->len; word++)
        if (g_array_index(hashes, guint, at + word) != g_str_hash(term->words->pdata[word]))
            return false;
    return true;
}

/* All words of the text, with those marked that were looked for. Words are told apart by a hash: a word that is marked
 * by mistake does no harm. */
static GArray *mark_words(const ArchiveQuery *query, const char *text, size_t length)
{
    GArray *spans = g_array_new(FALSE, FALSE, sizeof(Span));
    g_autoptr(GArray) hashes = g_array_new(FALSE, FALSE, sizeof(guint));
    WordReader reader;
    word_reader_init(&reader, text, length);
    while (spans->len < SNIPPET_WORDS && word_reader_next(&reader)) {
        Span span = {reader.from, reader.to, false};
        reader.word[reader.length] = '\0';
        guint hash = g_str_hash(reader.word);
        g_array_append_val(spans, span);
        g_array_append_val(hashes, hash);
    }
    for (guint i = 0; i < query->terms->len; i++) {
        const QueryTerm *term = query->terms->pdata[i];
        for (guint at = 0; !term->negated && at < spans->len; at++)
            for (guint word = 0; term_is_at(term, hashes, at) && word < term->words->len; word++)
                g_array_index(spans, Span, at + word).hit = true;
    }
    return spans;
}

/* The hit with which a window of that many bytes has the most of them. */
static const char *best_place(const GArray *spans, size_t window)
{
    const char *best = NULL;
    guint most = 0;
    for (guint at = 0, end = 0, hits = 0; at < spans->len; at++) {
        const Span *span = &g_array_index(spans, Span, at);
        for (; end < spans->len && g_array_index(spans, Span, end).to <= span->from + window; end++)
            hits += g_array_index(spans, Span, end).hit;
        if (span->hit && hits > most) {
            most = hits;
            best = span->from;
        }
        if (end > at)
            hits -= span->hit;
        else
            end = at + 1;
    }
    return best;
}

static void add_piece(GPtrArray *pieces, GString *text, bool hit)
{
    if (text->len == 0)
        return;
    ArchivePiece *piece = g_new(ArchivePiece, 1);
    *piece = (ArchivePiece){g_strndup(text->str, text->len), hit};
    g_ptr_array_add(pieces, piece);
    g_string_truncate(text, 0);
}

static void piece_free(void *data)
{
    g_free(((ArchivePiece *)data)->text);
    g_free(data);
}

/* Cuts so many characters from a place on, and puts those of marked words into pieces of their own. */
static GPtrArray *cut_pieces(const GArray *spans, const char *at, const char *end, unsigned characters)
{
    GPtrArray *pieces = g_ptr_array_new_with_free_func(piece_free);
    g_autoptr(GString) text = g_string_new(NULL);
    bool hit = false, blank = false; /* one that is still to be written: it stands in no hit but between two */
    guint word = 0;
    for (unsigned count = 0; at < end && count < characters; at = g_utf8_next_char(at)) {
        gunichar letter = g_utf8_get_char(at);
        while (word < spans->len && g_array_index(spans, Span, word).to <= at)
            word++;
        bool marked = false; /* pairs overlap */
        for (guint i = word; i < spans->len && g_array_index(spans, Span, i).from <= at; i++)
            marked = marked || g_array_index(spans, Span, i).hit;
        if (g_unichar_isspace(letter) || g_unichar_iscntrl(letter)) {
            blank = text->len > 0 || pieces->len > 0;
            continue;
        }
        if (blank && marked)
            g_string_append_c(text, ' ');
        if (marked != hit)
            add_piece(pieces, text, hit), hit = marked;
        if (blank && !marked)
            g_string_append_c(text, ' ');
        g_string_append_unichar(text, letter);
        count += 1 + blank;
        blank = false;
    }
    add_piece(pieces, text, hit);
    return pieces;
}

GPtrArray *archive_query_snippet(const ArchiveQuery *query, const char *text, size_t length, unsigned characters)
{
    g_autofree char *valid = g_utf8_make_valid(text, (gssize)MIN(length, ARCHIVE_TEXT_MAX));
    g_autofree char *composed = g_utf8_normalize(valid, -1, G_NORMALIZE_NFC);
    const char *end = composed + strlen(composed);
    g_autoptr(GArray) spans = mark_words(query, composed, strlen(composed));
    const char *best = best_place(spans, characters), *from = composed;
    if (best) {
        const char *earliest = MAX(composed, best - MIN((size_t)(best - composed), characters / SNIPPET_BEFORE));
        for (guint i = 0; i < spans->len && g_array_index(spans, Span, i).from < best; i++)
            if (g_array_index(spans, Span, i).from >= earliest) {
                from = g_array_index(spans, Span, i).from;
                break;
            }
        if (from == composed && earliest > composed)
            from = best;
    }
    return cut_pieces(spans, from, end, characters);
}
