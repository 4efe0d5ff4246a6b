/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/row.h"

void row_read_fields(Query *query, int first, const RowField *fields, size_t count, void *row)
{
    for (size_t i = 0; i < count; i++) {
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
        }
    }
}

void row_clear_fields(const RowField *fields, size_t count, void *row)
{
    for (size_t i = 0; i < count; i++)
        if (fields[i].type == ROW_TEXT)
            g_clear_pointer((char **)(void *)((char *)row + fields[i].offset), g_free);
}

GPtrArray *row_collect(Query *query, RowReader *read, GDestroyNotify free_row, GError **error)
{
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(free_row);
    Step step = STEP_FAILED;
    while (query && (step = query_step(query, error)) == STEP_ROW)
        g_ptr_array_add(rows, read(query));
    return step == STEP_DONE ? g_steal_pointer(&rows) : NULL;
}

GPtrArray *row_all_fields(Query *query, const RowField *fields, size_t count, size_t size, GDestroyNotify free_row,
                          GError **error)
{
    g_autoptr(GPtrArray) rows = g_ptr_array_new_with_free_func(free_row);
    Step step = STEP_FAILED;
    while (query && (step = query_step(query, error)) == STEP_ROW) {
        void *row = g_malloc0(size);
        row_read_fields(query, 0, fields, count, row);
        g_ptr_array_add(rows, row);
    }
    return step == STEP_DONE ? g_steal_pointer(&rows) : NULL;
}

GArray *row_integers(Query *query, GError **error)
{
    g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(int64_t));
    Step step = STEP_FAILED;
    while (query && (step = query_step(query, error)) == STEP_ROW) {
        int64_t number = query_integer(query, 0);
        g_array_append_val(numbers, number);
    }
    return step == STEP_DONE ? g_steal_pointer(&numbers) : NULL;
}
