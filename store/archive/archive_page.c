/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* These read an archive's index for pages. */
#include "store/archive/archive_index_internal.h"

#define HOPS_MAX 100000 /* over ghosts, of all messages of a tree */

/* ---- lists and months ---- */

static const RowField list_fields[] = {
    ROW(ArchiveList, number), ROW(ArchiveList, name), ROW(ArchiveList, posts),
    ROW(ArchiveList, first),  ROW(ArchiveList, last),
};

void archive_list_free(ArchiveList *list)
{
    row_free(list_fields, list);
}

ArchiveList *archive_index_list(ArchiveIndex *index, const char *name, GError **error)
{
    g_autoptr(Query) query = query_open(index->store, error,
                                        "SELECT number, name, posts, first * 1000000, last * 1000000 FROM list "
                                        "WHERE name = $1",
                                        TEXT(name));
    ArchiveList *list = row_find(query, ArchiveList, list_fields,
                                 fail(error, FAIL_MISSING, "there are no posts of %s in the index", name), error);
    archive_index_checked(index, list != NULL, error);
    return list;
}

char *archive_index_list_name(ArchiveIndex *index, int64_t number, GError **error)
{
    g_autoptr(Query)
        query = query_open(index->store, error, "SELECT name FROM list WHERE number = $1", INTEGER(number));
    Step step = query_step(query, error);
    if (step == STEP_ROW)
        return g_strdup(query_text(query, 0));
    archive_index_checked(index, step == STEP_DONE && fail(error, FAIL_MISSING, "there is no such list in the index"),
                          error);
    return NULL;
}

GArray *archive_index_months(ArchiveIndex *index, int64_t list, GError **error)
{
    g_autoptr(GArray) months = g_array_new(FALSE, FALSE, sizeof(ArchiveMonth));
    g_autoptr(Query) query = query_open(index->store, error,
                                        "SELECT month, posts FROM month WHERE list = $1 ORDER BY month", INTEGER(list));
    Step step;
    while ((step = query_step(query, error)) == STEP_ROW) {
        int64_t number = query_integer(query, 0);
        ArchiveMonth month = {(int)(number / 12), (int)(number % 12) + 1, query_integer(query, 1)};
        g_array_append_val(months, month);
    }
    return archive_index_checked(index, step == STEP_DONE, error) ? g_steal_pointer(&months) : NULL;
}

/* ---- messages ---- */

static const RowField message_fields[] = {
    ROW(ArchiveMessage, id),   ROW(ArchiveMessage, list),        ROW(ArchiveMessage, thread),
    ROW(ArchiveMessage, date), ROW(ArchiveMessage, hash),        ROW(ArchiveMessage, file),
    ROW(ArchiveMessage, name), ROW(ArchiveMessage, address),     ROW(ArchiveMessage, subject),
    ROW(ArchiveMessage, size), ROW(ArchiveMessage, attachments), ROW(ArchiveMessage, state),
    ROW(ArchiveMessage, note),
};
G_STATIC_ASSERT(G_N_ELEMENTS(message_fields) == ARCHIVE_MESSAGE_COUNT);

void archive_message_free(ArchiveMessage *message)
{
    row_free(message_fields, message);
}

ArchiveMessage *archive_message_read(Query *query)
{
    ArchiveMessage *message = g_new0(ArchiveMessage, 1);
    row_read(query, 0, message_fields, message);
    message->arrival = ARCHIVE_ARRIVAL(message->id);
    return message;
}

static GPtrArray *message_rows(ArchiveIndex *index, Query *query, GError **error)
{
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func((GDestroyNotify)archive_message_free);
    Step step;
    while ((step = query_step(query, error)) == STEP_ROW)
        g_ptr_array_add(rows, archive_message_read(query));
    return archive_index_checked(index, step == STEP_DONE, error) ? g_steal_pointer(&rows) : NULL;
}

/* The WHERE and what follows it, for an index on (owner, date, id). There is one bound for each end of the range: of
 * two, SQLite would take the wrong one, and read all rows between them. */
#define NEWEST(owner, date, id)                                                  \
    " WHERE " owner " = $1 AND (" date ", " id ") < ($2, $3) AND " date " >= $4" \
    " ORDER BY " date " DESC, " id " DESC LIMIT $5"
#define OLDEST(owner, date, id)                                                 \
    " WHERE " owner " = $1 AND (" date ", " id ") > ($2, $3) AND " date " < $4" \
    " ORDER BY " date ", " id " LIMIT $5"

