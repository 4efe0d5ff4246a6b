/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "switchboard/stray.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "switchboard/operate_internal.h"
#include "switchboard/suffix_internal.h"

#define LOOKS 3
#define BETWEEN_LOOKS (50 * 1000) /* microseconds */

static void stray_free(gpointer data)
{
    Stray *stray = data;
    g_free(stray->file);
    g_free(stray->parent);
    g_free(stray);
}

static bool parse_tag(const char *rest, Tag *tag, bool *by_operator)
{
    *by_operator = suffix_parse_tag(&hand_operator, rest, tag);
    return *by_operator || suffix_parse_tag(&hand_runner, rest, tag);
}

bool stray_is_tag(const char *rest, bool *by_operator)
{
    Tag tag;
    return parse_tag(rest, &tag, by_operator);
}

typedef struct StraySearch {
    GPtrArray *children; /* of Stray */
    GHashTable *wanted;  /* keys of their parents */
    GHashTable *known;   /* those of them that were seen */
} StraySearch;

static void note_child(void *data, Queue *queue, const char *file, const EntryName *name, const char *rest)
{
    (void)name;
    StraySearch *search = data;
    Tag tag;
    bool by_operator;
    if (!parse_tag(rest, &tag, &by_operator))
        return;
    Stray *stray = g_new0(Stray, 1);
    *stray = (Stray){queue, g_strdup(file), operate_parent_key(tag.queue, tag.hash)};
    g_ptr_array_add(search->children, stray);
    g_hash_table_add(search->wanted, g_strdup(stray->parent));
}

static void note_parent(void *data, Queue *queue, const char *file, const EntryName *name, const char *rest)
{
    (void)file;
    StraySearch *search = data;
    Tag tag;
    bool by_operator; /* a parent may be .tmp itself, but nothing is its own */
    if (parse_tag(rest, &tag, &by_operator) && memcmp(tag.hash, name->hash, HASH_SIZE) == 0)
        return;
    g_autofree char *key = operate_parent_key(queue_name(queue), name->hash);
    if (g_hash_table_contains(search->wanted, key))
        g_hash_table_add(search->known, g_steal_pointer(&key));
}

static bool visit_all(Spool *spool, QueueVisit *visit, StraySearch *search, GError **error)
{
    g_auto(GStrv) names = spool_queue_names(spool, error);
    return names && spool_visit(spool, names, visit, search, error);
}

GPtrArray *stray_find(Spool *spool, GError **error)
{
    g_autoptr(GPtrArray) children = g_ptr_array_new_with_free_func(stray_free);
    g_autoptr(GHashTable) wanted = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    g_autoptr(GHashTable) known = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    StraySearch search = {children, wanted, known};
    if (!visit_all(spool, note_child, &search, error))
        return NULL;
    for (int look = 0; look < LOOKS && children->len > 0; look++) {
        if (look > 0)
            g_usleep(BETWEEN_LOOKS);
        if (!visit_all(spool, note_parent, &search, error))
            return NULL;
        for (guint i = children->len; i > 0; i--) { /* those whose parent was seen, and those that are gone, are none */
            const Stray *stray = children->pdata[i - 1];
            if (g_hash_table_contains(known, stray->parent) ||
                faccessat(queue_fd(stray->queue), stray->file, F_OK, AT_SYMLINK_NOFOLLOW) != 0)
                g_ptr_array_remove_index(children, i - 1);
        }
    }
    return g_steal_pointer(&children);
}
