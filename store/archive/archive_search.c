/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/archive/archive_search.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "store/archive/archive_index_internal.h"
#include "store/archive/archive_words.h"

#define LISTS_NAMED 64        /* more lists than this are looked for among what was found */
#define CANDIDATES_MAX 100000 /* of which no more than this */
#define LOOK_AT_CLOCK 64      /* rows */

#define SNIPPET_WORDS 20000 /* of a text that are looked at */
#define SNIPPET_BEFORE 4    /* a part of the snippet: so much of it stands before what was found */

/* ---- reading what somebody typed ---- */

typedef enum QueryField { QUERY_ANY, QUERY_SUBJECT, QUERY_FROM } QueryField;

/* One condition of a search: these words stand one behind the other in the field; with negated: they do not. */
typedef struct QueryTerm {
    QueryField field;
    bool negated;
    GPtrArray *words; /* of char *, at least one; as word_reader_next() gives them (store/archive/archive_words.h) */
} QueryTerm;

struct ArchiveQuery {
    GPtrArray *terms; /* of QueryTerm; a message must meet all */
    int64_t after;    /* seconds since 1970: the first that may be a message's date; 0: no bound */
    int64_t before;   /* seconds since 1970: the first that may not be; 0: no bound */
};

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

/* ---- in the words of FTS5 ---- */

/* Only letters and digits come here (archive_words.h), so nothing needs an escape. */
static void put_phrase(GString *match, const QueryTerm *term, bool addresses)
{
    static const char *const columns[] = {"{subject name text}", "subject", "name"};
    bool address = term->field == QUERY_FROM && addresses;
    g_string_append_printf(match, "%s : \"", address ? "{name address}" : columns[term->field]);
    for (guint i = 0; i < term->words->len; i++)
        g_string_append_printf(match, "%s%s", i > 0 ? " " : "", (char *)term->words->pdata[i]);
    g_string_append_c(match, '"');
}

static char *match_of(const ArchiveQuery *query, const ArchiveSearch *search)
{
    GString *match = g_string_new("(");
    g_autoptr(GString) without = g_string_new(NULL);
    for (guint i = 0; i < query->terms->len; i++) {
        const QueryTerm *term = query->terms->pdata[i];
        if (term->negated) {
            g_string_append(without, without->len > 0 ? " OR " : "");
            put_phrase(without, term, search->addresses);
        } else {
            put_phrase(match, term, search->addresses);
            g_string_append(match, " AND ");
        }
    }
    if (search->list_count > LISTS_NAMED)
        g_string_append(match, "(list : all");
    for (size_t i = 0; search->list_count <= LISTS_NAMED && i < search->list_count; i++)
        g_string_append_printf(match, "%sl%" G_GINT64_FORMAT, i > 0 ? " OR " : "(list : (", search->lists[i]);
    g_string_append(match, search->list_count > LISTS_NAMED ? "))" : ")))");
    if (without->len > 0)
        g_string_append_printf(match, " NOT (%s)", without->str);
    return g_string_free(match, FALSE);
}

/* ---- searching ---- */

typedef struct Candidate {
    int64_t id;
    int score;
} Candidate;

typedef struct SearchRun {
    ArchiveIndex *index;
    const ArchiveQuery *query;
    const ArchiveSearch *search;
    GHashTable *lists;  /* NULL: FTS5 has looked at them */
    GArray *candidates; /* of Candidate */
    int64_t deadline;   /* monotonic; 0: none */
    bool ended, impatient;
    int64_t last; /* id of the last row that was looked at */
} SearchRun;

