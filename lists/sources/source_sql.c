/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Sources in a database: the first column of a query is the address, the second, if there is one, the name. */
#include "lists/sources/source_read.h"

#include "store/moving/foreign.h"
#include "store/place.h"

static bool read_rows(SourceReading *reading, ForeignRows *rows, GError **error)
{
    bool more;
    for (;;) {
        if (!foreign_next(rows, &more, error))
            return false;
        if (!more)
            return true;
        const char *address = foreign_text(rows, 0), *name = foreign_columns(rows) > 1 ? foreign_text(rows, 1) : NULL;
        bool valid = name && *name && g_utf8_validate(name, -1, NULL);
        if (address && !source_reading_add(reading, address, valid ? name : NULL, error))
            return false;
    }
}

bool source_read_sql(SourceReading *reading, GError **error)
{
    const char *place = reading->source->place, *password = reading->password;
    g_autofree char *where = password ? store_place_with_password(place, password) : g_strdup(place);
    g_autoptr(Foreign) foreign = foreign_open(where, error);
    g_autoptr(ForeignRows) rows = foreign ? foreign_query_as_is(foreign, reading->source->query, error) : NULL;
    return rows && read_rows(reading, rows, error);
}
