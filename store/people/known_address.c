/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "store/people/account.h"
#include "store/people/email.h"
#include "store/posts/held.h"
#include "store/people/member_internal.h"
#include "store/posts/scheduled.h"
#include "store/people/span.h"
#include "store/row.h"
#include "store/store_internal.h"
#include "store/people/user.h"

void known_address_free(KnownAddress *address)
{
    if (!address)
        return;
    g_free(address->email);
    g_free(address->original);
    g_free(address->display_name);
    g_free(address);
}

/* ---- reading ---- */

#define ADDRESS_COLUMNS \
    "SELECT d.folded, d.email, COALESCE(d.display_name, ''), d.registered_at, d.verified_at, d.person, u.stands_in, " \
    "d.preferred, a.acknowledge_posts, a.hide_address, a.receive_list_copy, a.receive_own_postings, " \
    "a.delivery_mode, a.delivery_status, a.preferred_language FROM address d JOIN person u ON u.key = d.person " \
    "LEFT JOIN address_preference a ON a.address = d.key "

/* "example.com jo" gives "jo@example.com". */
static char *unfolded(const char *folded)
{
    const char *blank = strchr(folded, ' ');
    return blank ? g_strdup_printf("%s@%.*s", blank + 1, (int)(blank - folded), folded) : g_strdup(folded);
}

static void *read_row(Query *query)
{
    KnownAddress *address = g_new0(KnownAddress, 1);
    address->email = unfolded(query_text(query, 0));
    address->original = g_strdup(query_text(query, 1));
    address->display_name = g_strdup(query_text(query, 2));
    address->registered_at = query_integer(query, 3);
    address->verified_at = query_integer(query, 4);
    if (query_integer(query, 6) == 0)
        store_key_id(query_integer(query, 5), address->user_id);
    address->preferred = query_integer(query, 7) != 0;
    address->preferences = query_preferences(query, 8);
    return address;
}

bool address_look_up(Store *store, const Mailbox *address, KnownAddress **known, GError **error)
{
    g_autoptr(Query) query = query_open(store, error, ADDRESS_COLUMNS "WHERE d.folded = $1", TEXT(address->folded));
    Step step = query_step(query, error);
    *known = step == STEP_ROW ? read_row(query) : NULL;
    return step != STEP_FAILED;
}

Mailbox *address_stored(Store *store, const Mailbox *address, GError **error)
{
    KnownAddress *found;
    if (!address_look_up(store, address, &found, error))
        return NULL;
    g_autoptr(KnownAddress) known = found;
    return mailbox_new(known ? known->original : address->text);
}

KnownAddress *address_find(Store *store, const Mailbox *address, GError **error)
{
    KnownAddress *known;
    if (address_look_up(store, address, &known, error) && !known) {
        g_autofree char *shown = g_utf8_make_valid(address->text, -1);
        fail(error, FAIL_MISSING, "the address %s is not known", shown);
    }
    return known;
}

GPtrArray *address_page(Store *store, const char *who, const char *after, int64_t skip, unsigned limit,
                        GError **error)
{
    int64_t person = 0;
    if (who && !user_key(store, who, &person, error))
        return NULL;
    g_autoptr(Mailbox) behind = mailbox_new(after ? after : "");
    g_autofree char *begins = NULL;
    int64_t passed = 0;
    if (!after && !who && !span_seek(store, SPAN_ADDRESSES, skip, &begins, &passed, error))
        return NULL;
    g_autoptr(Query) query =
        who ? query_open(store, error, ADDRESS_COLUMNS "WHERE d.person = $1 ORDER BY d.key LIMIT $2 OFFSET $3",
                         INTEGER(person), INTEGER(limit), INTEGER(skip))
            : query_open(store, error,
                         ADDRESS_COLUMNS "WHERE d.folded >= $1 AND d.folded > $4 ORDER BY d.folded LIMIT $2 OFFSET $3",
                         TEXT(after ? behind->folded : begins), INTEGER(limit), INTEGER(passed), TEXT(behind->folded));
    return row_collect(query, read_row, (GDestroyNotify)known_address_free, error);
}

bool address_count(Store *store, int64_t *count, GError **error)
{
    return span_total(store, SPAN_ADDRESSES, count, error);
}

bool address_language(Store *store, const char *list_id, const Mailbox *address, char **language, GError **error)
{
    *language = NULL;
    g_autoptr(Query) query = query_open(
        store, error,
        "SELECT COALESCE((SELECT m.preferred_language FROM member m JOIN list l ON l.key = m.list "
        "WHERE l.list_id = $2 AND m.role = 0 AND m.folded = d.folded AND m.preferred_language IS NOT NULL LIMIT 1), "
        "a.preferred_language, p.preferred_language, (SELECT preferred_language FROM site_preference)) FROM address d "
        "LEFT JOIN address_preference a ON a.address = d.key LEFT JOIN person_preference p ON p.person = d.person "
        "WHERE d.folded = $1",
        TEXT(address->folded), TEXT(list_id ? list_id : ""));
    Step step = query_step(query, error);
    if (step == STEP_ROW)
        *language = g_strdup(query_text(query, 0));
    return step != STEP_FAILED;
}

/* ---- changing ---- */

bool address_add(Store *store, const Mailbox *address, const char *display_name, GError **error)
{
    g_auto(Email) known = {0};
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    if (!write.begun || !email_ensure(store, address, display_name, &known, error))
        return false;
    if (!known.made)
        return fail(error, FAIL_EXISTS, "the address %s is known already", known.email);
    return query_run(store, error, NULL, "UPDATE person SET stands_in = 1 WHERE key = $1", INTEGER(known.person)) &&
           span_count_user(store, known.person, -1, error) && write_end(&write, error);
}

