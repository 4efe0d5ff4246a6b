/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/people/stranger.h"

#include "base/fail.h"
#include "store/people/user_internal.h"
#include "store/people/member_internal.h"
#include "store/people/span.h"
#include "store/row.h"
#include "store/store_internal.h"

#define PORTION 200 /* nonmembers in one transaction */

/* ---- noting ---- */

bool stranger_note(Store *store, const char *list_id, const Mailbox *address, int64_t now, GError **error)
{
    int64_t list;
    const char *folded = address->folded;
    g_autoptr(GError) unknown = NULL, refusal = NULL;
    g_auto(Email) found = {0};
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    if (!write.begun)
        return false;
    bool known = email_find(store, address, &found, &unknown);
    if (!known && !g_error_matches(unknown, FAIL, FAIL_MISSING))
        return fail_with(error, &unknown);

    /* A nonmember that was there before without a mark is somebody's wish, and gets none. */
    if (!member_add(store, list_id, ROLE_NONMEMBER, address, NULL, NULL, &refusal)) {
        if (!g_error_matches(refusal, FAIL, FAIL_EXISTS))
            return fail_with(error, &refusal);
        return list_key(store, list_id, &list, error) &&
               query_run(store, error, NULL,
                         "UPDATE stranger SET seen_at = $4 WHERE member IN (SELECT key FROM member WHERE list = $1 "
                         "AND role = $2 AND folded = $3)",
                         INTEGER(list), INTEGER(ROLE_NONMEMBER), TEXT(folded), INTEGER(now)) &&
               write_end(&write, error);
    }
    return list_key(store, list_id, &list, error) &&
           query_run(store, error, NULL,
                     "INSERT INTO stranger (member, seen_at) SELECT key, $4 FROM member WHERE list = $1 AND role = $2 "
                     "AND folded = $3 AND by_person = 0",
                     INTEGER(list), INTEGER(ROLE_NONMEMBER), TEXT(folded), INTEGER(now)) &&
           (known || query_run(store, error, NULL,
                               "INSERT INTO stranger_address (address) SELECT key FROM address WHERE folded = $1",
                               TEXT(folded))) &&
           write_end(&write, error);
}

/* ---- forgetting ---- */

/* Condition for an address that may be forgotten: it was stored only because a stranger's post was held, it is on no
 * list any more, and nobody has used it since (verified it, set a preference or a name, made its person an owner). Each
 * part of the condition is one such use. A thousand forged senders a day would otherwise stay in the database for
 * good. */
#define ADDRESS_IS_FREE \
    "EXISTS (SELECT 1 FROM stranger_address WHERE address = $1) AND verified_at = 0 AND preferred = 0 " \
    "AND COALESCE(display_name, '') = '' " \
    "AND NOT EXISTS (SELECT 1 FROM address o WHERE o.person = address.person AND o.key <> address.key) " \
    "AND NOT EXISTS (SELECT 1 FROM member WHERE member.address = $1) " \
    "AND NOT EXISTS (SELECT 1 FROM address_preference WHERE address = $1) " \
    "AND NOT EXISTS (SELECT 1 FROM member WHERE member.person = address.person) " \
    "AND NOT EXISTS (SELECT 1 FROM person_preference WHERE person_preference.person = address.person) " \
    "AND NOT EXISTS (SELECT 1 FROM domain_owner WHERE domain_owner.person = address.person) " \
    "AND EXISTS (SELECT 1 FROM person p WHERE p.key = address.person AND password IS NULL AND server_owner = 0 " \
    "AND COALESCE(p.display_name, '') = '')"

