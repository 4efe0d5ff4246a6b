/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/archive/archive_thread.h"

#include <string.h>

#include "base/fail.h"
#include "store/archive/archive_index_internal.h"

#define TOPIC_WINDOW (ARCHIVE_TOPIC_DAYS * INT64_C(86400))

void archive_threading_clear(ArchiveThreading *threading)
{
    g_clear_pointer(&threading->touched, g_array_unref);
}

static void touch(ArchiveThreading *self, int64_t thread)
{
    if (!self->touched)
        self->touched = g_array_new(FALSE, FALSE, sizeof(int64_t));
    for (guint i = 0; i < self->touched->len; i++)
        if (g_array_index(self->touched, int64_t, i) == thread)
            return;
    g_array_append_val(self->touched, thread);
}

/* ---- nodes ---- */

#define NODE_COLUMNS "id, list, message, claim, thread, cut, hash, claimer"

static Step node_read(Query *query, ArchiveNode *node, GError **error)
{
    Step step = query_step(query, error);
    if (step != STEP_ROW)
        return step;
    *node = (ArchiveNode){.id = query_integer(query, 0),
                          .list = query_integer(query, 1),
                          .message = query_integer(query, 2),
                          .claim = query_integer(query, 3),
                          .thread = query_integer(query, 4),
                          .cut = query_integer(query, 5) != 0};
    g_strlcpy(node->hash, query_text(query, 6), sizeof node->hash);
    g_strlcpy(node->claimer, query_is_null(query, 7) ? "" : query_text(query, 7), sizeof node->claimer);
    return step;
}

/* *there is false when the list has no such node. */
static bool node_find(ArchiveThreading *self, const char *hash, ArchiveNode *node, bool *there, GError **error)
{
    g_autoptr(Query)
        query = query_open(self->store, error, "SELECT " NODE_COLUMNS " FROM node WHERE list = $1 AND hash = $2",
                           INTEGER(self->list), TEXT(hash));
    Step step = node_read(query, node, error);
    *there = step == STEP_ROW;
    return step != STEP_FAILED;
}

static bool node_load(ArchiveThreading *self, int64_t id, ArchiveNode *node, GError **error)
{
    g_autoptr(Query)
        query = query_open(self->store, error, "SELECT " NODE_COLUMNS " FROM node WHERE id = $1", INTEGER(id));
    Step step = node_read(query, node, error);
    return step == STEP_ROW || (step == STEP_DONE && fail(error, FAIL_CONFIG, "a node of the index is missing"));
}

static bool thread_new(ArchiveThreading *self, int64_t root, int64_t *thread, GError **error)
{
    return query_number(self->store, error, thread,
                        "INSERT INTO thread (list, root, nodes) VALUES ($1, $2, 0) RETURNING id", INTEGER(self->list),
                        INTEGER(root));
}

static bool thread_count(ArchiveThreading *self, int64_t thread, int64_t nodes, int64_t posts, GError **error)
{
    touch(self, thread);
    return query_run(self->store, error, NULL, "UPDATE thread SET nodes = nodes + $2, posts = posts + $3 WHERE id = $1",
                     INTEGER(thread), INTEGER(nodes), INTEGER(posts));
}

static bool set_root(ArchiveThreading *self, int64_t thread, int64_t root, GError **error)
{
    touch(self, thread);
    return query_run(self->store, error, NULL, "UPDATE thread SET root = $2 WHERE id = $1", INTEGER(thread),
                     INTEGER(root));
}

/* A node that nobody has named before, below the parent (NULL: at the top). */
static bool node_new(ArchiveThreading *self, const char *hash, const ArchiveNode *parent, const char *claimer,
                     ArchiveNode *node, GError **error)
{
    *node = (ArchiveNode){.list = self->list, .claim = parent ? parent->id : 0};
    g_strlcpy(node->hash, hash, sizeof node->hash);
    if (!query_number(self->store, error, &node->id,
                      "INSERT INTO node (list, hash, claim, claimer, thread) VALUES ($1, $2, $3, $4, $5) RETURNING id",
                      INTEGER(self->list), TEXT(node->hash), INTEGER_OR_NULL(parent ? parent->id : -1),
                      TEXT(parent ? claimer : NULL), INTEGER(parent ? parent->thread : 0)))
        return false;
    node->thread = parent ? parent->thread : 0;
    if (!parent && (!thread_new(self, node->id, &node->thread, error) ||
                    !query_run(self->store, error, NULL, "UPDATE node SET thread = $2 WHERE id = $1", INTEGER(node->id),
                               INTEGER(node->thread))))
        return false;
    return thread_count(self, node->thread, 1, 0, error);
}

