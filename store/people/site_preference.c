/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/people/member_internal.h"

bool site_preferences(Store *store, Preferences *preferences, GError **error)
{
    *preferences = preferences_unset;
    g_autoptr(Query) query =
        query_start(store, error, "SELECT " PREFERENCE_COLUMNS " FROM site_preference", NULL, 0);
    Step step = query_step(query, error);
    if (step == STEP_ROW)
        *preferences = query_preferences(query, 0);
    return step != STEP_FAILED;
}

bool site_set_preferences(Store *store, const Preferences *preferences, GError **error)
{
    return STORE_WRITE(store, error,
                       query_run(store, error, NULL, "DELETE FROM site_preference WHERE one = $1", INTEGER(1)) &&
                           (preferences_are_unset(preferences) ||
                            query_run(store, error, NULL,
                                      "INSERT INTO site_preference (one, " PREFERENCE_COLUMNS ") "
                                      "VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
                                      INTEGER(1), PREFERENCE_VALUES(preferences))));
}
