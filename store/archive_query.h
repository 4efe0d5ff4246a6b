/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Declare how a search that somebody typed is kept once it was read: shared by archive_query.c, which reads it, and
 * archive_search.c, which carries it out. For this folder only. */
#include "store/archive_search.h"

typedef enum QueryField { QUERY_ANY, QUERY_SUBJECT, QUERY_FROM } QueryField;

/* One condition of a search: these words stand one behind the other in the field, or with negated they do not. */
typedef struct QueryTerm {
    QueryField field;
    bool negated;
    GPtrArray *words; /* of char *, at least one */
} QueryTerm;

struct ArchiveQuery {
    GPtrArray *terms;      /* of QueryTerm; a message must meet all */
    int64_t after, before; /* dates in seconds: not before after, and before before; 0: no bound */
};