/* ---- moving ---- */

/* Move a node and all below it from one thread to another. */
static bool renumber(ArchiveThreading *self, int64_t top, int64_t from, int64_t to, GError **error)
{
    g_autoptr(GArray) stack = g_array_new(FALSE, FALSE, sizeof(int64_t));
    int64_t nodes = 0, posts = 0;
    g_array_append_val(stack, top);
    while (stack->len > 0) {
        int64_t message = 0, node = g_array_index(stack, int64_t, stack->len - 1);
        g_array_set_size(stack, stack->len - 1);
        if (!query_number(self->store, error, &message, "UPDATE node SET thread = $2 WHERE id = $1 RETURNING message",
                          INTEGER(node), INTEGER(to)) ||
            (message != 0 && !query_run(self->store, error, NULL, "UPDATE message SET thread = $2 WHERE id = $1",
                                        INTEGER(message), INTEGER(to))))
            return false;
        nodes++;
        posts += message != 0;
        g_autoptr(Query) children = query_open(self->store, error, "SELECT id FROM node WHERE claim = $1 AND cut = 0",
                                               INTEGER(node));
        Step step;
        while ((step = query_step(children, error)) == STEP_ROW) {
            int64_t child = query_integer(children, 0);
            g_array_append_val(stack, child);
        }
        if (step == STEP_FAILED)
            return false;
    }
    return thread_count(self, from, -nodes, -posts, error) && thread_count(self, to, nodes, posts, error);
}

typedef struct ThreadSize {
    int64_t root, nodes;
} ThreadSize;

static bool thread_size(ArchiveThreading *self, int64_t thread, ThreadSize *size, GError **error)
{
    g_autoptr(Query)
        query = query_open(self->store, error, "SELECT root, nodes FROM thread WHERE id = $1", INTEGER(thread));
    Step step = query_step(query, error);
    if (step == STEP_ROW)
        *size = (ThreadSize){query_integer(query, 0), query_integer(query, 1)};
    return step == STEP_ROW || (step == STEP_DONE && fail(error, FAIL_CONFIG, "a thread of the index is missing"));
}

/* Make one thread of two; the root of `below` is to hang in `above`. */
static bool join(ArchiveThreading *self, int64_t below, int64_t above, GError **error)
{
    ThreadSize lower, upper;
    if (!thread_size(self, below, &lower, error) || !thread_size(self, above, &upper, error))
        return false;
    return lower.nodes <= upper.nodes
               ? renumber(self, lower.root, below, above, error)
               : renumber(self, upper.root, above, below, error) && set_root(self, below, upper.root, error);
}

/* Is `top` on the way up from node, node itself among it? Claims that are cut are followed to the end of the circle
 * with `around`. */
static bool is_above(ArchiveThreading *self, int64_t top, int64_t node, bool around, bool *above, GError **error)
{
    *above = false;
    for (int64_t at = node, begin = node; at != 0;) {
        ArchiveNode here;
        if (at == top) {
            *above = true;
            return true;
        }
        if (!node_load(self, at, &here, error))
            return false;
        at = here.cut && !around ? 0 : here.claim;
        if (at == begin)
            return true;
    }
    return true;
}

static bool set_claim(ArchiveThreading *self, ArchiveNode *node, int64_t claim, const char *claimer, GError **error)
{
    node->claim = claim;
    return query_run(self->store, error, NULL, "UPDATE node SET claim = $2, claimer = $3 WHERE id = $1",
                     INTEGER(node->id), INTEGER_OR_NULL(claim ? claim : -1), TEXT(claimer));
}

static bool set_cut(ArchiveThreading *self, int64_t node, bool cut, GError **error)
{
    return query_run(self->store, error, NULL, "UPDATE node SET cut = $2 WHERE id = $1", INTEGER(node), INTEGER(cut));
}

/* Open a circle that goes through the node there: it becomes the root of its thread. *root tells whether it is. */
static bool open_circle(ArchiveThreading *self, ArchiveNode *node, bool *root, GError **error)
{
    ThreadSize size;
    ArchiveNode top;
    bool within = false;
    if (!thread_size(self, node->thread, &size, error) || !node_load(self, size.root, &top, error))
        return false;
    *root = top.id == node->id;
    if (!top.cut)
        return true;
    if (!is_above(self, node->id, top.id, true, &within, error))
        return false;
    if (!within)
        return true;
    *root = true;
    node->cut = false;
    return set_cut(self, top.id, false, error) && set_claim(self, node, 0, NULL, error) &&
           set_root(self, node->thread, node->id, error);
}