static bool forget_address(Store *store, int64_t key, GError **error)
{
    g_autofree char *folded = NULL;
    int64_t person;
    {
        g_autoptr(Query) query = query_open(
            store, error, "DELETE FROM address WHERE key = $1 AND " ADDRESS_IS_FREE " RETURNING folded, person",
            INTEGER(key));
        Step step = query_step(query, error);
        if (step != STEP_ROW)
            return step == STEP_DONE;
        folded = g_strdup(query_text(query, 0));
        person = query_integer(query, 1);
        if (query_step(query, error) != STEP_DONE)
            return false;
    }
    return span_count(store, SPAN_ADDRESSES, folded, -1, error) &&
           user_drop(store, query_open(store, error,
                                       "DELETE FROM person WHERE key = $1 AND NOT EXISTS "
                                       "(SELECT 1 FROM address WHERE person = $1) RETURNING key, stands_in",
                                       INTEGER(person)), error);
}

/* A nonmember for whom somebody has set something stays, and so does one with a held post. */
#define IS_STRANGER \
    "moderation_action IS NULL AND acknowledge_posts IS NULL AND hide_address IS NULL AND receive_list_copy IS NULL " \
    "AND receive_own_postings IS NULL AND delivery_mode IS NULL AND delivery_status IS NULL " \
    "AND preferred_language IS NULL "
#define HAS_HELD_POST \
    "EXISTS (SELECT 1 FROM held WHERE held.list = member.list AND lower(sender) = lower(member.email))"
#define WHO "SELECT key FROM member JOIN stranger ON stranger.member = member.key WHERE seen_at < $1 "

/* Forget a portion of the addresses that were written down for strangers and are on no list, behind the key *after. One
 * that must stay is as any other from then on. */
static bool forget_addresses(Store *store, int64_t *after, bool *more, GError **error)
{
    g_autoptr(Query) query = query_open(store, error,
                                        "SELECT address FROM stranger_address WHERE address > $1 AND NOT EXISTS "
                                        "(SELECT 1 FROM member WHERE member.address = stranger_address.address) "
                                        "ORDER BY address LIMIT $2",
                                        INTEGER(*after), INTEGER(PORTION));
    g_autoptr(GArray) addresses = row_integers(query, error);
    g_clear_pointer(&query, query_free);
    for (unsigned at = 0; addresses && at < addresses->len; at++) {
        *after = g_array_index(addresses, int64_t, at);
        if (!forget_address(store, *after, error) ||
            !query_run(store, error, NULL, "DELETE FROM stranger_address WHERE address = $1", INTEGER(*after)))
            return false;
    }
    *more = addresses && addresses->len == PORTION;
    return addresses != NULL;
}

bool stranger_expire(Store *store, int64_t before, StoreProgress *progress, void *data, int64_t *removed,
                     GError **error)
{
    int64_t portion = PORTION, after = 0;
    *removed = 0;
    /* Strangers that stay are marked first, so that they are not looked at again: for ever, or with held posts until
     * STRANGER_KEPT later. */
    if (!STORE_WRITE_PEOPLE(
            store, error,
            query_run(store, error, NULL, "DELETE FROM stranger WHERE member IN (" WHO "AND NOT (" IS_STRANGER "))",
                      INTEGER(before)) &&
                query_run(store, error, NULL,
                          "UPDATE stranger SET seen_at = $2 WHERE member IN (" WHO "AND " HAS_HELD_POST ")",
                          INTEGER(before), INTEGER(before + STRANGER_KEPT))))
        return false;
    while (portion == PORTION) { /* the conditions again, since somebody may have done something since then */
        if (!STORE_WRITE_PEOPLE(store, error,
                                member_remove_each(store,
                                                   query_open(store, error,
                                                              WHO "AND " IS_STRANGER "AND NOT " HAS_HELD_POST
                                                                  " ORDER BY seen_at, key LIMIT $2",
                                                              INTEGER(before), INTEGER(PORTION)),
                                                   &portion, error)))
            return false;
        *removed += portion;
        progress(data);
    }
    for (bool more = true; more;) {
        if (!STORE_WRITE_PEOPLE(store, error, forget_addresses(store, &after, &more, error)))
            return false;
        progress(data);
    }
    return true;
}

bool stranger_count(Store *store, int64_t *count, GError **error)
{
    return query_number_all(store, error, count, "SELECT count(*) FROM stranger", NULL, 0);
}
