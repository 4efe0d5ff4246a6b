/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/archive/archive_index.h"

#include <time.h>

#include "store/archive/archive_index_internal.h"
#include "store/archive/archive_thread.h"
#include "store/schema/migrate.h"

#define NOTE_MAX 1000 /* bytes */

/*
 * node    one a Message-ID of a list that some message has or refers to; threads are made of them (archive_thread.h)
 * word    what is found: contentless, so it holds no text, and rows are removed by giving their words once more. The
 *         column list holds "l" and the list's number, and "all". The text comes first, since each place of a word in
 *         another column costs two bytes more
 */
static const char schema[] =
    "CREATE TABLE list (number @integer@ PRIMARY KEY, name @text@ NOT NULL UNIQUE, posts @integer@ NOT NULL DEFAULT 0,"
    " first @integer@ NOT NULL DEFAULT 0, last @integer@ NOT NULL DEFAULT 0) @table@;"
    "CREATE TABLE node (id @integer@ PRIMARY KEY, list @integer@ NOT NULL, hash @text@ NOT NULL, message @integer@,"
    " claim @integer@, claimer @text@, cut @integer@ NOT NULL DEFAULT 0, thread @integer@ NOT NULL) @table@;"
    "CREATE UNIQUE INDEX node_hash ON node (list, hash);"
    "CREATE INDEX node_claim ON node (claim) WHERE claim IS NOT NULL;"
    "CREATE TABLE message (id @integer@ PRIMARY KEY, list @integer@ NOT NULL, node @integer@ NOT NULL,"
    " thread @integer@ NOT NULL, date @integer@ NOT NULL, file @text@ NOT NULL, name @text@ NOT NULL,"
    " address @text@ NOT NULL, subject @text@ NOT NULL, size @integer@ NOT NULL, attachments @integer@ NOT NULL,"
    " state @integer@ NOT NULL DEFAULT 0, note @text@) @table@;"
    "CREATE INDEX message_date ON message (list, date, id);"
    "CREATE INDEX message_thread ON message (thread, date, id);"
    /* Messages that refer to nothing, by what they are about. */
    "CREATE TABLE topic (list @integer@ NOT NULL, topic @text@ NOT NULL, reply @integer@ NOT NULL,"
    " date @integer@ NOT NULL, hash @text@ NOT NULL, node @integer@ NOT NULL,"
    " PRIMARY KEY (list, topic, reply, date, hash)) STRICT, WITHOUT ROWID;"
    "CREATE TABLE thread (id @integer@ PRIMARY KEY, list @integer@ NOT NULL, root @integer@ NOT NULL,"
    " nodes @integer@ NOT NULL, posts @integer@ NOT NULL DEFAULT 0, first @integer@ NOT NULL DEFAULT 0,"
    " last @integer@ NOT NULL DEFAULT 0, top @integer@) @table@;"
    "CREATE INDEX thread_last ON thread (list, last, id) WHERE posts > 0;"
    "CREATE TABLE month (list @integer@ NOT NULL, month @integer@ NOT NULL, posts @integer@ NOT NULL,"
    " PRIMARY KEY (list, month)) STRICT, WITHOUT ROWID;"
    "CREATE VIRTUAL TABLE word USING fts5(text, subject, name, address, list, content='', columnsize=0,"
    " tokenize='ascii');"
    /* Merging as seldom as can be costs a post a sixth less, and searches nothing. */
    "INSERT INTO word (word, rank) VALUES ('automerge', 16);";

const Migration archive_schemas[] = {{2, "archive", schema}, {0, NULL, NULL}};

/* ---- adding ---- */

static bool list_number(Store *store, const char *name, int64_t *number, GError **error)
{
    g_autoptr(Query) query = query_open(store, error, "SELECT number FROM list WHERE name = $1", TEXT(name));
    Step step = query_step(query, error);
    if (step == STEP_ROW) {
        *number = query_integer(query, 0);
        return true;
    }
    g_autoptr(Query)
        add = step == STEP_DONE
                  ? query_open(store, error, "INSERT INTO list (name) VALUES ($1) RETURNING number", TEXT(name))
                  : NULL;
    if (query_step(add, error) != STEP_ROW)
        return false;
    *number = query_integer(add, 0);
    return query_step(add, error) == STEP_DONE;
}

