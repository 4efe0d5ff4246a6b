/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Gather all that the database holds about one person, to show it to that person, as laws ask for it. */
#include <glib.h>
#include <jansson.h>

#include "store/people/member.h"
#include "store/store.h"

/* Return an object with all about a user, or about an address that belongs to no user; json_decref(). who is a user's
 * id or an address. The object has names, addresses, preferences, memberships with their options, requests, bounces and
 * held posts; besides what store/people/mention.h finds: sessions, departures, bans, counts. Passwords and tokens are
 * left out. FAIL_MISSING: no user and no address is known by `who`. */
json_t *person_export(Store *store, const char *who, GError **error);

/* Return the preferences as an object that has only those which are set; json_decref(). */
json_t *preferences_json(const Preferences *preferences);
