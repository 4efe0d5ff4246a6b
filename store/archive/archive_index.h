/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Keep the index of an archive, from which pages, feeds and searches read the posts of all lists that one maildir
 * archiver keeps. It is one SQLite file beside the maildirs, PATH/.index/index.db, and no part of the site's database.
 * All that is in it comes from the maildirs, and it can be made again from them at any time. Threads are made in
 * archive_thread.h, searches in archive_search.h; doc/web-archive.md has the design.
 *
 *   index = archive_index_open(path, true, &error);
 *   archive_index_begin(index, &error); archive_index_add(index, &post, &added, &error) ...;
 *   archive_index_commit(index, &error);
 *
 * A list is named by its directory: archive_file_name() of its list_archive_name(). Neither changes when the list gets
 * another address, so links that are made of it and of Message-ID-Hashes last. A message's id sorts by arrival over all
 * lists. Reading a page costs the same wherever it is: it begins at a place (ArchivePlace), not at a number.
 *
 * An ArchiveIndex belongs to one thread. Any number of processes may read while one writes; a writer waits 10 s for
 * another. Times are microseconds since 1970, and are kept in whole seconds.
 *
 * Fails with FAIL_LATER: the file cannot be used now (busy, full, may not be written). FAIL_CONFIG: it is damaged, of
 * another version, or no index: archive_index_set_aside() and make it again. FAIL_MISSING: there is none.
 */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ArchiveIndex ArchiveIndex;

/* Bounds on what is kept of what strangers wrote; what is longer is cut. */
#define ARCHIVE_SUBJECT_MAX 998              /* bytes; so is a name */
#define ARCHIVE_TEXT_MAX ((size_t)512 << 10) /* bytes of text that can be found */
#define ARCHIVE_REFERENCES_MAX 1000          /* the first and the last ones */
#define ARCHIVE_PAGE_MAX 1000                /* rows of one page */

#define ARCHIVE_HASH_SIZE 33 /* of message_id_hash(), with its zero byte */

/* Return the path of the index of the archive in this directory: a symbolic link to its file, whose name is another one
 * for each index that is made; g_free(). */
char *archive_index_path(const char *directory);

/* Open the index of the archive in this directory. With create, make the index, and its directory, where there is
 * none. */
ArchiveIndex *archive_index_open(const char *directory, bool create, GError **error);
void archive_index_free(ArchiveIndex *index);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ArchiveIndex, archive_index_free)

/* Rebuild an index: archive_index_open_new() makes an empty one that nobody else finds, and whose commits are not
 * durable. After filling it, archive_index_publish() puts it in the place of the old index and removes all others.
 * Processes that have an old one open go on reading that. */
ArchiveIndex *archive_index_open_new(const char *directory, GError **error);
bool archive_index_publish(ArchiveIndex *index, GError **error);

/* Look whether the open index is still the one at its path. FAIL_LATER: it was replaced or removed. */
bool archive_index_present(ArchiveIndex *index, GError **error);
/* Rename the file of a damaged index to damaged.db, which replaces an earlier damaged.db. */
bool archive_index_set_aside(const char *directory, GError **error);

/* Begin and end a transaction: all that is done in it appears together, or not at all. */
bool archive_index_begin(ArchiveIndex *index, GError **error);
bool archive_index_commit(ArchiveIndex *index, GError **error);
void archive_index_rollback(ArchiveIndex *index);
/* From now on a commit is durable once the file *fd (borrowed) was synced after it. */
bool archive_index_leave_sync(ArchiveIndex *index, int *fd, GError **error);

/* A message to be added. All is borrowed; texts are UTF-8. */
typedef struct ArchivePost {
    const char *list;       /* the list's directory */
    const char *file;       /* in the maildir, without folder and flags */
    const char *hash;       /* Message-ID-Hash; NULL: it has no Message-ID */
    const char *spare_hash; /* another, unique to the file: of a mail whose Message-ID is that of an earlier one */
    const char *const *references;        /* hashes of what it answers to, the nearest last; ends with NULL */
    const char *const *replied;           /* the first of these hashes that is here counts instead; NULL: none */
    const char *name, *address, *subject; /* of the sender: "" when unknown */
    const char *topic;     /* what is left of the subject without "Re:" and the like (RFC 5256, 2.1) */
    bool reply;            /* its subject began so */
    int64_t arrival, date; /* date 0: it has none that can be read */
    int64_t size;          /* bytes of the mail */
    int64_t attachments;
    const char *text; /* what is to be found; text_length bytes */
    size_t text_length;
} ArchivePost;

/* Add a message in a transaction, fastest in the order of arrival. *added is false when the message's file was added
 * before. The message keeps its own date, unless that is missing, more than a day after its arrival or more than 60
 * days before; then its arrival is its date. Of two messages with one Message-ID the one that was added first has its
 * Message-ID-Hash, and the other one its spare_hash. */
