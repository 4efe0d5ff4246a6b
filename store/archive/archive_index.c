/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/archive/archive_index.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fs.h"
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

/* ---- the file ---- */

/*
 * The file of an archive's index:
 *
 *   .index/index.db -> index.1764000000123456.db      what is found
 *   .index/index.1764000000123456.db, -wal, -shm      an index and its companions
 *   .index/damaged.db                                 the last one that was damaged
 *
 * SQLite finds the companions of a file by its name. So a file's name is never used again: a process that still has the
 * old file open does not touch what belongs to the new one.
 */
#define DIRECTORY ".index" /* no list's directory begins with a dot */
#define LINK "index.db"
#define LINK_ASIDE "index.link"
#define DAMAGED "damaged.db"

char *archive_index_path(const char *directory)
{
    return g_build_filename(directory, DIRECTORY, LINK, NULL);
}

bool archive_index_checked(ArchiveIndex *index, bool ok, GError **error)
{
    const StoreDriver *driver = store_driver(index->store);
    if (!ok && error && *error && driver->damaged(store_connection(index->store)))
        (*error)->code = FAIL_CONFIG;
    return ok;
}

static char *new_name(void)
{
    return g_strdup_printf("index.%" G_GINT64_FORMAT ".%u.db", clock_unique(), (unsigned)getpid());
}

/* Opens the file of that name beside the link. */
static ArchiveIndex *open_file(const char *link, const char *target, bool create, GError **error)
{
    g_autofree char *own = g_path_get_dirname(link), *path = g_build_filename(own, target, NULL);
    g_autoptr(GError) fault = NULL;
    Store *store = store_open_by(&store_archive, path, create, archive_schemas, &fault);
    if (!store) {
        /* Damage in the first pages is told before there is a connection to ask. */
        if (g_error_matches(fault, FAIL, FAIL_MISSING) || strstr(fault->message, "malformed") ||
            strstr(fault->message, "already exists"))
            fault->code = FAIL_CONFIG;
        if (strstr(fault->message, "already exists"))
            g_prefix_error(&fault,
                           "%s was made by another version, and \"listrunner archive index\" makes it again: ", path);
        g_propagate_error(error, g_steal_pointer(&fault));
        return NULL;
    }
    ArchiveIndex *index = g_new0(ArchiveIndex, 1);
    index->store = store;
    index->link = g_strdup(link);
    index->target = g_strdup(target);
    return index;
}

/* Makes a link to a file that is still to be made, unless another process was faster. */
static bool make_link(const char *directory, const char *link, GError **error)
{
    g_autofree char *own = g_path_get_dirname(link), *name = new_name();
    auto_fd archive = fs_open_dir(AT_FDCWD, directory, true, error);
    auto_fd made = archive >= 0 ? fs_open_dir(archive, DIRECTORY, true, error) : -1;
    if (made < 0)
        return false;
    if (symlink(name, link) != 0 && errno != EEXIST)
        return fail_errno(error, FAIL_LATER, "make %s", link);
    return fs_sync_dir(made, error);
}

ArchiveIndex *archive_index_open(const char *directory, bool create, GError **error)
{
    g_autofree char *link = archive_index_path(directory), *target = g_file_read_link(link, NULL);
    if (!target && g_file_test(link, G_FILE_TEST_EXISTS)) {
        fail(error, FAIL_CONFIG, "%s is no link to an index", link);
        return NULL;
    }
    if (!target && create && !make_link(directory, link, error))
        return NULL;
    if (!target)
        target = g_file_read_link(link, NULL);
    if (!target) {
        fail(error, FAIL_MISSING, "there is no index of the archive %s; \"listrunner archive index\" makes one",
             directory);
        return NULL;
    }
    return open_file(link, target, create, error);
}

void archive_index_free(ArchiveIndex *index)
{
    if (!index)
        return;
    store_free(index->store);
    g_free(index->link);
    g_free(index->target);
    g_free(index);
}

ArchiveIndex *archive_index_open_new(const char *directory, GError **error)
{
    g_autofree char *link = archive_index_path(directory), *target = new_name();
    auto_fd archive = fs_open_dir(AT_FDCWD, directory, true, error);
    auto_fd made = archive >= 0 ? fs_open_dir(archive, DIRECTORY, true, error) : -1;
    g_autoptr(ArchiveIndex) index = made >= 0 ? open_file(link, target, true, error) : NULL;
    int log;
    return index && archive_index_leave_sync(index, &log, error) ? g_steal_pointer(&index) : NULL;
}

