/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/lists/header_match.h"

#include <string.h>

#include "base/fail.h"
#include "base/pattern.h"
#include "store/lists/list_choice.h"
#include "store/lists/list_setting.h"
#include "store/row.h"
#include "store/store_internal.h"

#define NAME_MAX_BYTES 255 /* of a header field, and of a tag */
#define COLUMNS "position, header, pattern, target, tag"

static const RowField match_row[] = {ROW(HeaderMatch, position), ROW(HeaderMatch, header), ROW(HeaderMatch, pattern),
                                     ROW(HeaderMatch, target), ROW(HeaderMatch, tag)};

void header_match_free(HeaderMatch *match)
{
    if (!match)
        return;
    g_free(match->list_id);
    row_clear(match_row, match);
    g_free(match);
}

static bool allowed(const HeaderMatch *match, GError **error)
{
    for (const char *at = match->header; *at; at++)
        if (*at <= ' ' || *at >= 127 || *at == ':')
            return fail(error, FAIL_NEVER, "\"%s\" is no name of a header field: printable ASCII without a colon",
                        match->header);
    size_t length = strlen(match->header), tag = match->tag ? strlen(match->tag) : 0;
    if (length > NAME_MAX_BYTES || tag > NAME_MAX_BYTES)
        return fail(error, FAIL_NEVER, "a name or a tag of %zu bytes is not allowed; allowed: up to %d",
                    MAX(length, tag), NAME_MAX_BYTES);
    if (!*match->header)
        return fail(error, FAIL_NEVER, "the name of the header field is empty");
    Action action;
    if (match->target && (!action_parse(match->target, &action) || action == ACTION_UNSET))
        return fail(error, FAIL_NEVER, "\"%s\" is no action; allowed are hold, reject, discard, accept and defer",
                    match->target);
    return pattern_valid(match->pattern, error);
}

/* Is there another row, not that of key, with this field and pattern? */
static bool is_new(Store *store, int64_t scope, const HeaderMatch *match, int64_t key, GError **error)
{
    g_autoptr(Query) query = query_open(store, error,
                                        "SELECT key FROM header_match WHERE COALESCE(list, 0) = $1 AND header = $2 AND "
                                        "pattern = $3 AND key <> $4",
                                        INTEGER(scope), TEXT(match->header), TEXT(match->pattern), INTEGER(key));
    Step step = query_step(query, error);
    if (step == STEP_ROW)
        return fail(error, FAIL_EXISTS, "there is a header match of %s with the pattern %s already", match->header,
                    match->pattern);
    return step == STEP_DONE;
}

/* Makes room at position, or closes the gap there. */
static bool shift(Store *store, int64_t scope, int64_t position, int by, GError **error)
{
    return query_run(store, error, NULL,
                     "UPDATE header_match SET position = position + $3 WHERE COALESCE(list, 0) = $1 AND position >= $2",
                     INTEGER(scope), INTEGER(position), INTEGER(by));
}

static bool insert(Store *store, int64_t scope, HeaderMatch *match, GError **error)
{
    int64_t count = 0, key = store_key_new(store, error);
    if (key == 0 || !is_new(store, scope, match, 0, error) ||
        !query_number(store, error, &count,
                      "SELECT COALESCE(max(position), -1) + 1 FROM header_match WHERE COALESCE(list, 0) = $1",
                      INTEGER(scope)))
        return false;
    if (count >= LIST_PATTERNS_MAX)
        return fail(error, FAIL_NEVER, "there are %d header matches already, as many as may be", LIST_PATTERNS_MAX);
    if (match->position < 0 || match->position > count)
        match->position = count;
    return shift(store, scope, match->position, 1, error) &&
           query_run(store, error, NULL,
                     "INSERT INTO header_match (key, list, position, header, pattern, target, tag) "
                     "VALUES ($1, $2, $3, $4, $5, $6, $7)",
                     INTEGER(key), INTEGER_OR_NULL(scope > 0 ? scope : -1), INTEGER(match->position),
                     TEXT(match->header), TEXT(match->pattern), TEXT(match->target), TEXT(match->tag));
}

/* Both are kept in lower case: rules compare them as they are. */
static void lower(HeaderMatch *match)
{
    g_autofree char *header = match->header, *target = match->target;
    match->header = g_ascii_strdown(header, -1);
    match->target = target ? g_ascii_strdown(target, -1) : NULL;
}