bool archive_index_add(ArchiveIndex *index, const ArchivePost *post, bool *added, GError **error);

/* Set *known: is the message with this file and arrival in the index? */
bool archive_index_knows(ArchiveIndex *index, const char *list, const char *file, int64_t arrival, bool *known,
                         GError **error);

/* ---- reading; clear structs with their _clear(), free arrays with g_ptr_array_unref() ---- */

typedef struct ArchiveList {
    int64_t number;
    char *name; /* the list's directory */
    int64_t posts;
    int64_t first, last; /* dates */
} ArchiveList;
void archive_list_free(ArchiveList *list);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ArchiveList, archive_list_free)
/* Return one list, or the name of one (g_free()). FAIL_MISSING: there is no such list. */
ArchiveList *archive_index_list(ArchiveIndex *index, const char *name, GError **error);
char *archive_index_list_name(ArchiveIndex *index, int64_t number, GError **error);

typedef struct ArchiveMonth {
    int year, month; /* UTC; month from 1 */
    int64_t posts;
} ArchiveMonth;
/* Return the months (of ArchiveMonth) of a list in which something was posted, in order; g_array_unref(). */
GArray *archive_index_months(ArchiveIndex *index, int64_t list, GError **error);

typedef enum ArchiveState { ARCHIVE_SHOWN, ARCHIVE_HIDDEN, ARCHIVE_REMOVED } ArchiveState;

typedef struct ArchiveMessage {
    int64_t id, list, thread;
    int64_t date, arrival;
    char *hash, *file, *name, *address, *subject;
    int64_t size, attachments;
    int state;      /* an ArchiveState */
    char *note;     /* what stands in the place of a message that is not shown; NULL: none */
    int64_t parent; /* id of the nearest message above that is here; 0: none. Set by archive_index_thread_tree() and
                     * archive_index_message() */
    int depth;      /* in the tree; 0: at the top */
    int score;      /* of a search that ranks */
} ArchiveMessage;
void archive_message_free(ArchiveMessage *message);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ArchiveMessage, archive_message_free)

typedef struct ArchiveThread {
    int64_t id, list;
    int64_t first, last; /* dates */
    int64_t posts;
    char *hash, *subject, *name, *address; /* of the message at its top, or the oldest where that is not here */
    int state;                             /* of that message */
} ArchiveThread;
void archive_thread_free(ArchiveThread *thread);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ArchiveThread, archive_thread_free)

/* A place between rows: those behind it have another date, or the same and another id. */
typedef struct ArchivePlace {
    int64_t date, id;
} ArchivePlace;

/* The rows to be read: with dates from `from` to before `to` (0: no bound), at most limit. When behind.id is not 0, the
 * rows behind that place: the date (of a thread the last date) and the id of a row that was read. */
typedef struct ArchivePage {
    int64_t from, to;
    ArchivePlace behind;
    bool oldest_first;
    unsigned limit; /* 1 to ARCHIVE_PAGE_MAX */
} ArchivePage;

/* Return messages of a list by date; of ArchiveMessage. */
GPtrArray *archive_index_messages(ArchiveIndex *index, int64_t list, const ArchivePage *page, GError **error);
/* Return threads of a list by the date of the last message in each; of ArchiveThread. */
GPtrArray *archive_index_threads(ArchiveIndex *index, int64_t list, const ArchivePage *page, GError **error);
/* Return messages of a thread by date; of ArchiveMessage. */
GPtrArray *archive_index_thread_messages(ArchiveIndex *index, int64_t thread, const ArchivePage *page, GError **error);
/* Return the first ARCHIVE_PAGE_MAX messages of a thread (by date) in the order of its tree: each before those that
 * answer it, and those by date. All answers to one message that is not here stand beside each other. */
GPtrArray *archive_index_thread_tree(ArchiveIndex *index, int64_t thread, GError **error);
/* Return one thread, or one message by its hash or its file. FAIL_MISSING: there is none. */
ArchiveThread *archive_index_thread(ArchiveIndex *index, int64_t thread, GError **error);
ArchiveMessage *archive_index_message(ArchiveIndex *index, int64_t list, const char *hash, GError **error);
ArchiveMessage *archive_index_message_by_file(ArchiveIndex *index, const ArchivePost *post, GError **error);

/* ---- hiding ---- */

/* With hidden, show note in the place of the message; else show the message again. A hidden message keeps its place in
 * its thread, and no search finds it. FAIL_MISSING: there is no such message; FAIL_NEVER: it was removed. */
bool archive_index_hide(ArchiveIndex *index, int64_t id, bool hidden, const char *note, GError **error);
/* Forget sender, subject and text of a message for good; the note stands in its place. post is the message as it was
 * added, or NULL when that is lost: then its words stay in the file until the index is made again, though no search
 * finds them. */
bool archive_index_remove(ArchiveIndex *index, int64_t id, const ArchivePost *post, const char *note, GError **error);
