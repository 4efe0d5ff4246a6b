/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/archive/archive_search.h"

#include "store/archive/archive_index_internal.h"
#include "store/archive/archive_query.h"

#define LISTS_NAMED 64        /* more lists than this are looked for among what was found */
#define CANDIDATES_MAX 100000 /* of which no more than this */
#define LOOK_AT_CLOCK 64      /* rows */

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

static void put_lists(GString *match, const ArchiveSearch *search)
{
    if (search->list_count > LISTS_NAMED) {
        g_string_append(match, "(list : all)");
        return;
    }
    for (size_t i = 0; i < search->list_count; i++)
        g_string_append_printf(match, "%sl%" G_GINT64_FORMAT, i > 0 ? " OR " : "(list : (", search->lists[i]);
    g_string_append(match, "))");
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
    put_lists(match, search);
    g_string_append_c(match, ')');
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

static Query *start(const SearchRun *run, const char *match, unsigned limit, GError **error)
{
    const ArchiveQuery *query = run->query;
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
    if (run->search->ranked && !query->after && !query->before && !run->lists)
        return query_open(run->index->store, error, alone, TEXT(match), INTEGER(first), INTEGER(end), INTEGER(limit));
    return query_open(run->index->store, error, run->search->ranked ? ranked : newest, TEXT(match), INTEGER(first),
                      INTEGER(end), INTEGER(query->after), INTEGER(query->before ? query->before : G_MAXINT64),
                      INTEGER(limit));
}

static void look_at(SearchRun *run, Query *rows)
{
    int64_t list = query_integer(rows, 1);
    Candidate candidate = {query_integer(rows, 0), (int)query_integer(rows, 2)};
    run->last = candidate.id;
    if (!run->lists || g_hash_table_contains(run->lists, &list))
        g_array_append_val(run->candidates, candidate);
}

/* Gather as many as are wanted, newest first. */
static bool gather(SearchRun *run, unsigned wanted, GError **error)
{
    unsigned limit = run->lists ? CANDIDATES_MAX : wanted, seen = 0;
    g_autofree char *match = match_of(run->query, run->search); /* borrowed by the rows, so declared before them */
    g_autoptr(Query) rows = start(run, match, limit, error);
    Step step = STEP_FAILED;
    while (rows && run->candidates->len < wanted && !run->impatient && (step = query_step(rows, error)) == STEP_ROW) {
        look_at(run, rows);
        run->impatient = run->deadline != 0 && ++seen % LOOK_AT_CLOCK == 0 && clock_monotonic() > run->deadline;
    }
    run->ended = step == STEP_DONE && run->candidates->len < wanted && seen < limit;
    return rows && step != STEP_FAILED;
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

static bool search_run(SearchRun *run, ArchiveFound *found, GError **error)
{
    unsigned limit = CLAMP(run->search->limit, 1, ARCHIVE_PAGE_MAX);
    bool ranked = run->search->ranked;
    if (!gather(run, ranked ? ARCHIVE_RANKED : limit, error))
        return false;
    if (ranked)
        g_array_sort(run->candidates, compare_candidates);
    found->impatient = run->impatient;
    found->next = run->ended || ranked ? 0 : run->last;
    return read_found(run, limit, found, error);
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
    bool done = search_run(&run, found, error);
    if (!done)
        archive_found_clear(found);
    return archive_index_checked(index, done, error);
}
