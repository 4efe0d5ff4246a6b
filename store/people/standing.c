/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/people/standing.h"

#include "store/people/ban.h"
#include "store/people/email.h"
#include "store/store_internal.h"

void standing_clear(AddressStanding *standing)
{
    g_clear_pointer(&standing->banned, g_free);
}

bool standing_read(Store *store, const char *list_id, const char *address, AddressStanding *standing, GError **error)
{
    int64_t list;
    *standing = (AddressStanding){0};
    if (!list_key(store, list_id, &list, error) || !ban_check(store, list_id, address, NULL, &standing->banned, error))
        return false;
    g_autofree char *folded = email_folded(address);
    g_autoptr(Query)
        query = query_open(store, error,
                           "SELECT d.verified_at, u.stands_in, "
                           "(SELECT count(*) FROM member m WHERE m.list = $2 AND m.role = 0 AND m.folded = d.folded) "
                           "FROM address d JOIN person u ON u.key = d.person WHERE d.folded = $1",
                           TEXT(folded), INTEGER(list));
    Step step = query_step(query, error);
    if (step == STEP_ROW) {
        standing->verified_at = query_integer(query, 0);
        standing->has_user = query_integer(query, 1) == 0;
        standing->is_member = query_integer(query, 2) > 0;
    }
    return step != STEP_FAILED;
}
