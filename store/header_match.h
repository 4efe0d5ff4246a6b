/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Header fields that decide about a post. A row names a field and a pattern (base/pattern.h) for its text, and what
 * happens to a post that has such a field. The rows of a list are tried in their order, before them those of the site
 * (list_id NULL); the first that fits decides.
 *
 * Positions count from 0 without gaps. A row that is put in, moved or removed moves those behind it.
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
                     decide; the name of a chain of the site's own; NULL: as the site says */
    char *tag;    /* for people and programs that find their rows again by it; NULL: none */
} HeaderMatch;

void header_match_free(HeaderMatch *match);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(HeaderMatch, header_match_free)

/* Put the row in at its position, which is set to where it came to stand; one behind the end means the end.
 * FAIL_NEVER: no name of a field, a pattern that cannot be used, or no name of a chain; FAIL_EXISTS: the list has that
 * field with that pattern already; FAIL_MISSING: no such list. */
bool header_match_add(Store *store, HeaderMatch *match, GError **error);
/* Put match in the place of the row at position, and move it to match->position unless that is -1. */
bool header_match_change(Store *store, int64_t position, HeaderMatch *match, GError **error);
/* FAIL_MISSING: there is no row at that position. */
bool header_match_remove(Store *store, const char *list_id, int64_t position, GError **error);
/* All that have the tag, or with tag NULL all of them; *removed may be NULL. */
bool header_match_clear(Store *store, const char *list_id, const char *tag, int64_t *removed, GError **error);

HeaderMatch *header_match_find(Store *store, const char *list_id, int64_t position, GError **error);
/* In order, of HeaderMatch, freed with the array. */
GPtrArray *header_match_all(Store *store, const char *list_id, GError **error);