/* Removes indexes and companions of indexes, but not those of the one with that name. */
static void remove_others(int directory_fd, const char *directory, const char *kept)
{
    g_autoptr(GDir) all = g_dir_open(directory, 0, NULL);
    for (const char *name; all && (name = g_dir_read_name(all));)
        if (g_str_has_prefix(name, "index.") && strstr(name, ".db") && strcmp(name, LINK) != 0 &&
            !g_str_has_prefix(name, kept))
            fs_unlink(directory_fd, name, NULL);
}

bool archive_index_publish(ArchiveIndex *index, GError **error)
{
    g_autofree char *own = g_path_get_dirname(index->link), *aside = g_build_filename(own, LINK_ASIDE, NULL);
    auto_fd directory = fs_open_dir(AT_FDCWD, own, false, error);
    if (directory < 0 ||
        !archive_index_checked(index,
                               store_driver(index->store)
                                   ->script(store_connection(index->store), "PRAGMA wal_checkpoint(TRUNCATE)", error),
                               error))
        return false;
    if ((unlink(aside) != 0 && errno != ENOENT) || symlink(index->target, aside) != 0)
        return fail_errno(error, FAIL_LATER, "make %s", aside);
    if (!fs_rename(directory, LINK_ASIDE, LINK, error) || !fs_sync_dir(directory, error))
        return false;
    remove_others(directory, own, index->target);
    return true;
}

bool archive_index_present(ArchiveIndex *index, GError **error)
{
    g_autofree char *target = g_file_read_link(index->link, NULL);
    return (g_strcmp0(target, index->target) == 0 ||
            fail(error, FAIL_LATER, "the index %s was replaced by another one", index->link)) &&
           store_present(index->store, error);
}

bool archive_index_set_aside(const char *directory, GError **error)
{
    g_autofree char *link = archive_index_path(directory), *target = g_file_read_link(link, NULL);
    g_autofree char *own = g_path_get_dirname(link);
    auto_fd made = fs_open_dir(AT_FDCWD, own, false, error);
    if (made < 0)
        return false;
    if (unlink(link) != 0 && errno != ENOENT)
        return fail_errno(error, FAIL_LATER, "remove %s", link);
    if (target)
        fs_rename(made, target, DAMAGED, NULL);
    remove_others(made, own, "-"); /* the companions */
    return fs_sync_dir(made, error);
}

bool archive_index_begin(ArchiveIndex *index, GError **error)
{
    return archive_index_checked(index, store_begin(index->store, error), error);
}

bool archive_index_commit(ArchiveIndex *index, GError **error)
{
    return archive_index_checked(index, store_commit(index->store, error), error);
}

void archive_index_rollback(ArchiveIndex *index)
{
    store_rollback(index->store);
}

bool archive_index_leave_sync(ArchiveIndex *index, int *fd, GError **error)
{
    return archive_index_checked(index, store_leave_sync(index->store, fd, error), error);
}

/* ---- adding ---- */

static bool list_number(Store *store, const char *name, int64_t *number, GError **error)
{
    *number = 0;
    return query_number(store, error, number, "SELECT number FROM list WHERE name = $1", TEXT(name)) &&
           (*number != 0 ||
            query_number(store, error, number, "INSERT INTO list (name) VALUES ($1) RETURNING number", TEXT(name)));
}