static bool integer_of(Query *query, int64_t *number, GError **error)
{
    bool read = query_step(query, error) == STEP_ROW;
    if (read)
        *number = query_integer(query, 0);
    return read;
}

/* An id that no message has, of that second or, where that is full, behind the last one of the seconds after it. */
static bool new_id(Store *store, int64_t arrival, int64_t *id, GError **error)
{
    int64_t second = CLAMP(arrival / CLOCK_SECOND, 0, ARCHIVE_ARRIVAL_MAX - 1);
    for (int64_t seconds = 1; second + seconds <= ARCHIVE_ARRIVAL_MAX; seconds *= 2) {
        int64_t first = second << ARCHIVE_ID_SHIFT, end = (second + seconds) << ARCHIVE_ID_SHIFT;
        g_autoptr(Query)
            query = query_open(store, error, "SELECT coalesce(max(id) + 1, $1) FROM message WHERE id >= $1 AND id < $2",
                               INTEGER(first), INTEGER(end));
        if (!integer_of(query, id, error))
            return false;
        if (*id < end)
            return true;
    }
    return fail(error, FAIL_LATER, "there are too many messages of one time in the index");
}

static int64_t believed_date(const ArchivePost *post, int64_t id)
{
    int64_t arrival = ARCHIVE_ARRIVAL(id) / CLOCK_SECOND, date = post->date / CLOCK_SECOND;
    return post->date != 0 && date >= arrival - ARCHIVE_EARLY && date <= arrival + ARCHIVE_LATE && date >= 0 ? date
                                                                                                             : arrival;
}

static char *brief(const char *text, size_t limit)
{
    size_t length = strlen(text);
    if (length > limit) {
        length = limit;
        while (length > 0 && ((unsigned char)text[length] & 0xc0) == 0x80)
            length--;
    }
    return g_utf8_make_valid(text, (gssize)length);
}

static int month_of(int64_t date)
{
    struct tm parts;
    time_t seconds = (time_t)date;
    gmtime_r(&seconds, &parts);
    return (parts.tm_year + 1900) * 12 + parts.tm_mon;
}

static bool count_post(Store *store, int64_t list, int64_t date, GError **error)
{
    return query_run(store, error, NULL,
                     "INSERT INTO month (list, month, posts) VALUES ($1, $2, 1)"
                     " ON CONFLICT (list, month) DO UPDATE SET posts = posts + 1",
                     INTEGER(list), INTEGER(month_of(date))) &&
           query_run(store, error, NULL,
                     "UPDATE list SET first = CASE WHEN posts = 0 THEN $2 ELSE min(first, $2) END,"
                     " last = max(last, $2), posts = posts + 1 WHERE number = $1",
                     INTEGER(list), INTEGER(date));
}

/* Words of a text that strangers wrote: no more of it than limit bytes. */
static char *words_of(const char *text, size_t length, size_t limit)
{
    size_t kept = MIN(length, limit);
    while (kept < length && kept > 0 && ((unsigned char)text[kept] & 0xc0) == 0x80)
        kept--;
    return archive_words(text, kept);
}

/* Words holds the row of the table word for one message: its columns in order. */
typedef struct Words {
    char *list, *subject, *name, *address, *text;
} Words;

static void words_clear(Words *words)
{
    g_free(words->list);
    g_free(words->subject);
    g_free(words->name);
    g_free(words->address);
    g_free(words->text);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Words, words_clear)

static void words_make(Words *words, int64_t list, const ArchivePost *post)
{
    words->list = g_strdup_printf("l%" G_GINT64_FORMAT " all", list);
    words->subject = words_of(post->subject, strlen(post->subject), ARCHIVE_SUBJECT_MAX);
    words->name = words_of(post->name, strlen(post->name), ARCHIVE_SUBJECT_MAX);
    words->address = words_of(post->address, strlen(post->address), ARCHIVE_SUBJECT_MAX);
    words->text = words_of(post->text ? post->text : "", post->text ? post->text_length : 0, ARCHIVE_TEXT_MAX);
}

