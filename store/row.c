/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/row.h"

void row_read_fields(Query *query, int first, const RowField *fields, size_t count, void *row)
{
    size_t columns = (size_t)MAX(query_columns(query) - first, 0);
    for (size_t i = 0; i < MIN(count, columns); i++) {
        void *field = (char *)row + fields[i].offset;
        int column = first + (int)i;
        switch (fields[i].type) {
        case ROW_TEXT:
            *(char **)field = g_strdup(query_text(query, column));
            break;
        case ROW_INTEGER:
            *(int64_t *)field = query_integer(query, column);
            break;
        case ROW_CHOICE:
            *(int *)field = query_choice(query, column);
            break;
        case ROW_FLAG:
            *(bool *)field = query_integer(query, column) != 0;
            break;
        case ROW_BLOB:
            *(GBytes **)field = query_blob(query, column);
            break;
        case ROW_MAILBOX:
            *(Mailbox **)field = mailbox_new(query_text(query, column));
            break;
        }
    }
}

void row_clear_fields(const RowField *fields, size_t count, void *row)
{
    for (size_t i = 0; i < count; i++) {
        void *field = (char *)row + fields[i].offset;
        if (fields[i].type == ROW_TEXT)
            g_clear_pointer((char **)field, g_free);
        else if (fields[i].type == ROW_BLOB)
            g_clear_pointer((GBytes **)field, g_bytes_unref);
        else if (fields[i].type == ROW_MAILBOX)
            g_clear_pointer((Mailbox **)field, mailbox_free);
    }
}

void row_free_fields(const RowField *fields, size_t count, void *row)
{
    if (row)
        row_clear_fields(fields, count, row);
    g_free(row);
}

void *row_next_fields(Query *query, const RowField *fields, size_t count, size_t size, Step *step, GError **error)
{
    *step = query_step(query, error);
    if (*step != STEP_ROW)
        return NULL;
    void *row = g_malloc0(size);
    row_read_fields(query, 0, fields, count, row);
    return row;
}

bool row_each_fields(Query *query, const RowKind *kind, RowEach *each, void *data, GError **error)
{
    Step step = STEP_DONE;
    void *row;
    bool more = true;
    while (more && (row = row_next_fields(query, kind->fields, kind->count, kind->size, &step, error))) {
        more = each(row, data);
        kind->free_row(row);
    }
    return !more || step == STEP_DONE;
}

GPtrArray *row_collect(Query *query, RowReader *read, GDestroyNotify free_row, GError **error)
{
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(free_row);
    Step step;
    while ((step = query_step(query, error)) == STEP_ROW)
        g_ptr_array_add(rows, read(query));
    return step == STEP_DONE ? g_steal_pointer(&rows) : NULL;
}

GPtrArray *row_all_fields(Query *query, const RowField *fields, size_t count, size_t size, GDestroyNotify free_row,
                          GError **error)
{
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(free_row);
    Step step;
    void *row;
    while ((row = row_next_fields(query, fields, count, size, &step, error)))
        g_ptr_array_add(rows, row);
    return step == STEP_DONE ? g_steal_pointer(&rows) : NULL;
}

GArray *row_integers(Query *query, GError **error)
{
    g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(int64_t));
    Step step;
    while ((step = query_step(query, error)) == STEP_ROW) {
        int64_t number = query_integer(query, 0);
        g_array_append_val(numbers, number);
    }
    return step == STEP_DONE ? g_steal_pointer(&numbers) : NULL;
}
