/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <string.h>

#include "base/mailbox.h"
#include "store/lists/topic.h"
#include "store/people/member.h"
#include "store/people/member_internal.h"
#include "store/people/span.h"
#include "store/store_internal.h"

struct RecipientCursor {
    Query *query;
    GString *last;      /* key of the row before: an address twice in a row is one recipient */
    GHashTable *copied; /* keys; NULL: none */
    GHashTable *leavers; /* keys of who gets this digest besides; NULL: none */
    char *language, *sender;          /* of a digest; folded, or "": the query borrows both */
    char **topics_known, **topics_of; /* of the list, and of the post; NULL: all get it */
    bool names, digest;
};

/* Every row is looked at once, in the order of member's own key: nothing is
 * sorted, nothing is kept. 0, 0 are MODE_REGULAR and DELIVERY_ENABLED. On a list without digests all get the posts. */
#define NO_DIGESTS \
    "EXISTS (SELECT 1 FROM list_setting s WHERE s.list = $1 AND s.name = 'digests_enabled' AND s.value = 'no')"
#define PERSON_OF_SENDER "COALESCE((SELECT person FROM address WHERE folded = $2), 0)"
#define RECIPIENTS(columns, joins)                                                              \
    "SELECT m.email, m.folded, " EFFECTIVE_RECEIVE_LIST_COPY                                    \
    ", m.topics, m.topics_unmatched" columns MEMBER_JOINS joins                                 \
    "WHERE m.list = $1 AND m.role = 0 AND (" EFFECTIVE_DELIVERY_MODE " = 0 OR " NO_DIGESTS ") " \
    "AND " EFFECTIVE_DELIVERY_STATUS " = 0 "                                                    \
    "AND (m.person <> " PERSON_OF_SENDER " OR " EFFECTIVE_RECEIVE_OWN_POSTINGS " = 1) "         \
    "ORDER BY m.list, m.role, m.folded"
/* All of the language where some who are not in the mode get it too ($4): wanted() knows them. */
#define IN_FORMAT \
    "CASE WHEN " EFFECTIVE_DELIVERY_MODE " = 0 THEN 0 " \
    "WHEN (" EFFECTIVE_DELIVERY_MODE " = 1) = ($3 = 1) THEN 1 ELSE 0 END"
#define DIGEST_RECIPIENTS(columns, joins) \
    "SELECT m.email, m.folded, " IN_FORMAT ", NULL, NULL" columns MEMBER_JOINS joins \
    "WHERE m.list = $1 AND m.role = 0 AND " EFFECTIVE_DELIVERY_STATUS " = 0 " \
    "AND " EFFECTIVE_PREFERRED_LANGUAGE " = $2 AND ($4 = 1 OR " IN_FORMAT " = 1) " \
    "ORDER BY m.list, m.role, m.folded"
#define NAME_COLUMN ", " MEMBER_NAME
#define NAME_JOINS "JOIN address d ON d.key = m.address JOIN person u ON u.key = m.person "

static GHashTable *keys_of(const char *const *addresses)
{
    if (!addresses || !*addresses)
        return NULL;
    GHashTable *keys = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (; *addresses; addresses++)
        if (mailbox_valid(*addresses))
            g_hash_table_add(keys, mailbox_folded(*addresses));
    return keys;
}

static const char plain_sql[] = RECIPIENTS("", ""), named_sql[] = RECIPIENTS(NAME_COLUMN, NAME_JOINS);

static char *folded_sender(const char *sender)
{
    return sender && mailbox_valid(sender) ? mailbox_folded(sender) : g_strdup("");
}

static RecipientCursor *open_cursor(Store *store, const char *list_id, const char *sender, const char *const *copied,
                                    bool names, GError **error)
{
    int64_t key;
    if (!list_key(store, list_id, &key, error))
        return NULL;
    g_autofree char *folded = folded_sender(sender);
    g_autoptr(Query) query = query_stream(store, error, names ? named_sql : plain_sql, INTEGER(key), TEXT(folded));
    if (!query)
        return NULL;
    RecipientCursor *cursor = g_new0(RecipientCursor, 1);
    cursor->query = g_steal_pointer(&query);
    cursor->sender = g_steal_pointer(&folded);
    cursor->last = g_string_new(NULL);
    cursor->copied = keys_of(copied);
    cursor->names = names;
    return cursor;
}