static bool add_words(Store *store, int64_t list, int64_t id, const ArchivePost *post, GError **error)
{
    g_auto(Words) words = {0};
    words_make(&words, list, post);
    return query_run(store, error, NULL,
                     "INSERT INTO word (rowid, list, subject, name, address, text) VALUES ($1, $2, $3, $4, $5, $6)",
                     INTEGER(id), TEXT(words.list), TEXT(words.subject), TEXT(words.name), TEXT(words.address),
                     TEXT(words.text));
}

static bool add_row(Store *store, const ArchiveNode *node, int64_t id, const ArchivePost *post, GError **error)
{
    g_autofree char *name = brief(post->name, ARCHIVE_SUBJECT_MAX);
    g_autofree char *address = brief(post->address, ARCHIVE_SUBJECT_MAX);
    g_autofree char *subject = brief(post->subject, ARCHIVE_SUBJECT_MAX);
    return query_run(store, error, NULL,
                     "INSERT INTO message (id, list, node, thread, date, file, name, address, subject, size,"
                     " attachments) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
                     INTEGER(id), INTEGER(node->list), INTEGER(node->id), INTEGER(node->thread),
                     INTEGER(believed_date(post, id)), TEXT(post->file), TEXT(name), TEXT(address), TEXT(subject),
                     INTEGER(post->size), INTEGER(post->attachments));
}

/* Find the file of the message with this hash: *file is NULL when there is none. */
static bool file_of(Store *store, int64_t list, const char *hash, char **file, GError **error)
{
    g_autoptr(Query) query = query_open(
        store, error, "SELECT m.file FROM node n JOIN message m ON m.id = n.message WHERE n.list = $1 AND n.hash = $2",
        INTEGER(list), TEXT(hash));
    Step step = query_step(query, error);
    *file = step == STEP_ROW ? g_strdup(query_text(query, 0)) : NULL;
    return step != STEP_FAILED;
}

/* The hash that the message gets; *known: its file is here under that. */
static bool choose_hash(Store *store, int64_t list, const ArchivePost *post, const char **hash, bool *known,
                        GError **error)
{
    const char *choices[] = {post->hash, post->spare_hash};
    *known = false;
    for (size_t i = 0; i < G_N_ELEMENTS(choices); i++) {
        g_autofree char *file = NULL;
        if (choices[i] && !file_of(store, list, choices[i], &file, error))
            return false;
        *hash = choices[i];
        *known = g_strcmp0(file, post->file) == 0;
        if (*known || (choices[i] && !file))
            return true;
    }
    return fail(error, FAIL_LATER, "there is another message with the hash %s", post->spare_hash);
}

/* Set *hash to the first of the hashes of In-Reply-To that a message of the list has; NULL: none has. */
static bool find_replied(Store *store, int64_t list, const ArchivePost *post, const char **hash, GError **error)
{
    *hash = NULL;
    for (const char *const *at = post->replied; at && *at && !*hash; at++) {
        g_autofree char *file = NULL;
        if (!file_of(store, list, *at, &file, error))
            return false;
        *hash = file ? *at : NULL;
    }
    return true;
}

static bool add(Store *store, const ArchivePost *post, bool *added, GError **error)
{
    int64_t list = 0, id = 0;
    const char *hash, *replied[2] = {NULL, NULL};
    bool known;
    if (!list_number(store, post->list, &list, error) || !choose_hash(store, list, post, &hash, &known, error))
        return false;
    *added = !known;
    if (known)
        return true;
    if (!new_id(store, post->arrival, &id, error) || !find_replied(store, list, post, replied, error))
        return false;
    g_auto(ArchiveThreading) threading = {.store = store, .list = list};
    const ArchivePlacing placing = {.hash = hash,
                                    .references = *replied ? replied : post->references,
                                    .topic = post->topic,
                                    .reply = post->reply,
                                    .date = believed_date(post, id),
                                    .message = id};
    ArchiveNode node;
    return archive_thread_place(&threading, &placing, &node, error) && add_row(store, &node, id, post, error) &&
           archive_thread_settle(&threading, error) && count_post(store, list, placing.date, error) &&
           add_words(store, list, id, post, error);
}

