/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <string.h>

#include "base/fail.h"
#include "base/mailbox.h"
#include "store/people/user_internal.h"
#include "store/people/member.h"
#include "store/people/member_internal.h"
#include "store/row_set.h"
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
    RowSet *lines;   /* to the stage */
    bool open;       /* our transaction, which touches only the stage */
    GString *folded; /* with number: the last line that was read back */
    int64_t number;
};

typedef struct ImportLine {
    int64_t number;
    char *folded, *email, *display_name;
    Preferences own;
    bool member;           /* there is one with this address and role */
    int64_t known, person; /* keys of the address and its person; 0: it is not known */
    char *known_email;     /* the address as it is known; NULL: it is not */
    GError *refusal;
} ImportLine;

static void line_free(gpointer data)
{
    ImportLine *line = data;
    g_free(line->folded);
    g_free(line->email);
    g_free(line->display_name);
    g_free(line->known_email);
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
    static const RowSetKind lines = {"INSERT INTO import_line (number, folded, email, display_name, " PREFERENCE_COLUMNS
                                     ") VALUES",
                                     NULL, 4 + PREFERENCE_COUNT};
    MemberImport *import = g_new(MemberImport, 1);
    *import = (MemberImport){store, g_strdup(list_id), role, row_set_new(store, &lines), own, g_string_new(NULL), 0};
    return import;
}

void member_import_free(MemberImport *import)
{
    if (!import)
        return;
    if (import->open)
        store_script(import->store, "ROLLBACK", NULL);
    store_script(import->store, "DROP TABLE IF EXISTS import_line", NULL);
    row_set_free(import->lines);
    g_string_free(import->folded, TRUE);
    g_free(import->list_id);
    g_free(import);
}

bool member_import_add(MemberImport *import, int64_t number, const char *address, const char *display_name,
                       const Preferences *own, GError **error)
{
    g_autoptr(Mailbox) mailbox = mailbox_new(address);
    g_autofree char *name = email_clean_name(display_name);
    if (!own)
        own = &preferences_unset;
    return email_check_added(import->store, mailbox, error) &&
           row_set_add(import->lines, error, INTEGER(number), TEXT(mailbox->folded), TEXT(mailbox->bare), TEXT(name),
                       PREFERENCE_VALUES(own));
}

/* A subquery for one value is no join, and is answered by an index also before a server has looked how many rows there
 * are. */
#define KNOWN(column) "(SELECT a." column " FROM address a WHERE a.folded = l.folded)"
#define SLICE_LINES                                                                                             \
    "SELECT number, folded, email, display_name, " PREFERENCE_COLUMNS ", (SELECT count(*) FROM member m WHERE " \
    "m.list = $4 AND m.role = $5 AND m.folded = l.folded AND m.by_person = 0), " KNOWN("key") ", " KNOWN(       \
        "person") ", " KNOWN("email") " FROM import_line l "                                                    \
                                      "WHERE (folded, number) > ($1, $2) ORDER BY folded, number LIMIT $3"

/* The lines after (folded, number) of the import, which then say where the slice ended. */
static GPtrArray *read_slice(MemberImport *import, GError **error)
{
    int64_t list;
    g_autoptr(GPtrArray) slice = g_ptr_array_new_with_free_func(line_free);
    if (!list_key(import->store, import->list_id, &list, error))
        return NULL;
    g_autoptr(Query) query = query_open(import->store, error, SLICE_LINES, TEXT(import->folded->str),
                                        INTEGER(import->number), INTEGER(SLICE), INTEGER(list), INTEGER(import->role));
    Step step;
    while ((step = query_step(query, error)) == STEP_ROW) {
        const int known = 5 + PREFERENCE_COUNT; /* column */
        ImportLine *line = g_new0(ImportLine, 1);
        g_ptr_array_add(slice, line);
        *line = (ImportLine){.number = query_integer(query, 0),
                             .folded = g_strdup(query_text(query, 1)),
                             .email = g_strdup(query_text(query, 2)),
                             .display_name = g_strdup(query_text(query, 3)),
                             .own = query_preferences(query, 4),
                             .member = query_integer(query, known - 1) > 0,
                             .known = query_is_null(query, known) ? 0 : query_integer(query, known),
                             .person = query_is_null(query, known) ? 0 : query_integer(query, known + 1),
                             .known_email = g_strdup(query_text(query, known + 2))};
    }
    if (step != STEP_DONE)
        return NULL;
    if (slice->len > 0) {
        const ImportLine *last = slice->pdata[slice->len - 1];
        import->number = last->number;
        g_string_assign(import->folded, last->folded);
    }
    return g_steal_pointer(&slice);
}

/* Add those who are no members yet, the first line of each address. */
static bool add_slice(MemberImport *import, GPtrArray *slice, GError **error)
{
    g_autoptr(GPtrArray) members = g_ptr_array_new_with_free_func(g_free);
    for (unsigned i = 0; i < slice->len; i++) {
        ImportLine *line = slice->pdata[i];
        const ImportLine *before = i > 0 ? slice->pdata[i - 1] : NULL;
        const char *email = line->known_email ? line->known_email : line->email;
        if (line->member || (before && strcmp(before->folded, line->folded) == 0)) {
            fail(&line->refusal, FAIL_EXISTS, "%s is a %s of %s already", email, role_text(import->role),
                 import->list_id);
            continue;
        }
        NewMembership *new = g_new(NewMembership, 1);
        *new = (NewMembership){line->folded, email, line->display_name, line->known, line->person, &line->own, 0};
        g_ptr_array_add(members, new);
    }
    return member_add_all(import->store, import->list_id, import->role, members, error);
}

bool member_import_sort(MemberImport *import, GError **error)
{
    if (!row_set_end(import->lines, error))
        return false;
    if (import->open && !store_script(import->store, "COMMIT", error))
        return false;
    import->open = false;
    return store_script(import->store, "CREATE INDEX import_order ON import_line (folded, number)", error);
}

bool member_import_some(MemberImport *import, MemberImported *each, void *data, bool *more, GError **error)
{
    g_autoptr(GPtrArray) slice = NULL;
    if (!STORE_WRITE(import->store, error,
                     (slice = read_slice(import, error)) != NULL && add_slice(import, slice, error)))
        return false;
    *more = slice->len == SLICE;
    for (unsigned i = 0; i < slice->len; i++) {
        const ImportLine *line = slice->pdata[i];
        each(line->number, line->email, line->refusal, data);
    }
    return true;
}