static Query *page_query(ArchiveIndex *index, const char *sql, int64_t owner, const ArchivePage *page, GError **error)
{
    /* The last microsecond of a second belongs to it: what is kept are whole seconds. */
    int64_t from = page->from / CLOCK_SECOND, to = page->to ? (page->to + CLOCK_SECOND - 1) / CLOCK_SECOND : G_MAXINT64;
    /* Behind which row the page begins: by the date alone, all of that second, or none of it. */
    int64_t date = page->oldest_first ? from : to, id = page->oldest_first ? -1 : 0;
    if (page->behind.id != 0) {
        date = page->behind.date / CLOCK_SECOND;
        id = page->behind.id;
    }
    return query_open(index->store, error, sql, INTEGER(owner), INTEGER(date), INTEGER(id),
                      INTEGER(page->oldest_first ? to : from), INTEGER(CLAMP(page->limit, 1, ARCHIVE_PAGE_MAX)));
}

#define MESSAGES "SELECT " ARCHIVE_MESSAGE_COLUMNS " FROM " ARCHIVE_MESSAGE_TABLES
#define MESSAGES_OF(owner, page) \
    ((page)->oldest_first ? MESSAGES OLDEST(owner, "m.date", "m.id") : MESSAGES NEWEST(owner, "m.date", "m.id"))

GPtrArray *archive_index_messages(ArchiveIndex *index, int64_t list, const ArchivePage *page, GError **error)
{
    g_autoptr(Query) query = page_query(index, MESSAGES_OF("m.list", page), list, page, error);
    return message_rows(index, query, error);
}

GPtrArray *archive_index_thread_messages(ArchiveIndex *index, int64_t thread, const ArchivePage *page, GError **error)
{
    g_autoptr(Query) query = page_query(index, MESSAGES_OF("m.thread", page), thread, page, error);
    return message_rows(index, query, error);
}

/* ---- trees ---- */

/* The message that is nearest above a message's node; 0: none. hops: as many ghosts are passed over at most. */
static bool parent_of(ArchiveIndex *index, int64_t message, int64_t *parent, unsigned *hops, GError **error)
{
    int64_t node = 0;
    *parent = 0;
    if (!query_number(index->store, error, &node, "SELECT node FROM message WHERE id = $1", INTEGER(message)))
        return false;
    for (bool own = true; node != 0 && *hops > 0; own = false) {
        g_autoptr(Query) query = query_open(
            index->store, error, "SELECT CASE WHEN cut THEN NULL ELSE claim END, message FROM node WHERE id = $1",
            INTEGER(node));
        Step step = query_step(query, error);
        if (step == STEP_FAILED)
            return false;
        int64_t here = step == STEP_ROW ? query_integer(query, 1) : 0;
        node = step == STEP_ROW ? query_integer(query, 0) : 0;
        if (!own && here != 0) {
            *parent = here;
            return true;
        }
        *hops -= !own;
    }
    return true;
}

/* Append what answers the message, each with what answers that. A stack in place of recursion: a thread may be as deep
 * as it is long. children: id → GArray of the places of what answers it, in order. */
static void lay_out(const GPtrArray *messages, GHashTable *children, GPtrArray *tree)
{
    typedef struct Todo {
        guint at;
        int depth;
    } Todo;
    g_autoptr(GArray) stack = g_array_new(FALSE, FALSE, sizeof(Todo));
    int64_t top = 0;
    const GArray *next = g_hash_table_lookup(children, &top);
    int depth = 0;
    for (;;) {
        for (guint i = next ? next->len : 0; i-- > 0;) {
            Todo todo = {g_array_index(next, guint, i), depth};
            g_array_append_val(stack, todo);
        }
        if (stack->len == 0)
            return;
        Todo todo = g_array_index(stack, Todo, stack->len - 1);
        g_array_set_size(stack, stack->len - 1);
        ArchiveMessage *message = messages->pdata[todo.at];
        message->depth = todo.depth;
        g_ptr_array_add(tree, message);
        next = g_hash_table_lookup(children, &message->id);
        depth = todo.depth + 1;
    }
}

GPtrArray *archive_index_thread_tree(ArchiveIndex *index, int64_t thread, GError **error)
{
    const ArchivePage page = {.oldest_first = true, .limit = ARCHIVE_PAGE_MAX};
    g_autoptr(GPtrArray) messages = archive_index_thread_messages(index, thread, &page, error);
    g_autoptr(GHashTable) here = g_hash_table_new(g_int64_hash, g_int64_equal);
    g_autoptr(GHashTable)
        children = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, (GDestroyNotify)g_array_unref);
    unsigned hops = HOPS_MAX;
    if (!messages)
        return NULL;
    for (guint i = 0; i < messages->len; i++)
        g_hash_table_add(here, &((ArchiveMessage *)messages->pdata[i])->id);
    for (guint i = 0; i < messages->len; i++) {
        ArchiveMessage *message = messages->pdata[i];
        if (!archive_index_checked(index, parent_of(index, message->id, &message->parent, &hops, error), error))
            return NULL;
        const int64_t parent = g_hash_table_contains(here, &message->parent) ? message->parent : 0;
        GArray *places = g_hash_table_lookup(children, &parent);
        if (!places) {
            places = g_array_new(FALSE, FALSE, sizeof(guint));
            g_hash_table_insert(children, g_memdup2(&parent, sizeof parent), places);
        }
        g_array_append_val(places, i);
    }
    g_autoptr(GPtrArray) tree = g_ptr_array_new_with_free_func((GDestroyNotify)archive_message_free);
    lay_out(messages, children, tree);
    g_ptr_array_set_free_func(messages, NULL); /* they are the tree's now */
    return g_steal_pointer(&tree);
}

