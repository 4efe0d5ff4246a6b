/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Declare how a search that somebody typed is kept once it was read. archive_query.c, which reads it, and
 * archive_search.c, which carries it out, share this. For this folder only. */
#include "store/archive/archive_search.h"

typedef enum QueryField { QUERY_ANY, QUERY_SUBJECT, QUERY_FROM } QueryField;

/* One condition of a search: these words stand one behind the other in the field; with negated: they do not. */
typedef struct QueryTerm {
    QueryField field;
    bool negated;
    GPtrArray *words; /* of char *, at least one; as word_reader_next() gives them (store/archive/archive_words.h) */
} QueryTerm;

struct ArchiveQuery {
    GPtrArray *terms;      /* of QueryTerm; a message must meet all */
    int64_t after;         /* seconds since 1970: the first that may be a message's date; 0: no bound */
    int64_t before;        /* seconds since 1970: the first that may not be; 0: no bound */
};