bool address_set_name(Store *store, const Mailbox *address, const char *display_name, GError **error)
{
    g_auto(Email) known = {0};
    g_autofree char *name = email_clean_name(display_name);
    return email_find(store, address, &known, error) &&
           query_run(store, error, NULL, "UPDATE address SET display_name = $2 WHERE key = $1", INTEGER(known.key),
                     TEXT(name));
}

bool address_set_verified(Store *store, const Mailbox *address, int64_t verified_at, GError **error)
{
    g_auto(Email) known = {0};
    return email_find(store, address, &known, error) &&
           query_run(store, error, NULL, "UPDATE address SET verified_at = $2 WHERE key = $1", INTEGER(known.key),
                     INTEGER(verified_at));
}

bool address_note_verified(Store *store, const Mailbox *address, int64_t at, GError **error)
{
    return query_run(store, error, NULL, "UPDATE address SET verified_at = $2 WHERE folded = $1 AND verified_at = 0",
                     TEXT(address->folded), INTEGER(at));
}

bool address_set_preferences(Store *store, const Mailbox *address, const Preferences *preferences, GError **error)
{
    g_auto(Email) known = {0};
    return STORE_WRITE(
        store, error,
        email_find(store, address, &known, error) && digest_leaving_begin(store, NULL, address, error) &&
            query_run(store, error, NULL, "DELETE FROM address_preference WHERE address = $1", INTEGER(known.key)) &&
            (preferences_are_unset(preferences) ||
             query_run(store, error, NULL,
                       "INSERT INTO address_preference (address, " PREFERENCE_COLUMNS
                       ") VALUES ($1, $2, $3, $4, $5, $6, $7, $8)",
                       INTEGER(known.key), PREFERENCE_VALUES(preferences))) &&
            digest_leaving_end(store, address, error));
}

/* ---- whose it is ---- */

/* Its memberships go with it. What its former person subscribed by it as the preferred one stays with the address. */
static bool move_address(Store *store, const Email *known, int64_t to, GError **error)
{
    return (!known->preferred || user_settle_subscriptions(store, known->person, error)) &&
           query_run(store, error, NULL, "UPDATE address SET person = $2, preferred = 0 WHERE key = $1",
                     INTEGER(known->key), INTEGER(to)) &&
           query_run(store, error, NULL, "UPDATE member SET person = $3 WHERE person = $1 AND address = $2",
                     INTEGER(known->person), INTEGER(known->key), INTEGER(to));
}

bool user_link_address(Store *store, const char *who, const Mailbox *address, GError **error)
{
    int64_t person;
    g_auto(Email) known = {0};
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    if (!write.begun || !user_key(store, who, &person, error) || !email_ensure(store, address, NULL, &known, error))
        return false;
    if (known.person != person &&
        (!move_address(store, &known, person, error) ||
         !user_drop(store,
                    query_open(store, error,
                               "DELETE FROM person WHERE key = $1 AND NOT EXISTS "
                               "(SELECT 1 FROM address WHERE person = $1) RETURNING key, stands_in",
                               INTEGER(known.person)),
                    error)))
        return false;
    return write_end(&write, error);
}

bool address_unlink(Store *store, const Mailbox *address, GError **error)
{
    int64_t person, alone;
    g_auto(Email) known = {0};
    return STORE_WRITE(store, error,
                       user_key(store, address->text, &person, error) && email_find(store, address, &known, error) &&
                           (alone = store_key_new(store, error)) != 0 &&
                           query_run(store, error, NULL,
                                     "INSERT INTO person (key, created_at, stands_in) VALUES ($1, $2, 1)",
                                     INTEGER(alone), INTEGER(clock_now())) &&
                           move_address(store, &known, alone, error));
}

/* ---- forgetting ---- */

/* All that names the address: the statements have its folded form as $1, or itself in lower case. */
static bool forget(Store *store, const char *folded, GError **error)
{
    g_autofree char *lower = unfolded(folded), *base = mailbox_base(lower);
    return query_run(store, error, NULL, "DELETE FROM pending WHERE folded = $1", TEXT(folded)) &&
           query_run(store, error, NULL, "DELETE FROM pending WHERE lower(detail) = $1", TEXT(lower)) &&
           query_run(store, error, NULL, "DELETE FROM departure WHERE folded = $1", TEXT(folded)) &&
           query_run(store, error, NULL, "DELETE FROM session WHERE folded = $1", TEXT(folded)) &&
           query_run(store, error, NULL, "DELETE FROM list_log WHERE name = $1", TEXT(lower)) &&
           query_run(store, error, NULL, "DELETE FROM bounce WHERE folded = $1", TEXT(folded)) &&
           account_forget(store, base, error) && /* counts that name a list, too, go within a day */
           held_remove_sender(store, lower, error) && scheduled_remove_sender(store, lower, error);
}

bool address_remove(Store *store, const Mailbox *address, GError **error)
{
    g_auto(Email) known = {0};
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    if (!write.begun || !email_find(store, address, &known, error))
        return false;
    Query *members = query_open(store, error, "SELECT key FROM member WHERE address = $1 AND person = $2",
                                INTEGER(known.key), INTEGER(known.person));
    return member_remove_each(store, members, NULL, error) && forget(store, known.folded, error) &&
           query_run(store, error, NULL, "DELETE FROM address WHERE key = $1", INTEGER(known.key)) &&
           span_count(store, SPAN_ADDRESSES, known.folded, -1, error) &&
           query_run(store, error, NULL, "DELETE FROM person WHERE key = $1 AND stands_in = 1",
                     INTEGER(known.person)) &&
           write_end(&write, error);
}