RecipientCursor *recipient_cursor_open(Store *store, const char *list_id, const char *sender, const char *const *copied,
                                       GError **error)
{
    return open_cursor(store, list_id, sender, copied, false, error);
}

RecipientCursor *recipient_cursor_open_named(Store *store, const char *list_id, const char *sender,
                                             const char *const *copied, GError **error)
{
    return open_cursor(store, list_id, sender, copied, true, error);
}

RecipientCursor *recipient_cursor_open_digest(Store *store, const char *list_id, const RecipientDigest *digest,
                                              bool names, GError **error)
{
    int64_t key;
    if (!list_key(store, list_id, &key, error))
        return NULL;
    RecipientCursor *cursor = g_new0(RecipientCursor, 1);
    cursor->last = g_string_new(NULL);
    cursor->leavers = keys_of(digest->last);
    cursor->names = names;
    cursor->digest = true;
    cursor->language = g_strdup(digest->language);
    const char *text = names ? DIGEST_RECIPIENTS(NAME_COLUMN, NAME_JOINS) : DIGEST_RECIPIENTS("", "");
    cursor->query = query_open(store, error, text, INTEGER(key), TEXT(cursor->language), INTEGER(digest->plain),
                               INTEGER(cursor->leavers != NULL));
    if (!cursor->query)
        g_clear_pointer(&cursor, recipient_cursor_free);
    return cursor;
}

void recipient_cursor_choose_topics(RecipientCursor *cursor, const char *const *known, const char *const *of)
{
    cursor->topics_known = g_strdupv((char **)known);
    cursor->topics_of = g_strdupv((char **)of);
}

static bool wanted(RecipientCursor *cursor)
{
    const char *key = query_text(cursor->query, 1);
    if (strcmp(key, cursor->last->str) == 0)
        return false;
    bool said = query_integer(cursor->query, 2) != 0; /* receive_list_copy, or the mode of the digest */
    if (cursor->digest && !said && !(cursor->leavers && g_hash_table_contains(cursor->leavers, key)))
        return false;
    if (cursor->copied && !said && g_hash_table_contains(cursor->copied, key))
        return false;
    if (cursor->topics_known && !query_is_null(cursor->query, 3) &&
        !topic_wanted(query_text(cursor->query, 3), query_integer(cursor->query, 4) > 0,
                      (const char *const *)cursor->topics_known, (const char *const *)cursor->topics_of))
        return false;
    g_string_assign(cursor->last, key);
    return true;
}

const char *recipient_cursor_next(RecipientCursor *cursor, GError **error)
{
    if (!cursor->query)
        return NULL;
    while (query_step(cursor->query, error) == STEP_ROW)
        if (wanted(cursor))
            return query_text(cursor->query, 0);
    g_clear_pointer(&cursor->query, query_free); /* the end: a further step would start again */
    return NULL;
}

const char *recipient_cursor_name(RecipientCursor *cursor)
{
    return cursor->names && cursor->query ? query_text(cursor->query, 5) : "";
}

void recipient_cursor_free(RecipientCursor *cursor)
{
    if (!cursor)
        return;
    query_free(cursor->query);
    g_string_free(cursor->last, TRUE);
    g_clear_pointer(&cursor->copied, g_hash_table_destroy);
    g_clear_pointer(&cursor->leavers, g_hash_table_destroy);
    g_free(cursor->language);
    g_free(cursor->sender);
    g_strfreev(cursor->topics_known);
    g_strfreev(cursor->topics_of);
    g_free(cursor);
}

void recipient_soon(Store *store, const char *list_id, const char *sender)
{
    int64_t list;
    g_autofree char *folded = folded_sender(sender);
    if (!list_key_soon(store, list_id, &list))
        return;
    span_total_soon(store, SPAN_MEMBERS(list, ROLE_MEMBER));
    query_stream_soon(store, plain_sql, INTEGER(list), TEXT(folded));
}

bool recipient_count(Store *store, const char *list_id, int64_t *count, GError **error)
{
    return member_count(store, list_id, ROLE_MEMBER, count, error);
}