/* The claim of `bottom`, which is the root, upon `from`, which is below it, makes a circle: it is cut at the node with
 * the least hash. */
static bool cut_circle(ArchiveThreading *self, const ArchiveNode *bottom, int64_t from, GError **error)
{
    ArchiveNode least = *bottom, here;
    for (int64_t at = from; at != bottom->id; at = here.claim) {
        if (!node_load(self, at, &here, error))
            return false;
        if (strcmp(here.hash, least.hash) < 0)
            least = here;
    }
    return set_cut(self, least.id, true, error) && set_root(self, bottom->thread, least.id, error);
}

/* Let a node claim another parent, 0: none. */
static bool relink(ArchiveThreading *self, int64_t id, int64_t claim, const char *claimer, GError **error)
{
    ArchiveNode node, parent = {0};
    bool root, below = false;
    if (!node_load(self, id, &node, error))
        return false;
    if (node.claim == claim)
        return set_claim(self, &node, claim, claimer, error);
    if (!open_circle(self, &node, &root, error) || (claim && !node_load(self, claim, &parent, error)))
        return false;
    bool same = claim && parent.thread == node.thread;
    if (same && !is_above(self, node.id, claim, false, &below, error))
        return false;
    if (!root && (!same || below)) {
        /* The node and all below it become a thread of their own. */
        int64_t from = node.thread;
        if (!thread_new(self, node.id, &node.thread, error) || !renumber(self, node.id, from, node.thread, error))
            return false;
    }
    if (claim && !same && !join(self, node.thread, parent.thread, error))
        return false;
    touch(self, node.thread);
    return set_claim(self, &node, claim, claimer, error) && (!below || cut_circle(self, &node, claim, error));
}

/* ---- replies by their subject ---- */

static int64_t topic_number(const char *topic)
{
    uint8_t digest[20];
    gsize length = sizeof digest;
    uint64_t number = 0;
    g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA1);
    g_checksum_update(sum, (const guchar *)topic, -1);
    g_checksum_get_digest(sum, digest, &length);
    memcpy(&number, digest, sizeof number);
    return (int64_t)GUINT64_FROM_BE(number);
}

/* One message without references. */
typedef struct Topic {
    int64_t number, date, node;
    char hash[ARCHIVE_HASH_SIZE];
} Topic;

static bool before(ArchiveThreading *self, const Topic *topic, bool reply, int64_t *node, GError **error)
{
    *node = 0;
    return query_number(
        self->store, error, node,
        "SELECT node FROM topic WHERE list = $1 AND topic = $2 AND reply = $3 AND (date, hash) < ($4, $5)"
        " AND date >= $6 ORDER BY date DESC, hash DESC LIMIT 1",
        INTEGER(self->list), INTEGER(topic->number), INTEGER(reply), INTEGER(topic->date), TEXT(topic->hash),
        INTEGER(topic->date - TOPIC_WINDOW));
}

/* Find the node that a reply without references claims as its parent; 0: none. */
static bool topic_parent(ArchiveThreading *self, const Topic *topic, int64_t *node, GError **error)
{
    return before(self, topic, false, node, error) && (*node != 0 || before(self, topic, true, node, error));
}

/* Replies that came before what they answer, or before the one between, now claim it. They come in order, so when one
 * does not, no further one does. */
static bool topic_followers(ArchiveThreading *self, const Topic *topic, GError **error)
{
    Topic next = *topic;
    for (;;) {
        int64_t parent;
        {
            g_autoptr(Query)
                query = query_open(self->store, error,
                                   "SELECT node, date, hash FROM topic WHERE list = $1 AND topic = $2 AND reply = 1"
                                   " AND (date, hash) > ($3, $4) AND date <= $5 ORDER BY date, hash LIMIT 1",
                                   INTEGER(self->list), INTEGER(topic->number), INTEGER(next.date), TEXT(next.hash),
                                   INTEGER(topic->date + TOPIC_WINDOW));
            Step step = query_step(query, error);
            if (step != STEP_ROW)
                return step == STEP_DONE;
            next.node = query_integer(query, 0);
            next.date = query_integer(query, 1);
            g_strlcpy(next.hash, query_text(query, 2), sizeof next.hash);
        }
        if (!topic_parent(self, &next, &parent, error))
            return false;
        if (parent != topic->node)
            return true;
        if (!relink(self, next.node, parent, NULL, error))
            return false;
    }
}