/* ---- one ---- */

static ArchiveMessage *only_message(ArchiveIndex *index, Query *query, GError **error)
{
    g_autoptr(GPtrArray) rows = message_rows(index, query, error);
    unsigned hops = HOPS_MAX;
    if (!rows || (rows->len == 0 && !fail(error, FAIL_MISSING, "there is no such message in the index")))
        return NULL;
    g_autoptr(ArchiveMessage) message = g_ptr_array_steal_index(rows, 0);
    return archive_index_checked(index, parent_of(index, message->id, &message->parent, &hops, error), error)
               ? g_steal_pointer(&message)
               : NULL;
}

ArchiveMessage *archive_index_message(ArchiveIndex *index, int64_t list, const char *hash, GError **error)
{
    g_autoptr(Query)
        query = query_open(index->store, error,
                           "SELECT " ARCHIVE_MESSAGE_COLUMNS " FROM node n JOIN message m ON m.id = n.message"
                           " WHERE n.list = $1 AND n.hash = $2",
                           INTEGER(list), TEXT(hash));
    return only_message(index, query, error);
}

ArchiveMessage *archive_index_message_by_file(ArchiveIndex *index, const ArchivePost *post, GError **error)
{
    g_autoptr(Query) query = query_open(
        index->store, error,
        "SELECT " ARCHIVE_MESSAGE_COLUMNS " FROM list l JOIN node n ON n.list = l.number JOIN message m"
        " ON m.id = n.message WHERE l.name = $1 AND n.hash IN ($2, $3) AND m.file = $4",
        TEXT(post->list), TEXT(post->hash ? post->hash : post->spare_hash), TEXT(post->spare_hash), TEXT(post->file));
    return only_message(index, query, error);
}

/* ---- threads ---- */

static const RowField thread_fields[] = {
    ROW(ArchiveThread, id),      ROW(ArchiveThread, list),  ROW(ArchiveThread, first),   ROW(ArchiveThread, last),
    ROW(ArchiveThread, posts),   ROW(ArchiveThread, hash),  ROW(ArchiveThread, subject), ROW(ArchiveThread, name),
    ROW(ArchiveThread, address), ROW(ArchiveThread, state),
};
#define THREADS                                                                                                \
    "SELECT t.id, t.list, t.first * 1000000, t.last * 1000000, t.posts, n.hash, m.subject, m.name, m.address," \
    " m.state FROM thread t JOIN message m ON m.id = t.top JOIN node n ON n.id = m.node"
/* The words of the partial index thread_last. */
#define THREADS_NEWEST                                                                          \
    THREADS " WHERE t.posts > 0 AND t.list = $1 AND (t.last, t.id) < ($2, $3) AND t.last >= $4" \
            " ORDER BY t.last DESC, t.id DESC LIMIT $5"
#define THREADS_OLDEST                                                                         \
    THREADS " WHERE t.posts > 0 AND t.list = $1 AND (t.last, t.id) > ($2, $3) AND t.last < $4" \
            " ORDER BY t.last, t.id LIMIT $5"

void archive_thread_free(ArchiveThread *thread)
{
    row_free(thread_fields, thread);
}

GPtrArray *archive_index_threads(ArchiveIndex *index, int64_t list, const ArchivePage *page, GError **error)
{
    g_autoptr(Query) query = page_query(index, page->oldest_first ? THREADS_OLDEST : THREADS_NEWEST, list, page, error);
    GPtrArray *rows = row_all(query, ArchiveThread, thread_fields, archive_thread_free, error);
    archive_index_checked(index, rows != NULL, error);
    return rows;
}

ArchiveThread *archive_index_thread(ArchiveIndex *index, int64_t thread, GError **error)
{
    g_autoptr(Query) query = query_open(index->store, error, THREADS " WHERE t.id = $1", INTEGER(thread));
    ArchiveThread *found = row_find(query, ArchiveThread, thread_fields,
                                    fail(error, FAIL_MISSING, "there is no such thread in the index"), error);
    archive_index_checked(index, found != NULL, error);
    return found;
}
