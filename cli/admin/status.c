/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/admin/status.h"

#include "cli/control_client.h"
#include "lists/site/site_state.h"

json_t *status_ask(Site *site, GError **error)
{
    g_autoptr(ControlClient) client = control_client_open(site, error);
    json_t *status = client ? control_client_ask(client, json_pack("{s:s}", "verb", "status"), error) : NULL;
    g_autoptr(GError) fault = NULL;
    Store *store = status ? site_store(site, false, &fault) : NULL;
    /* There is a store only where the configuration can be read. */
    if (store)
        site_state_add(store, site_config(site, NULL), status);
    else if (status)
        site_state_without_store(status, fault);
    return status;
}