bool archive_index_add(ArchiveIndex *index, const ArchivePost *post, bool *added, GError **error)
{
    return archive_index_checked(index, STORE_WRITE(index->store, error, add(index->store, post, added, error)), error);
}

bool archive_index_knows(ArchiveIndex *index, const char *list, const char *file, int64_t arrival, bool *known,
                         GError **error)
{
    int64_t second = CLAMP(arrival / CLOCK_SECOND, 0, ARCHIVE_ARRIVAL_MAX - 1);
    g_autoptr(Query) query = query_open(
        index->store, error,
        /* CROSS: messages of that second first, since SQLite would rather go through all of the list. */
        "SELECT 1 FROM message m CROSS JOIN list l ON l.number = m.list WHERE m.id >= $1 AND m.id < $2 AND m.file = $3"
        " AND l.name = $4 LIMIT 1",
        INTEGER(second << ARCHIVE_ID_SHIFT), INTEGER((second + 1) << ARCHIVE_ID_SHIFT), TEXT(file), TEXT(list));
    Step step = query_step(query, error);
    *known = step == STEP_ROW;
    return archive_index_checked(index, step != STEP_FAILED, error);
}

/* ---- hiding ---- */

static bool state_of(Store *store, int64_t id, ArchiveState *state, int64_t *list, GError **error)
{
    g_autoptr(Query) query = query_open(store, error, "SELECT state, list FROM message WHERE id = $1", INTEGER(id));
    Step step = query_step(query, error);
    if (step == STEP_ROW) {
        *state = (ArchiveState)query_integer(query, 0);
        *list = query_integer(query, 1);
    }
    return step == STEP_ROW || (step == STEP_DONE && fail(error, FAIL_MISSING, "there is no such message"));
}

static bool hide(Store *store, int64_t id, bool hidden, const char *note, GError **error)
{
    ArchiveState state;
    int64_t list;
    g_autofree char *shown = note ? brief(note, NOTE_MAX) : NULL;
    if (!state_of(store, id, &state, &list, error))
        return false;
    if (state == ARCHIVE_REMOVED)
        return fail(error, FAIL_NEVER, "the message was removed");
    return query_run(store, error, NULL, "UPDATE message SET state = $2, note = $3 WHERE id = $1", INTEGER(id),
                     INTEGER(hidden ? ARCHIVE_HIDDEN : ARCHIVE_SHOWN), TEXT(hidden ? shown : NULL));
}

static bool remove_words(Store *store, int64_t list, int64_t id, const ArchivePost *post, GError **error)
{
    g_auto(Words) words = {0};
    words_make(&words, list, post);
    return query_run(store, error, NULL,
                     "INSERT INTO word (word, rowid, list, subject, name, address, text)"
                     " VALUES ('delete', $1, $2, $3, $4, $5, $6)",
                     INTEGER(id), TEXT(words.list), TEXT(words.subject), TEXT(words.name), TEXT(words.address),
                     TEXT(words.text));
}

static bool remove_message(Store *store, int64_t id, const ArchivePost *post, const char *note, GError **error)
{
    ArchiveState state;
    int64_t list;
    g_autofree char *shown = note ? brief(note, NOTE_MAX) : NULL;
    if (!state_of(store, id, &state, &list, error))
        return false;
    return (state == ARCHIVE_REMOVED || !post || remove_words(store, list, id, post, error)) &&
           query_run(store, error, NULL,
                     "UPDATE message SET state = $2, note = $3, name = '', address = '', subject = '', size = 0,"
                     " attachments = 0 WHERE id = $1",
                     INTEGER(id), INTEGER(ARCHIVE_REMOVED), TEXT(shown));
}

bool archive_index_hide(ArchiveIndex *index, int64_t id, bool hidden, const char *note, GError **error)
{
    return archive_index_checked(index, STORE_WRITE(index->store, error, hide(index->store, id, hidden, note, error)),
                                 error);
}

bool archive_index_remove(ArchiveIndex *index, int64_t id, const ArchivePost *post, const char *note, GError **error)
{
    return archive_index_checked(
        index, STORE_WRITE(index->store, error, remove_message(index->store, id, post, note, error)), error);
}
