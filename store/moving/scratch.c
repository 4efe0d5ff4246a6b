/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/moving/scratch.h"

#include "store/store_internal.h"

/* The rows of a table that concern a list, whose key is $1; without a condition all. */
typedef struct ScratchTable {
    const char *table, *condition;
} ScratchTable;

#define OF_MEMBERS(column) "IN (SELECT " column " FROM member WHERE list = $1)"

/* Each behind those that it refers to. */
static const ScratchTable tables[] = {
    {"site_preference", NULL},
    {"domain", "WHERE mail_host = (SELECT mail_host FROM list WHERE key = $1)"},
    {"list", "WHERE key = $1"},
    {"list_setting", "WHERE list = $1"},
    {"person", "WHERE key " OF_MEMBERS("person")},
    {"address", "WHERE key " OF_MEMBERS("address")},
    {"person_preference", "WHERE person " OF_MEMBERS("person")},
    {"address_preference", "WHERE address " OF_MEMBERS("address")},
    {"member", "WHERE list = $1"},
    {"ban", "WHERE list = $1 OR list IS NULL"},
    {"header_match", "WHERE list = $1 OR list IS NULL"},
    {"template", "WHERE place = '' OR place IN (SELECT list_id FROM list WHERE key = $1) "
                 "OR place IN (SELECT mail_host FROM list WHERE key = $1)"},
};

static bool fill(Store *from, Store *to, const char *list_id, GError **error)
{
    int64_t rows;
    StoreCopied copied = {.from = from, .to = to};
    if (!list_key(from, list_id, &copied.key, error) || !store_begin(to, error))
        return false;
    bool done = true;
    for (size_t at = 0; done && at < G_N_ELEMENTS(tables); at++)
        done = store_copy_rows(&copied, tables[at].table, tables[at].condition, &rows, error);
    if (done)
        return store_commit(to, error);
    store_rollback(to);
    return false;
}

Store *scratch_new(Store *from, const char *list_id, GError **error)
{
    g_autoptr(Store) store = store_open_by(&store_scratch, "", true, NULL, error);
    /* SQLite is told how the rows lie: there is one list, whose every row would otherwise be read to find a few. */
    bool done = store && fill(from, store, list_id, error) && store_script(store, "ANALYZE", error);
    return done ? g_steal_pointer(&store) : NULL;
}
