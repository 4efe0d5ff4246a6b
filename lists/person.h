/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* All that the database holds about one person, to show to that person, as laws ask for it. */
#include <glib.h>
#include <jansson.h>

#include "store/member.h"
#include "store/store.h"

/* Of a user (an id or an address), or of an address that belongs to no user: names, addresses, preferences, memberships
 * with their options, requests, bounces, held posts; and what else there is (store/mention.h): sessions, departures,
 * bans, counts. Passwords and tokens are not shown. FAIL_MISSING: neither is
 * known. json_decref() */
json_t *person_export(Store *store, const char *who, GError **error);

/* Preferences as an object that has only what is set. json_decref() */
json_t *preferences_json(const Preferences *preferences);
