/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/hosts/own_spool.h"

#include <string.h>

#include "base/fail.h"
#include "lists/hosts/this_host.h"
#include "store/place.h"

bool own_spool_check(Spool *spool, const Config *config, bool *asked, GError **error)
{
    g_autoptr(GError) fault = NULL;
    g_auto(ThisHost) said = {0};
    *asked = false;
    if (!this_host_is_one_of_many(config))
        return true;
    g_autoptr(Store) store = store_open_configured(config, false, &fault);
    *asked = store != NULL;
    if (store)
        return this_host_check(store, spool, config, error);
    if (g_error_matches(fault, FAIL, FAIL_LATER) && this_host_read(spool_fd(spool), &said, NULL) &&
        strcmp(said.name, config_string(config, "site", "hostname")) == 0)
        return true;
    return fail_with(error, &fault);
}
