/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <string.h>

#include "base/fail.h"
#include "store/address.h"
#include "store/member.h"
#include "store/member_internal.h"
#include "store/store_internal.h"

static bool no_address(const char *email, GError **error)
{
    return fail(error, FAIL_MISSING, "the address %s is not known", email);
}

/* ---- preferences ---- */

static bool set_address_preferences(Store *store, const char *email, const Preferences *preferences, GError **error)
{
    g_autofree char *key = store_address_key(email);
    int64_t changed = 0;
    return query_run(store, error, &changed,
                     "UPDATE address SET acknowledge_posts = $2, hide_address = $3, receive_list_copy = $4, "
                     "receive_own_postings = $5, delivery_mode = $6, delivery_status = $7 WHERE address = $1",
                     TEXT(key), PREFERENCE_VALUES(preferences)) &&
           (changed > 0 || no_address(email, error));
}

bool address_set_preferences(Store *store, const char *address, const Preferences *preferences, GError **error)
{
    Write write;
    return write_begin(store, &write, error) &&
           write_end(store, &write, set_address_preferences(store, address, preferences, error), error);
}

/* A row with nothing set would only slow the recipient query. */
static bool set_user_preferences(Store *store, const char *email, const Preferences *preferences, GError **error)
{
    g_autofree char *key = store_address_key(email);
    int64_t person;
    if (!address_find(store, email, key, &person, NULL, error) ||
        !query_run(store, error, NULL, "DELETE FROM person_preference WHERE person = $1", INTEGER(person)))
        return false;
    return memcmp(preferences, &preferences_unset, sizeof *preferences) == 0 ||
           query_run(store, error, NULL,
                     "INSERT INTO person_preference (person, " PREFERENCE_COLUMNS ") VALUES ($1, $2, $3, $4, $5, $6, $7)",
                     INTEGER(person), PREFERENCE_VALUES(preferences));
}

bool user_set_preferences(Store *store, const char *address, const Preferences *preferences, GError **error)
{
    Write write;
    return write_begin(store, &write, error) &&
           write_end(store, &write, set_user_preferences(store, address, preferences, error), error);
}

/* ---- the preferred address ---- */

/* NULL in *key without an error: none is preferred. */
static bool find_preferred(Store *store, int64_t person, char **key, GError **error)
{
    g_autoptr(Query) query = query_open(store, error, "SELECT address FROM address WHERE person = $1 AND preferred = 1",
                                        INTEGER(person));
    Step step = query ? query_step(query, error) : STEP_FAILED;
    *key = step == STEP_ROW ? g_strdup(query_text(query, 0)) : NULL;
    return step != STEP_FAILED;
}

/* Subscriptions by person go where the person goes. */
static bool prefer(Store *store, const char *old, const char *new, GError **error)
{
    return (!old || (query_run(store, error, NULL, "UPDATE address SET preferred = 0 WHERE address = $1", TEXT(old)) &&
                     query_run(store, error, NULL, "UPDATE member SET address = $2 WHERE address = $1 AND by_person = 1",
                               TEXT(old), TEXT(new)))) &&
           query_run(store, error, NULL, "UPDATE address SET preferred = 1 WHERE address = $1", TEXT(new));
}

bool user_preferred(Store *store, const char *email, const char *key, char **preferred, GError **error)
{
    int64_t person;
    if (!address_find(store, email, key, &person, NULL, error) || !find_preferred(store, person, preferred, error))
        return false;
    if (*preferred)
        return true;
    *preferred = g_strdup(key);
    return prefer(store, NULL, key, error);
}

static bool set_preferred(Store *store, const char *email, GError **error)
{
    g_autofree char *key = store_address_key(email), *old = NULL;
    int64_t person;
    return address_find(store, email, key, &person, NULL, error) && find_preferred(store, person, &old, error) &&
           prefer(store, old, key, error);
}

bool user_set_preferred(Store *store, const char *address, GError **error)
{
    Write write;
    return write_begin(store, &write, error) && write_end(store, &write, set_preferred(store, address, error), error);
}

/* ---- addresses of a user ---- */

/* What the former person subscribed by this, its preferred address, stays with the address. */
static bool settle_subscriptions(Store *store, const char *key, GError **error)
{
    return query_run(store, error, NULL,
                     "DELETE FROM member WHERE address = $1 AND by_person = 1 AND EXISTS (SELECT 1 FROM member o WHERE "
                     "o.list = member.list AND o.role = member.role AND o.address = member.address AND o.by_person = 0)",
                     TEXT(key)) &&
           query_run(store, error, NULL, "UPDATE member SET by_person = 0 WHERE address = $1 AND by_person = 1", TEXT(key));
}

static bool move_address(Store *store, const char *key, int64_t from, int64_t to, GError **error)
{
    return settle_subscriptions(store, key, error) &&
           query_run(store, error, NULL, "UPDATE address SET person = $2, preferred = 0 WHERE address = $1", TEXT(key),
                     INTEGER(to)) &&
           query_run(store, error, NULL,
                     "DELETE FROM person WHERE key = $1 AND NOT EXISTS (SELECT 1 FROM address WHERE person = $1)",
                     INTEGER(from));
}

static bool link_address(Store *store, const char *user_email, const char *email, GError **error)
{
    g_autofree char *user_key = store_address_key(user_email), *key = store_address_key_checked(email, error);
    int64_t person, former;
    bool named;
    return key && address_find(store, user_email, user_key, &person, NULL, error) &&
           address_ensure(store, key, email, NULL, &named, error) &&
           address_find(store, email, key, &former, NULL, error) &&
           (former == person || move_address(store, key, former, person, error));
}

bool user_link_address(Store *store, const char *user_address, const char *address, GError **error)
{
    Write write;
    return write_begin(store, &write, error) &&
           write_end(store, &write, link_address(store, user_address, address, error), error);
}
