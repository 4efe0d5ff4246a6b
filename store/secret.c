/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/secret.h"

#include <sys/random.h>

#include "base/clock.h"
#include "base/fail.h"
#include "store/store_internal.h"

static GPtrArray *read_all(Store *store, GError **error)
{
    g_autoptr(GPtrArray) secrets = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
    g_autoptr(Query) query =
        query_start(store, error, "SELECT octets FROM secret ORDER BY key DESC", NULL, 0);
    Step step;
    while ((step = query_step(query, error)) == STEP_ROW)
        g_ptr_array_add(secrets, query_blob(query, 0));
    return step == STEP_DONE ? g_steal_pointer(&secrets) : NULL;
}

static bool add(Store *store, int64_t now, GError **error)
{
    unsigned char octets[SECRET_OCTETS];
    if (getrandom(octets, sizeof octets, 0) != sizeof octets) /* of this size it is never cut short */
        return fail_errno(error, FAIL_LATER, "no random octets for a secret");
    int64_t key = store_key_new(store, error);
    return key != 0 &&
           query_run(store, error, NULL, "UPDATE secret SET replaced_at = $1 WHERE replaced_at = 0", INTEGER(now)) &&
           query_run(store, error, NULL, "INSERT INTO secret (key, octets, replaced_at) VALUES ($1, $2, 0)",
                     INTEGER(key), BLOB(octets, sizeof octets));
}

GPtrArray *secret_all(Store *store, GError **error)
{
    g_autoptr(GPtrArray) secrets = read_all(store, error);
    if (!secrets || secrets->len > 0)
        return g_steal_pointer(&secrets);
    /* Two processes may ask first at the same time: the second finds the first one's. Nobody keeps that there is none,
     * so this is no change of which others must learn, and may happen in any transaction. */
    {
        g_auto(Write) write = write_begin(store, WRITE_SITE, error);
        g_autoptr(GPtrArray) again = write.begun ? read_all(store, error) : NULL;
        if (!again || (again->len == 0 && !add(store, clock_now(), error)) || !write_end(&write, error))
            return NULL;
    }
    return read_all(store, error);
}

bool secret_replaced_at(Store *store, int64_t *replaced_at, GError **error)
{
    *replaced_at = 0;
    return query_number_all(store, error, replaced_at, "SELECT COALESCE(max(replaced_at), 0) FROM secret", NULL, 0);
}

bool secret_rotate(Store *store, int64_t keep_us, GError **error)
{
    int64_t now = clock_now();
    return STORE_CHANGE(store, error,
                        add(store, now, error) &&
                            query_run(store, error, NULL,
                                      "DELETE FROM secret WHERE replaced_at > 0 AND replaced_at < $1",
                                      INTEGER(now - keep_us)));
}
