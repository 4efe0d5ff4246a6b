/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/fail.h"
#include "base/mailbox.h"
#include "store/email.h"
#include "store/member.h"
#include "store/member_internal.h"
#include "store/store_internal.h"

#define SLICE 10000 /* members a transaction: others that want to write wait less than a second */

/* Rows are appended as they come, then indexed, which sorts them outside of
 * memory. */
#define STAGE \
    "DROP TABLE IF EXISTS import_line; " \
    "CREATE TEMPORARY TABLE import_line (number @integer@ NOT NULL PRIMARY KEY, folded @text@ NOT NULL, " \
    "email @text@ NOT NULL, display_name @text@, acknowledge_posts @integer@, hide_address @integer@, " \
    "receive_list_copy @integer@, receive_own_postings @integer@, delivery_mode @integer@, " \
    "delivery_status @integer@, preferred_language @text@) @table@"

struct MemberImport {
    Store *store;
    char *list_id;
    Role role;
    bool open; /* our transaction, which touches only the stage */
    GString *folded; /* with number: the last line that was read back */
    int64_t number;
};

typedef struct ImportLine {
    int64_t number;
    char *email, *display_name;
    Preferences own;
    GError *refusal;
} ImportLine;

static void line_free(gpointer data)
{
    ImportLine *line = data;
    g_free(line->email);
    g_free(line->display_name);
    g_clear_error(&line->refusal);
    g_free(line);
}

MemberImport *member_import_open(Store *store, const char *list_id, Role role, GError **error)
{
    int64_t key;
    if (!list_key(store, list_id, &key, error) || !store_script(store, STAGE, error))
        return NULL;
    bool own = !store_is_transaction_open(store);
    if (own && !store_script(store, "BEGIN", error))
        return NULL;
    MemberImport *import = g_new(MemberImport, 1);
    *import = (MemberImport){store, g_strdup(list_id), role, own, g_string_new(NULL), 0};
    return import;
}

void member_import_free(MemberImport *import)
{
    if (!import)
        return;
    if (import->open)
        store_script(import->store, "ROLLBACK", NULL);
    store_script(import->store, "DROP TABLE IF EXISTS import_line", NULL);
    g_string_free(import->folded, TRUE);
    g_free(import->list_id);
    g_free(import);
}

bool member_import_add(MemberImport *import, int64_t number, const char *address, const char *display_name,
                       const Preferences *own, GError **error)
{
    g_autofree char *folded = email_folded_checked(address, error), *bare = mailbox_bare(address);
    if (!own)
        own = &preferences_unset;
    return folded &&
           query_run(import->store, error, NULL,
                     "INSERT INTO import_line (number, folded, email, display_name, " PREFERENCE_COLUMNS
                     ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
                     INTEGER(number), TEXT(folded), TEXT(bare), TEXT(display_name), PREFERENCE_VALUES(own));
}

/* The lines after (folded, number) of the import, which then say where the slice ended. */
static GPtrArray *read_slice(MemberImport *import, GError **error)
{
    g_autoptr(GPtrArray) slice = g_ptr_array_new_with_free_func(line_free);
    g_autoptr(Query) query =
        query_open(import->store, error,
                   "SELECT number, folded, email, display_name, " PREFERENCE_COLUMNS " FROM import_line "
                   "WHERE (folded, number) > ($1, $2) ORDER BY folded, number LIMIT $3",
                   TEXT(import->folded->str), INTEGER(import->number), INTEGER(SLICE));
    Step step = STEP_FAILED;
    while (query && (step = query_step(query, error)) == STEP_ROW) {
        ImportLine *line = g_new0(ImportLine, 1);
        g_ptr_array_add(slice, line);
        line->number = import->number = query_integer(query, 0);
        g_string_assign(import->folded, query_text(query, 1));
        line->email = g_strdup(query_text(query, 2));
        line->display_name = g_strdup(query_text(query, 3));
        line->own = query_preferences(query, 4);
    }
    return step == STEP_DONE ? g_steal_pointer(&slice) : NULL;
}

static bool add_slice(MemberImport *import, GPtrArray *slice, GError **error)
{
    for (unsigned i = 0; i < slice->len; i++) {
        ImportLine *line = slice->pdata[i];
        if (!member_add(import->store, import->list_id, import->role, line->email, line->display_name, &line->own,
                        &line->refusal) &&
            !g_error_matches(line->refusal, FAIL, FAIL_EXISTS))
            return fail_with(error, &line->refusal);
    }
    return true;
}

static bool store_slice(MemberImport *import, GPtrArray *slice, GError **error)
{
    Write write;
    return write_begin(import->store, &write, WRITE_SITE, error) &&
           write_end(import->store, &write, add_slice(import, slice, error), error);
}

bool member_import_sort(MemberImport *import, GError **error)
{
    if (import->open && !store_script(import->store, "COMMIT", error))
        return false;
    import->open = false;
    return store_script(import->store, "CREATE INDEX import_order ON import_line (folded, number)", error);
}

bool member_import_some(MemberImport *import, MemberImported *each, void *data, bool *more, GError **error)
{
    g_autoptr(GPtrArray) slice = read_slice(import, error);
    if (!slice || !store_slice(import, slice, error))
        return false;
    *more = slice->len == SLICE;
    for (unsigned i = 0; i < slice->len; i++) {
        const ImportLine *line = slice->pdata[i];
        each(line->number, line->email, line->refusal, data);
    }
    return true;
}
