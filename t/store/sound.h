/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Check that the tables about people in a store agree, whatever was done to people. */
#include "store/store_internal.h"
#include "t/store/fixture.h"

/* Assert that columns which the table member repeats of address are equal, and that the spans (store/people/span.h)
 * count the rows there are. A row that breaks this ends the test. */
static inline void assert_sound(Fixture *fixture)
{
    static const char *const faults[] = {
        "SELECT count(*) FROM member m LEFT JOIN address a ON a.key = m.address WHERE a.key IS NULL OR "
        "a.folded <> m.folded OR a.email <> m.email OR a.person <> m.person OR (m.by_person = 1 AND a.preferred = 0)",
        "SELECT count(*) FROM address WHERE person NOT IN (SELECT key FROM person)",
        "SELECT count(*) FROM person WHERE stands_in = 1 AND key NOT IN (SELECT person FROM address)",
        "WITH thing AS (SELECT list, role AS kind, folded AS place FROM member UNION ALL "
        "SELECT 0, 4, folded FROM address UNION ALL "
        "SELECT 0, 5, substr('0000000000000000000', 1, 19 - length(CAST(key AS TEXT))) || CAST(key AS TEXT) "
        "FROM person WHERE stands_in = 0), "
        "bound AS (SELECT list, kind, begins, total, "
        "lead(begins) OVER (PARTITION BY list, kind ORDER BY begins) AS ends FROM span) "
        "SELECT count(*) FROM bound b WHERE total > 1000 OR (total = 0 AND begins <> '') OR "
        "total <> (SELECT count(*) FROM thing t WHERE t.list = b.list AND t.kind = b.kind AND t.place >= b.begins "
        "AND (b.ends IS NULL OR t.place < b.ends))",
        "SELECT (SELECT count(*) FROM list) * 4 + 2 - (SELECT count(*) FROM span WHERE begins = '')",
    };
    for (size_t at = 0; at < G_N_ELEMENTS(faults); at++) {
        g_autoptr(Query) query = query_start(fixture->store, NULL, faults[at], NULL, 0);
        g_assert_cmpint(query_step(query, NULL), ==, STEP_ROW);
        if (query_integer(query, 0) != 0)
            g_error("%s: %d", faults[at], (int)query_integer(query, 0));
    }
}
