/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/web/desk_queues.h"

#include "runners/server/orders.h"
#include "runners/web/desk.h"

/* Numbers, of which none is shown for 0. */
static json_t *cells_of(const json_t *row)
{
    size_t at;
    const json_t *number;
    json_t *cells = json_array();
    json_array_foreach(json_object_get(row, "counts"), at, number)
        json_array_append_new(cells, json_integer_value(number) == 0
                                         ? json_pack("{ss}", "n", "")
                                         : json_pack("{sI}", "n", json_integer_value(number)));
    return cells;
}

static json_t *row_view(const json_t *row)
{
    const char *queue = json_string_value(json_object_get(row, "queue"));
    json_t *view = json_pack("{sO so}", "total", json_object_get(row, "total"), "cells", cells_of(row));
    desk_set_line(view, "name", json_string_value(json_object_get(row, "name")));
    if (queue)
        desk_set_line(view, "queue", queue);
    return view;
}

/* A row without a name of its own. */
static json_t *sum_view(const json_t *row)
{
    return json_pack("{sO so sO*}", "total", json_object_get(row, "total"), "cells", cells_of(row), "names",
                     json_object_get(row, "names"));
}

static json_t *heads_of(const json_t *shape)
{
    size_t at;
    const json_t *minutes;
    json_t *heads = json_array();
    json_int_t last = 0;
    json_array_foreach(json_object_get(shape, "minutes"), at, minutes) {
        last = json_integer_value(minutes);
        json_array_append_new(heads, json_pack("{so}", "head", json_sprintf("%" JSON_INTEGER_FORMAT, last)));
    }
    json_array_append_new(heads, json_pack("{so}", "head", json_sprintf("%" JSON_INTEGER_FORMAT "+", last)));
    return heads;
}

static json_t *table_view(const json_t *shape, bool out)
{
    size_t at;
    const json_t *row, *others = json_object_get(shape, "others");
    const json_int_t entries = json_integer_value(json_object_get(shape, "entries"));
    const json_int_t read = json_integer_value(json_object_get(shape, "read"));
    json_t *rows = json_array();
    json_array_foreach(json_object_get(shape, "rows"), at, row)
        json_array_append_new(rows, row_view(row));
    json_t *view = json_pack("{sb sb so so so sb}", "is_out", out, "empty", json_array_size(rows) == 0, "heads",
                             heads_of(shape), "rows", rows, "sum", sum_view(json_object_get(shape, "total")), "damaged",
                             json_array_size(json_object_get(shape, "faults")) > 0);
    if (json_is_object(others))
        json_object_set_new(view, "others", sum_view(others));
    if (read < entries)
        json_object_set_new(view, "sample", json_pack("{sI sI}", "read", read, "entries", entries));
    return view;
}

json_t *desk_queues_view(Spool *spool, GError **error)
{
    const json_t *queues = orders_queues(spool, error);
    return queues ? json_pack("[oo]", table_view(json_object_get(queues, "out"), true),
                              table_view(json_object_get(queues, "others"), false))
                  : NULL;
}
