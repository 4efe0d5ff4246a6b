/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/row_set.h"

#include <string.h>

struct RowSet {
    Store *store;
    RowSetKind kind;
    GArray *values; /* of Value */
    GPtrArray *texts;
    const char *whole, *one; /* statements of ROW_SET_ROWS rows and of one */
};

/* One text for each kind and number of rows, which stays, since statements are kept under the address of their text. */
static const char *statement(const RowSetKind *kind, unsigned rows)
{
    g_autoptr(GString) sql = g_string_new(kind->head);
    for (unsigned row = 0; row < rows; row++)
        for (unsigned column = 0; column < kind->columns; column++)
            g_string_append_printf(sql, "%s$%u%s",
                                   column > 0 ? ", "
                                   : row > 0  ? ", ("
                                              : " (",
                                   row * kind->columns + column + 1, column + 1 == kind->columns ? ")" : "");
    if (kind->tail)
        g_string_append_printf(sql, " %s", kind->tail);
    return g_intern_string(sql->str);
}

RowSet *row_set_new(Store *store, const RowSetKind *kind)
{
    RowSet *set = g_new(RowSet, 1);
    *set = (RowSet){store,
                    *kind,
                    g_array_new(FALSE, FALSE, sizeof(Value)),
                    g_ptr_array_new_with_free_func(g_free),
                    statement(kind, ROW_SET_ROWS),
                    statement(kind, 1)};
    return set;
}

void row_set_free(RowSet *set)
{
    if (!set)
        return;
    g_array_unref(set->values);
    g_ptr_array_unref(set->texts);
    g_free(set);
}

static bool write_rows(RowSet *set, const char *sql, unsigned first, unsigned rows, GError **error)
{
    const Value *values = &g_array_index(set->values, Value, first * set->kind.columns);
    return query_all(set->store, error, NULL, sql, values, (size_t)rows * set->kind.columns);
}

static bool clear(RowSet *set)
{
    g_array_set_size(set->values, 0);
    g_ptr_array_set_size(set->texts, 0);
    return true;
}

bool row_set_add_all(RowSet *set, const Value *values, GError **error)
{
    for (unsigned column = 0; column < set->kind.columns; column++) {
        Value value = values[column];
        if (value.type != VALUE_INTEGER && !value.null) {
            char *copy = g_malloc(value.length + 1);
            memcpy(copy, value.data, value.length);
            copy[value.length] = '\0';
            value.data = copy;
            g_ptr_array_add(set->texts, copy);
        }
        g_array_append_val(set->values, value);
    }
    return set->values->len < ROW_SET_ROWS * set->kind.columns ||
           (write_rows(set, set->whole, 0, ROW_SET_ROWS, error) && clear(set));
}

/* The statement of a single row serves all numbers of rows, so that few are kept prepared. */
bool row_set_end(RowSet *set, GError **error)
{
    for (unsigned row = 0; row < set->values->len / set->kind.columns; row++)
        if (!write_rows(set, set->one, row, 1, error))
            return false;
    return clear(set);
}