/* Gather as many as are wanted, newest first. */
static bool gather(SearchRun *run, unsigned wanted, GError **error)
{
    const ArchiveQuery *query = run->query;
    Store *store = run->index->store;
    unsigned limit = run->lists ? CANDIDATES_MAX : wanted, seen = 0;
    /* An id is made of the arrival, so allow for the most that a message's date may be apart from it. */
    int64_t first = query->after ? MAX(query->after - ARCHIVE_LATE, 0) << ARCHIVE_ID_SHIFT : 0;
    int64_t end = query->before ? MIN(query->before + ARCHIVE_EARLY, ARCHIVE_ARRIVAL_MAX) << ARCHIVE_ID_SHIFT
                                : G_MAXINT64;
    if (run->search->behind > 0)
        end = MIN(end, run->search->behind);

    /* Where no row of its table has to be looked at, what is hidden is left out at the end. */
    static const char alone[] =
        "SELECT rowid, 0, archive_score(word) FROM word WHERE word MATCH $1 AND rowid >= $2 AND rowid < $3"
        " ORDER BY rowid DESC LIMIT $4";
    static const char newest[] =
        "SELECT m.id, m.list, 0 FROM word CROSS JOIN message m ON m.id = word.rowid"
        " WHERE word MATCH $1 AND word.rowid >= $2 AND word.rowid < $3 AND m.state = 0 AND m.date >= $4"
        " AND m.date < $5 ORDER BY word.rowid DESC LIMIT $6";
    static const char ranked[] =
        "SELECT m.id, m.list, archive_score(word) FROM word CROSS JOIN message m ON m.id = word.rowid"
        " WHERE word MATCH $1 AND word.rowid >= $2 AND word.rowid < $3 AND m.state = 0 AND m.date >= $4"
        " AND m.date < $5 ORDER BY word.rowid DESC LIMIT $6";
    bool words_alone = run->search->ranked && !query->after && !query->before && !run->lists;
    g_autofree char *match = match_of(query, run->search); /* borrowed by the rows, so declared before them */
    g_autoptr(Query)
        rows = words_alone ? query_open(store, error, alone, TEXT(match), INTEGER(first), INTEGER(end), INTEGER(limit))
                           : query_open(store, error, run->search->ranked ? ranked : newest, TEXT(match),
                                        INTEGER(first), INTEGER(end), INTEGER(query->after),
                                        INTEGER(query->before ? query->before : G_MAXINT64), INTEGER(limit));
    Step step = STEP_ROW;
    while (run->candidates->len < wanted && !run->impatient && (step = query_step(rows, error)) == STEP_ROW) {
        int64_t list = query_integer(rows, 1);
        Candidate candidate = {query_integer(rows, 0), (int)query_integer(rows, 2)};
        run->last = candidate.id;
        if (!run->lists || g_hash_table_contains(run->lists, &list))
            g_array_append_val(run->candidates, candidate);
        run->impatient = run->deadline != 0 && ++seen % LOOK_AT_CLOCK == 0 && clock_monotonic() > run->deadline;
    }
    run->ended = step == STEP_DONE && run->candidates->len < wanted && seen < limit;
    return step != STEP_FAILED;
}

static int compare_candidates(gconstpointer one, gconstpointer other)
{
    const Candidate *a = one, *b = other;
    return a->score != b->score ? (a->score < b->score) - (a->score > b->score) : (a->id < b->id) - (a->id > b->id);
}

static bool read_found(const SearchRun *run, unsigned limit, ArchiveFound *found, GError **error)
{
    found->messages = g_ptr_array_new_with_free_func((GDestroyNotify)archive_message_free);
    for (guint i = 0; i < run->candidates->len && found->messages->len < limit; i++) {
        const Candidate *candidate = &g_array_index(run->candidates, Candidate, i);
        g_autoptr(Query) query = query_open(run->index->store, error,
                                            "SELECT " ARCHIVE_MESSAGE_COLUMNS " FROM " ARCHIVE_MESSAGE_TABLES
                                            " WHERE m.id = $1 AND m.state = 0",
                                            INTEGER(candidate->id));
        Step step = query_step(query, error);
        if (step == STEP_FAILED)
            return false;
        if (step == STEP_DONE)
            continue;
        ArchiveMessage *message = archive_message_read(query);
        message->score = candidate->score;
        g_ptr_array_add(found->messages, message);
    }
    return true;
}

void archive_found_clear(ArchiveFound *found)
{
    g_clear_pointer(&found->messages, g_ptr_array_unref);
}

bool archive_index_search(ArchiveIndex *index, const ArchiveQuery *query, const ArchiveSearch *search,
                          ArchiveFound *found, GError **error)
{
    *found = (ArchiveFound){0};
    if (archive_query_is_empty(query))
        return fail(error, FAIL_NEVER, "there is no word to look for");
    g_autoptr(GArray) candidates = g_array_new(FALSE, FALSE, sizeof(Candidate));
    g_autoptr(GHashTable) lists = NULL;
    if (search->list_count == 0) {
        found->messages = g_ptr_array_new_with_free_func((GDestroyNotify)archive_message_free);
        return true;
    }
    if (search->list_count > LISTS_NAMED) {
        lists = g_hash_table_new(g_int64_hash, g_int64_equal);
        for (size_t i = 0; i < search->list_count; i++)
            g_hash_table_add(lists, (gpointer)&search->lists[i]);
    }
    SearchRun run = {.index = index,
                     .query = query,
                     .search = search,
                     .lists = lists,
                     .candidates = candidates,
                     .deadline = search->patience ? clock_monotonic() + search->patience : 0};
    bool ranked = search->ranked;
    unsigned limit = CLAMP(search->limit, 1, ARCHIVE_PAGE_MAX);
    bool done = gather(&run, ranked ? ARCHIVE_RANKED : limit, error);
    if (ranked)
        g_array_sort(candidates, compare_candidates);
    found->impatient = run.impatient;
    found->next = run.ended || ranked ? 0 : run.last;
    done = done && read_found(&run, limit, found, error);
    if (!done)
        archive_found_clear(found);
    return archive_index_checked(index, done, error);
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
