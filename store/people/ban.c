/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/people/ban.h"

#include "base/clock.h"
#include "base/fail.h"
#include "base/mailbox.h"
#include "base/pattern.h"
#include "store/lists/list_setting.h"
#include "store/store_internal.h"

bool ban_add(Store *store, const char *list_id, const char *email, GError **error)
{
    int64_t scope, patterns = 0, key, added = 0;
    g_autoptr(Mailbox) address = *email != '^' ? mailbox_new(email) : NULL;
    const char *folded = address ? address->folded : email;
    if (!(address ? mailbox_check(address, error) : pattern_valid(email, error)))
        return false;
    g_auto(Write) write = write_begin(store, WRITE_SITE, error);
    if (!write.begun || !list_scope(store, list_id, &scope, error) || !(key = store_key_new(store, error)))
        return false;
    /* Each pattern of a list is tried on each address; addresses cost nothing. */
    if (*folded == '^' && scope != 0 &&
        (!query_number(store, error, &patterns,
                       "SELECT count(*) FROM ban WHERE COALESCE(list, 0) = $1 AND folded >= '^' AND folded < '_'",
                       INTEGER(scope)) ||
         (patterns >= LIST_PATTERNS_MAX &&
          !fail(error, FAIL_NEVER, "the list bans %d patterns already, as many as may be", LIST_PATTERNS_MAX))))
        return false;
    return query_run(store, error, &added,
                     "INSERT INTO ban (key, list, folded, email, made_at) VALUES ($1, $2, $3, $4, $5) "
                     "ON CONFLICT (COALESCE(list, 0), folded) DO NOTHING",
                     INTEGER(key), INTEGER_OR_NULL(scope > 0 ? scope : -1), TEXT(folded), TEXT(email),
                     INTEGER(clock_now())) &&
           (added > 0 || fail(error, FAIL_EXISTS, "%s is banned already", email)) && write_end(&write, error);
}

/* The text of a ban that is looked for; unlike a new one it need not be valid. g_free() */
static char *folded_text(const char *email)
{
    return *email == '^' ? g_strdup(email) : mailbox_folded(email);
}

bool ban_find(Store *store, const char *list_id, const char *email, bool *found, GError **error)
{
    int64_t scope;
    g_autofree char *folded = folded_text(email);
    if (!list_scope(store, list_id, &scope, error))
        return false;
    return query_exists(store, error, found, "SELECT 1 FROM ban WHERE COALESCE(list, 0) = $1 AND folded = $2",
                        INTEGER(scope), TEXT(folded));
}

bool ban_remove(Store *store, const char *list_id, const char *email, GError **error)
{
    int64_t scope;
    g_autofree char *folded = folded_text(email);
    return list_scope(store, list_id, &scope, error) &&
           query_change_one(store, error,
                            fail(error, FAIL_MISSING, "there is no ban of %s %s%s", email,
                                 list_id ? "on the list " : "for the whole site", list_id ? list_id : ""),
                            "DELETE FROM ban WHERE COALESCE(list, 0) = $1 AND folded = $2", INTEGER(scope),
                            TEXT(folded));
}

/* "^" sorts before "_", and no domain begins with it. */
static const char check_sql[] = "SELECT email, COALESCE(list, 0) AS scope, 0 AS pattern FROM ban "
                                "WHERE COALESCE(list, 0) IN (0, $1) AND folded = $2 UNION ALL "
                                "SELECT email, COALESCE(list, 0), 1 FROM ban "
                                "WHERE COALESCE(list, 0) IN (0, $1) AND folded >= '^' AND folded < '_' "
                                "ORDER BY scope DESC, pattern, email";

void ban_check_soon(Store *store, const char *list_id, const Mailbox *address)
{
    int64_t scope;
    if (list_key_soon(store, list_id, &scope))
        query_soon(store, check_sql, INTEGER(scope), TEXT(address->folded));
}

bool ban_check(Store *store, const char *list_id, const Mailbox *address, GHashTable *memory, char **by, GError **error)
{
    int64_t scope;
    *by = NULL;
    if (!list_scope(store, list_id, &scope, error))
        return false;
    g_autoptr(Query) query = query_open(store, error, check_sql, INTEGER(scope), TEXT(address->folded));
    Step step;
    while ((step = query_step(query, error)) == STEP_ROW) {
        const char *email = query_text(query, 0);
        if (query_integer(query, 2) == 0 || pattern_matches_address(email, address->text, memory)) {
            *by = g_strdup(email);
            return true;
        }
    }
    return step == STEP_DONE;
}

bool ban_each(Store *store, const char *list_id, BanEach *each, void *data, GError **error)
{
    int64_t scope;
    if (!list_scope(store, list_id, &scope, error))
        return false;
    g_autoptr(Query) query = query_open(store, error,
                                        "SELECT email, made_at FROM ban WHERE COALESCE(list, 0) = $1 ORDER BY email",
                                        INTEGER(scope));
    Step step;
    while ((step = query_step(query, error)) == STEP_ROW) {
        const Ban ban = {.list_id = (char *)list_id, .email = (char *)query_text(query, 0),
                         .made_at = query_integer(query, 1)};
        if (!each(&ban, data))
            return true;
    }
    return step == STEP_DONE;
}

bool ban_count(Store *store, const char *list_id, int64_t *count, GError **error)
{
    int64_t scope;
    if (!list_scope(store, list_id, &scope, error))
        return false;
    return query_number(store, error, count, "SELECT count(*) FROM ban WHERE COALESCE(list, 0) = $1", INTEGER(scope));
}

/* ---- with what else decides ---- */

void standing_clear(AddressStanding *standing)
{
    g_clear_pointer(&standing->banned, g_free);
}

bool standing_read(Store *store, const char *list_id, const Mailbox *address, AddressStanding *standing, GError **error)
{
    int64_t list;
    *standing = (AddressStanding){0};
    if (!list_key(store, list_id, &list, error) || !ban_check(store, list_id, address, NULL, &standing->banned, error))
        return false;
    g_autoptr(Query)
        query = query_open(store, error,
                           "SELECT d.verified_at, u.stands_in, "
                           "(SELECT count(*) FROM member m WHERE m.list = $2 AND m.role = 0 AND m.folded = d.folded) "
                           "FROM address d JOIN person u ON u.key = d.person WHERE d.folded = $1",
                           TEXT(address->folded), INTEGER(list));
    Step step = query_step(query, error);
    if (step == STEP_ROW) {
        standing->verified_at = query_integer(query, 0);
        standing->has_user = query_integer(query, 1) == 0;
        standing->is_member = query_integer(query, 2) > 0;
    }
    return step != STEP_FAILED;
}