bool header_match_add(Store *store, HeaderMatch *match, GError **error)
{
    int64_t scope;
    if (!allowed(match, error))
        return false;
    lower(match);
    return STORE_CHANGE(store, error,
                        list_scope(store, match->list_id, &scope, error) && insert(store, scope, match, error));
}

static bool no_row(int64_t position, GError **error)
{
    return fail(error, FAIL_MISSING, "there is no header match at position %" G_GINT64_FORMAT, position);
}

static bool delete_row(Store *store, int64_t scope, int64_t position, GError **error)
{
    return query_change_one(store, error, no_row(position, error),
                            "DELETE FROM header_match WHERE COALESCE(list, 0) = $1 AND position = $2", INTEGER(scope),
                            INTEGER(position)) &&
           shift(store, scope, position + 1, -1, error);
}

bool header_match_change(Store *store, int64_t position, HeaderMatch *match, GError **error)
{
    int64_t scope, key = 0;
    if (!allowed(match, error))
        return false;
    lower(match);
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    if (!write.begun)
        return false;
    store_changed(store);
    if (!list_scope(store, match->list_id, &scope, error) ||
        !query_number(store, error, &key, "SELECT key FROM header_match WHERE COALESCE(list, 0) = $1 AND position = $2",
                      INTEGER(scope), INTEGER(position)))
        return false;
    if (key == 0)
        return no_row(position, error);
    if (!is_new(store, scope, match, key, error))
        return false;
    if (match->position < 0)
        match->position = position;
    return delete_row(store, scope, position, error) && insert(store, scope, match, error) && write_end(&write, error);
}

bool header_match_remove(Store *store, const char *list_id, int64_t position, GError **error)
{
    int64_t scope;
    if (!list_scope(store, list_id, &scope, error))
        return false;
    return STORE_CHANGE(store, error, delete_row(store, scope, position, error));
}

bool header_match_clear(Store *store, const char *list_id, const char *tag, int64_t *removed, GError **error)
{
    int64_t scope;
    if (!list_scope(store, list_id, &scope, error))
        return false;
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    if (!write.begun)
        return false;
    store_changed(store);
    if (!query_run(store, error, removed,
                   "DELETE FROM header_match WHERE COALESCE(list, 0) = $1 AND ($2 IS NULL OR tag = $2)", INTEGER(scope),
                   TEXT(tag)))
        return false;
    if (!tag)
        return write_end(&write, error);

    /* Rows of other tags are left, and close the gaps between them. */
    g_autoptr(Query) query = query_open(
        store, error, "SELECT key FROM header_match WHERE COALESCE(list, 0) = $1 ORDER BY position", INTEGER(scope));
    g_autoptr(GArray) keys = row_integers(query, error);
    g_clear_pointer(&query, query_free);
    if (!keys)
        return false;
    for (unsigned at = 0; at < keys->len; at++)
        if (!query_run(store, error, NULL, "UPDATE header_match SET position = $2 WHERE key = $1",
                       INTEGER(g_array_index(keys, int64_t, at)), INTEGER(at)))
            return false;
    return write_end(&write, error);
}

static HeaderMatch *read_row(Query *query, const char *list_id)
{
    HeaderMatch *match = g_new0(HeaderMatch, 1);
    match->list_id = g_strdup(list_id);
    row_read(query, 0, match_row, match);
    return match;
}

HeaderMatch *header_match_find(Store *store, const char *list_id, int64_t position, GError **error)
{
    int64_t scope;
    if (!list_scope(store, list_id, &scope, error))
        return NULL;
    g_autoptr(Query) query = query_open(store, error,
                                        "SELECT " COLUMNS " FROM header_match WHERE COALESCE(list, 0) = $1 AND "
                                        "position = $2",
                                        INTEGER(scope), INTEGER(position));
    Step step = query_step(query, error);
    if (step == STEP_DONE)
        no_row(position, error);
    return step == STEP_ROW ? read_row(query, list_id) : NULL;
}

GPtrArray *header_match_all(Store *store, const char *list_id, GError **error)
{
    int64_t scope;
    if (!list_scope(store, list_id, &scope, error))
        return NULL;
    g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func((GDestroyNotify)header_match_free);
    g_autoptr(Query) query =
        query_open(store, error,
                   "SELECT " COLUMNS " FROM header_match WHERE COALESCE(list, 0) = $1 ORDER BY position",
                   INTEGER(scope));
    Step step;
    while ((step = query_step(query, error)) == STEP_ROW)
        g_ptr_array_add(all, read_row(query, list_id));
    return step == STEP_DONE ? g_steal_pointer(&all) : NULL;
}
