/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* The parts of a search, for the two files of archive_search.h. */
#include "store/archive_search.h"

typedef enum QueryField { QUERY_ANY, QUERY_SUBJECT, QUERY_FROM } QueryField;

/* Words that stand one behind the other. */
typedef struct QueryTerm {
    QueryField field;
    bool negated;
    GPtrArray *words; /* of char *, at least one */
} QueryTerm;

struct ArchiveQuery {
    GPtrArray *terms;      /* of QueryTerm */
    int64_t after, before; /* seconds; 0: not said */
};
