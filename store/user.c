/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <string.h>

#include "base/fail.h"
#include "store/email.h"
#include "store/member.h"
#include "store/member_internal.h"
#include "store/store_internal.h"

/* ---- preferences ---- */

/* A row with nothing set would only slow the recipient query. */
static bool replace_preferences(Store *store, const char *const sql[2], int64_t key, const Preferences *preferences,
                                GError **error)
{
    return query_run(store, error, NULL, sql[0], INTEGER(key)) &&
           (memcmp(preferences, &preferences_unset, sizeof *preferences) == 0 ||
            query_run(store, error, NULL, sql[1], INTEGER(key), PREFERENCE_VALUES(preferences)));
}

static bool set_preferences(Store *store, const char *email, bool of_person, const Preferences *preferences,
                            GError **error)
{
    static const char *const person_sql[2] = {
        "DELETE FROM person_preference WHERE person = $1",
        "INSERT INTO person_preference (person, " PREFERENCE_COLUMNS ") VALUES ($1, $2, $3, $4, $5, $6, $7)",
    };
    static const char *const address_sql[2] = {
        "DELETE FROM address_preference WHERE address = $1",
        "INSERT INTO address_preference (address, " PREFERENCE_COLUMNS ") VALUES ($1, $2, $3, $4, $5, $6, $7)",
    };
    g_auto(Email) address = {0};
    return email_find(store, email, &address, error) &&
           replace_preferences(store, of_person ? person_sql : address_sql, of_person ? address.person : address.key,
                               preferences, error);
}

bool address_set_preferences(Store *store, const char *address, const Preferences *preferences, GError **error)
{
    Write write;
    return write_begin(store, &write, error) &&
           write_end(store, &write, set_preferences(store, address, false, preferences, error), error);
}

bool user_set_preferences(Store *store, const char *address, const Preferences *preferences, GError **error)
{
    Write write;
    return write_begin(store, &write, error) &&
           write_end(store, &write, set_preferences(store, address, true, preferences, error), error);
}

/* ---- whose address it is ---- */

bool address_verified(Store *store, const char *address, int64_t *verified_at, GError **error)
{
    *verified_at = 0;
    g_autofree char *folded = email_folded_checked(address, error);
    g_autoptr(Query) query =
        folded ? query_open(store, error, "SELECT verified_at FROM address WHERE folded = $1", TEXT(folded)) : NULL;
    Step step = query ? query_step(query, error) : STEP_FAILED;
    if (step == STEP_ROW)
        *verified_at = query_integer(query, 0);
    return step != STEP_FAILED;
}

bool address_set_verified(Store *store, const char *address, int64_t verified_at, GError **error)
{
    g_auto(Email) known = {0};
    return email_find(store, address, &known, error) &&
           query_run(store, error, NULL, "UPDATE address SET verified_at = $2 WHERE key = $1", INTEGER(known.key),
                     INTEGER(verified_at));
}

/* ---- the preferred address ---- */

/* Subscriptions by person go where the person goes. */
static bool prefer(Store *store, const Email *address, GError **error)
{
    return query_run(store, error, NULL, "UPDATE address SET preferred = 0 WHERE person = $1 AND preferred = 1",
                     INTEGER(address->person)) &&
           query_run(store, error, NULL, "UPDATE address SET preferred = 1 WHERE key = $1", INTEGER(address->key)) &&
           query_run(store, error, NULL,
                     "UPDATE member SET folded = $2, email = $3, address = $4 WHERE person = $1 AND by_person = 1",
                     INTEGER(address->person), TEXT(address->folded), TEXT(address->email), INTEGER(address->key));
}

bool user_preferred(Store *store, Email *address, GError **error)
{
    Step step;
    {
        g_autoptr(Query) query =
            query_open(store, error, "SELECT key, folded, email FROM address WHERE person = $1 AND preferred = 1",
                       INTEGER(address->person));
        step = query ? query_step(query, error) : STEP_FAILED;
        if (step == STEP_ROW) {
            email_clear(address);
            address->key = query_integer(query, 0);
            address->folded = g_strdup(query_text(query, 1));
            address->email = g_strdup(query_text(query, 2));
            address->preferred = true;
        }
    }
    return step == STEP_ROW || (step == STEP_DONE && prefer(store, address, error));
}

static bool set_preferred(Store *store, const char *email, GError **error)
{
    g_auto(Email) address = {0};
    return email_find(store, email, &address, error) && (address.preferred || prefer(store, &address, error));
}

bool user_set_preferred(Store *store, const char *address, GError **error)
{
    Write write;
    return write_begin(store, &write, error) && write_end(store, &write, set_preferred(store, address, error), error);
}

/* ---- addresses of a user ---- */

/* What the former person subscribed by this, its preferred address, stays with the address. */
static bool settle_subscriptions(Store *store, const Email *address, GError **error)
{
    return query_run(store, error, NULL,
                     "DELETE FROM member WHERE person = $1 AND by_person = 1 AND EXISTS (SELECT 1 FROM member o WHERE "
                     "o.list = member.list AND o.role = member.role AND o.folded = member.folded AND o.by_person = 0)",
                     INTEGER(address->person)) &&
           query_run(store, error, NULL, "UPDATE member SET by_person = 0 WHERE person = $1 AND by_person = 1",
                     INTEGER(address->person));
}

static bool move_address(Store *store, const Email *address, int64_t to, GError **error)
{
    return (!address->preferred || settle_subscriptions(store, address, error)) &&
           query_run(store, error, NULL, "UPDATE address SET person = $2, preferred = 0 WHERE key = $1",
                     INTEGER(address->key), INTEGER(to)) &&
           query_run(store, error, NULL, "UPDATE member SET person = $3 WHERE person = $1 AND address = $2",
                     INTEGER(address->person), INTEGER(address->key), INTEGER(to)) &&
           query_run(store, error, NULL,
                     "DELETE FROM person WHERE key = $1 AND NOT EXISTS (SELECT 1 FROM address WHERE person = $1)",
                     INTEGER(address->person));
}

static bool link_address(Store *store, const char *user_email, const char *email, GError **error)
{
    g_auto(Email) user = {0}, address = {0};
    return email_find(store, user_email, &user, error) && email_ensure(store, email, NULL, &address, error) &&
           (address.person == user.person || move_address(store, &address, user.person, error));
}

bool user_link_address(Store *store, const char *user_address, const char *address, GError **error)
{
    Write write;
    return write_begin(store, &write, error) &&
           write_end(store, &write, link_address(store, user_address, address, error), error);
}
