/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Remember up to which article each list has read the news group that it is linked with (settings linked_newsgroup,
 * gateway_to_mail): its watermark, the number of the last article that was looked at. It is written in the transaction
 * that makes queue entries of the articles, so each article becomes one post. Times are microseconds since 1970.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store_type.h"

#define NEWS_NOWHERE INT64_C(-1) /* nothing was read yet: the list begins with the next new article */

typedef struct NewsPlace {
    char *list_id, *newsgroup;
    int64_t watermark; /* all articles up to this number are done with; or NEWS_NOWHERE */
    int64_t looked_at; /* when the group was last asked for, 0: never */
    char *fault;       /* why that failed; "": it did not */
} NewsPlace;

/* Return a NewsPlace for each list that has set linked_newsgroup, also where it only posts there, in order of List-Ids;
 * freed with the array. */
GPtrArray *news_places(Store *store, GError **error);

/* Read the watermark of the list in that group; NEWS_NOWHERE where the list has read nothing there, or has read another
 * group since. FAIL_MISSING: there is no such list. */
bool news_watermark(Store *store, const char *list_id, const char *newsgroup, int64_t *watermark, GError **error);
/* Write the watermark of the list in that group; that in another group is forgotten. FAIL_MISSING: there is no such
 * list. */
bool news_set_watermark(Store *store, const char *list_id, const char *newsgroup, int64_t watermark, GError **error);

/* Write that the group was asked at this time, and why that failed (fault NULL or "": it did not). The watermark stays,
 * but it becomes NEWS_NOWHERE where it was of another group. FAIL_MISSING: there is no such list. */
bool news_looked(Store *store, const char *list_id, const char *newsgroup, int64_t time, const char *fault,
                 GError **error);
