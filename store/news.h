/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Where lists stand in the news groups that they are linked with (settings linked_newsgroup, gateway_to_mail): the
 * number of the last article that was looked at. It is written in the transaction that leaves the articles' entries, so
 * each article becomes one post.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store_type.h"

#define NEWS_NOWHERE INT64_C(-1) /* the list begins with what comes next */

typedef struct NewsPlace {
    char *list_id, *newsgroup;
    int64_t watermark; /* all articles up to this number are done with; or NEWS_NOWHERE */
    int64_t looked_at; /* when the group was last asked for, 0: never */
    char *fault;       /* why that failed; "": it did not */
} NewsPlace;

void news_place_free(NewsPlace *place);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(NewsPlace, news_place_free)

/* The lists with a news group, whichever way they use it, in order of their names: of NewsPlace, freed with the
 * array. */
GPtrArray *news_places(Store *store, GError **error);

/* Where a list stands in that group. FAIL_MISSING: there is no such list. */
bool news_watermark(Store *store, const char *list_id, const char *newsgroup, int64_t *watermark, GError **error);
bool news_set_watermark(Store *store, const char *list_id, const char *newsgroup, int64_t watermark, GError **error);

/* Write how a look at the group went; fault NULL or "": well. */
bool news_looked(Store *store, const char *list_id, const char *newsgroup, int64_t time, const char *fault,
                 GError **error);