/* An id that no message has, of that second or, where that is full, behind the last one of the seconds after it. */
static bool new_id(Store *store, int64_t arrival, int64_t *id, GError **error)
{
    int64_t second = CLAMP(arrival / CLOCK_SECOND, 0, ARCHIVE_ARRIVAL_MAX - 1);
    for (int64_t seconds = 1; second + seconds <= ARCHIVE_ARRIVAL_MAX; seconds *= 2) {
        int64_t first = second << ARCHIVE_ID_SHIFT, end = (second + seconds) << ARCHIVE_ID_SHIFT;
        if (!query_number(store, error, id, "SELECT coalesce(max(id) + 1, $1) FROM message WHERE id >= $1 AND id < $2",
                          INTEGER(first), INTEGER(end)))
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

/* The rows of a message: its own, one post more of the month and the list, and its words. */
static bool add_rows(Store *store, const ArchiveNode *node, const ArchivePlacing *placing, const ArchivePost *post,
                     GError **error)
{
    g_autofree char *name = brief(post->name, ARCHIVE_SUBJECT_MAX);
    g_autofree char *address = brief(post->address, ARCHIVE_SUBJECT_MAX);
    g_autofree char *subject = brief(post->subject, ARCHIVE_SUBJECT_MAX);
    g_auto(Words) words = {0};
    words_make(&words, node->list, post);
    struct tm day;
    time_t seconds = (time_t)placing->date;
    gmtime_r(&seconds, &day);
    return query_run(store, error, NULL,
                     "INSERT INTO message (id, list, node, thread, date, file, name, address, subject, size,"
                     " attachments) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
                     INTEGER(placing->message), INTEGER(node->list), INTEGER(node->id), INTEGER(node->thread),
                     INTEGER(placing->date), TEXT(post->file), TEXT(name), TEXT(address), TEXT(subject),
                     INTEGER(post->size), INTEGER(post->attachments)) &&
           query_run(store, error, NULL,
                     "INSERT INTO month (list, month, posts) VALUES ($1, $2, 1)"
                     " ON CONFLICT (list, month) DO UPDATE SET posts = posts + 1",
                     INTEGER(node->list), INTEGER((day.tm_year + 1900) * 12 + day.tm_mon)) &&
           query_run(store, error, NULL,
                     "UPDATE list SET first = CASE WHEN posts = 0 THEN $2 ELSE min(first, $2) END,"
                     " last = max(last, $2), posts = posts + 1 WHERE number = $1",
                     INTEGER(node->list), INTEGER(placing->date)) &&
           query_run(store, error, NULL,
                     "INSERT INTO word (rowid, list, subject, name, address, text) VALUES ($1, $2, $3, $4, $5, $6)",
                     INTEGER(placing->message), TEXT(words.list), TEXT(words.subject), TEXT(words.name),
                     TEXT(words.address), TEXT(words.text));
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
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    if (!write.begun || !list_number(store, post->list, &list, error) ||
        !choose_hash(store, list, post, &hash, &known, error))
        return false;
    *added = !known;
    if (known)
        return write_end(&write, error);
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
    return archive_thread_place(&threading, &placing, &node, error) && add_rows(store, &node, &placing, post, error) &&
           archive_thread_settle(&threading, error) && write_end(&write, error);
}

bool archive_index_add(ArchiveIndex *index, const ArchivePost *post, bool *added, GError **error)
{
    return archive_index_checked(index, add(index->store, post, added, error), error);
}

bool archive_index_knows(ArchiveIndex *index, const char *list, const char *file, int64_t arrival, bool *known,
                         GError **error)
{
    int64_t second = CLAMP(arrival / CLOCK_SECOND, 0, ARCHIVE_ARRIVAL_MAX - 1);
    return archive_index_checked(
        index,
        query_exists(index->store, error, known,
                     /* CROSS: messages of that second first, since SQLite would rather go through all of the list. */
                     "SELECT 1 FROM message m CROSS JOIN list l ON l.number = m.list WHERE m.id >= $1 AND m.id < $2"
                     " AND m.file = $3 AND l.name = $4 LIMIT 1",
                     INTEGER(second << ARCHIVE_ID_SHIFT), INTEGER((second + 1) << ARCHIVE_ID_SHIFT), TEXT(file),
                     TEXT(list)),
        error);
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

static bool remove_message(Store *store, int64_t id, const ArchivePost *post, const char *note, GError **error)
{
    ArchiveState state;
    int64_t list;
    g_autofree char *shown = note ? brief(note, NOTE_MAX) : NULL;
    if (!state_of(store, id, &state, &list, error))
        return false;
    if (state != ARCHIVE_REMOVED && post) {
        g_auto(Words) words = {0};
        words_make(&words, list, post);
        if (!query_run(store, error, NULL,
                       "INSERT INTO word (word, rowid, list, subject, name, address, text)"
                       " VALUES ('delete', $1, $2, $3, $4, $5, $6)",
                       INTEGER(id), TEXT(words.list), TEXT(words.subject), TEXT(words.name), TEXT(words.address),
                       TEXT(words.text)))
            return false;
    }
    return query_run(store, error, NULL,
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
