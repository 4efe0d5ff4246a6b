/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Keep header matches: rows that decide about posts by their header fields. A row names a field, a pattern
 * (base/pattern.h) for its text, and the action on a post that has such a field. For a post the rows of the site
 * (list_id NULL) are tried in order, and then those of its list; the first that fits decides.
 *
 * Positions count from 0 without gaps, for each list and for the site. Adding, moving or removing a row moves the rows
 * behind it. With list_id NULL the functions below are about the rows of the site alone.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store_type.h"

typedef struct HeaderMatch {
    char *list_id;    /* NULL: for all lists */
    int64_t position; /* to header_match_add(): -1 for the end */
    char *header;     /* name of the field, in lower case */
    char *pattern;
    char *target; /* "hold", "reject", "discard", "accept"; "defer": no further row is tried, and the other rules
                     decide; NULL: as the site says */
    char *tag;    /* for people and programs that find their rows again by it; NULL: none */
} HeaderMatch;

void header_match_free(HeaderMatch *match);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(HeaderMatch, header_match_free)

/* Put the row in at match->position (behind the last row where that is too great), and set it to where the row came to
 * stand. header and target become lower case in *match, too. FAIL_NEVER: header is no name of a field, the pattern
 * cannot be used, target is none of the words, or there are LIST_PATTERNS_MAX rows already; FAIL_EXISTS: there is a row
 * with that field and pattern already; FAIL_MISSING: no such list. */
bool header_match_add(Store *store, HeaderMatch *match, GError **error);
/* Put match in the place of the row at position, and move it to match->position unless that is -1. Errors are those of
 * header_match_add(); FAIL_MISSING also: there is no row at that position. */
bool header_match_change(Store *store, int64_t position, HeaderMatch *match, GError **error);
/* Remove a row. FAIL_MISSING: there is no row at that position. */
bool header_match_remove(Store *store, const char *list_id, int64_t position, GError **error);
/* Remove all rows that have the tag, or with tag NULL all rows; *removed (may be NULL) is how many. */
bool header_match_clear(Store *store, const char *list_id, const char *tag, int64_t *removed, GError **error);

/* Return the row at this position; header_match_free(). FAIL_MISSING: there is none. */
HeaderMatch *header_match_find(Store *store, const char *list_id, int64_t position, GError **error);
/* Return all rows of the list, or of the site, in order: of HeaderMatch, freed with the array. */
GPtrArray *header_match_all(Store *store, const char *list_id, GError **error);