/* ---- placing ---- */

/* The references that count, each once, at its last place; borrowed. */
static GPtrArray *references_of(const ArchivePlacing *placing)
{
    GPtrArray *kept = g_ptr_array_new();
    g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);
    size_t count = 0;
    while (placing->references && placing->references[count])
        count++;
    for (size_t left = count; left > 0 && kept->len < ARCHIVE_REFERENCES_MAX; left--) {
        bool last = kept->len == ARCHIVE_REFERENCES_MAX - 1;
        const char *hash = placing->references[last ? 0 : left - 1];
        if (strcmp(hash, placing->hash) != 0 && g_hash_table_add(seen, (gpointer)hash))
            g_ptr_array_insert(kept, 0, (gpointer)hash);
        if (last)
            break;
    }
    return kept;
}

/* The node of one reference, behind `before` (its id 0: the first). */
static bool refer(ArchiveThreading *self, const char *hash, const ArchivePlacing *placing, ArchiveNode *before_it,
                  GError **error)
{
    ArchiveNode node;
    bool there;
    if (!node_find(self, hash, &node, &there, error))
        return false;
    if (!there) {
        if (!node_new(self, hash, before_it->id ? before_it : NULL, placing->hash, &node, error))
            return false;
    } else if (node.message == 0 && before_it->id != 0 && (!*node.claimer || strcmp(placing->hash, node.claimer) < 0)) {
        if (!relink(self, node.id, before_it->id, placing->hash, error) || !node_load(self, node.id, &node, error))
            return false;
    }
    *before_it = node;
    return true;
}

bool archive_thread_place(ArchiveThreading *self, const ArchivePlacing *placing, ArchiveNode *node, GError **error)
{
    g_autoptr(GPtrArray) references = references_of(placing);
    ArchiveNode parent = {0};
    Topic topic = {.date = placing->date};
    bool there, grouped = references->len == 0 && placing->topic && *placing->topic;
    for (guint i = 0; i < references->len; i++)
        if (!refer(self, references->pdata[i], placing, &parent, error))
            return false;
    if (grouped) {
        topic.number = topic_number(placing->topic);
        g_strlcpy(topic.hash, placing->hash, sizeof topic.hash);
        if (placing->reply && (!topic_parent(self, &topic, &parent.id, error) ||
                               (parent.id && !node_load(self, parent.id, &parent, error))))
            return false;
    }

    /* Others may have named the message before it came: then its node is there, below what they claimed. */
    if (!node_find(self, placing->hash, node, &there, error) ||
        (!there && !node_new(self, placing->hash, parent.id ? &parent : NULL, NULL, node, error)) ||
        !query_run(self->store, error, NULL, "UPDATE node SET message = $2 WHERE id = $1", INTEGER(node->id),
                   INTEGER(placing->message)) ||
        !thread_count(self, node->thread, 0, 1, error) || (there && !relink(self, node->id, parent.id, NULL, error)))
        return false;
    topic.node = node->id;
    if (grouped && (!query_run(self->store, error, NULL,
                               "INSERT INTO topic (list, topic, reply, date, hash, node) "
                               "VALUES ($1, $2, $3, $4, $5, $6)",
                               INTEGER(self->list), INTEGER(topic.number), INTEGER(placing->reply), INTEGER(topic.date),
                               TEXT(topic.hash), INTEGER(topic.node)) ||
                    !topic_followers(self, &topic, error)))
        return false;
    return node_load(self, node->id, node, error);
}

bool archive_thread_settle(ArchiveThreading *self, GError **error)
{
    for (guint i = 0; self->touched && i < self->touched->len; i++) {
        int64_t thread = g_array_index(self->touched, int64_t, i);
        if (!query_run(self->store, error, NULL, "DELETE FROM thread WHERE id = $1 AND nodes = 0", INTEGER(thread)) ||
            !query_run(self->store, error, NULL,
                       "UPDATE thread SET"
                       " first = coalesce((SELECT date FROM message WHERE thread = $1 ORDER BY date LIMIT 1), 0),"
                       " last = coalesce((SELECT date FROM message WHERE thread = $1 ORDER BY date DESC LIMIT 1), 0),"
                       " top = coalesce((SELECT message FROM node WHERE id = root),"
                       " (SELECT id FROM message WHERE thread = $1 ORDER BY date, id LIMIT 1)) WHERE id = $1",
                       INTEGER(thread)))
            return false;
    }
    return true;
}
