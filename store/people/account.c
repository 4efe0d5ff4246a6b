/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/people/account.h"

#include "base/clock.h"
#include "store/store_internal.h"

#define HOUR (3600 * CLOCK_SECOND)
#define DAY (24 * HOUR)

static const struct {
    const char *text;
    int64_t length; /* of the time in which is counted */
} kinds[ACCOUNT_KINDS] = {
    [ACCOUNT_ANSWERS] = {"answers", DAY},       [ACCOUNT_CONFIRMATIONS] = {"confirmations", DAY},
    [ACCOUNT_FOR_OTHERS] = {"for_others", DAY}, [ACCOUNT_HOST_LETTERS] = {"host_letters", DAY},
    [ACCOUNT_PASSWORDS] = {"passwords", HOUR},  [ACCOUNT_SIGN_IN] = {"sign_in", HOUR},
    [ACCOUNT_SIGN_IN_ALL] = {"sign_in_all", DAY}, [ACCOUNT_FORMS] = {"forms", DAY},
    [ACCOUNT_FORM_SITE] = {"form_site", DAY},   [ACCOUNT_FORM_REFUSED] = {"form_refused", HOUR},
};

static int64_t end_of(AccountKind kind, int64_t now)
{
    return (now / kinds[kind].length + 1) * kinds[kind].length;
}

const char *account_kind_text(AccountKind kind)
{
    return kinds[kind].text;
}

bool account_add(Store *store, AccountKind kind, const char *who, int64_t now, int64_t *total, GError **error)
{
    return STORE_WRITE(store, error,
                       query_number(store, error, total,
                                    "INSERT INTO account (kind, who, ends_at, total) VALUES ($1, $2, $3, 1) "
                                    "ON CONFLICT (kind, who) DO UPDATE SET total = CASE WHEN account.ends_at = $3 "
                                    "THEN account.total + 1 ELSE 1 END, ends_at = $3 RETURNING total",
                                    TEXT(kinds[kind].text), TEXT(who), INTEGER(end_of(kind, now))));
}

bool account_count(Store *store, AccountKind kind, const char *who, int64_t now, int64_t *total, GError **error)
{
    *total = 0;
    return query_number(store, error, total, "SELECT total FROM account WHERE kind = $1 AND who = $2 AND ends_at = $3",
                        TEXT(kinds[kind].text), TEXT(who), INTEGER(end_of(kind, now)));
}

bool account_sum(Store *store, AccountKind kind, int64_t now, AccountSum *sum, GError **error)
{
    g_autoptr(Query) query = query_open(store, error,
                                        "SELECT count(*), COALESCE(sum(total), 0), COALESCE(max(total), 0) "
                                        "FROM account WHERE kind = $1 AND ends_at = $2",
                                        TEXT(kinds[kind].text), INTEGER(end_of(kind, now)));
    if (query_step(query, error) != STEP_ROW)
        return false;
    *sum = (AccountSum){query_integer(query, 0), query_integer(query, 1), query_integer(query, 2)};
    return true;
}

/* By the key, which begins with the kind. */
bool account_forget(Store *store, const char *who, GError **error)
{
    for (size_t kind = 0; kind < ACCOUNT_KINDS; kind++)
        if (!query_run(store, error, NULL, "DELETE FROM account WHERE kind = $1 AND who = $2", TEXT(kinds[kind].text),
                       TEXT(who)))
            return false;
    return true;
}

bool account_expire(Store *store, int64_t now, GError **error)
{
    return STORE_EXPIRE(store, "account", "ends_at", now + 1, error);
}
