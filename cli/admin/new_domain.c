/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/admin/new_domain.h"

#include <stdio.h>
#include <string.h>

#include "cli/admin/setup_mta.h"
#include "store/lists/domain.h"

static GPtrArray *lines_of_postfix(Site *site, const char *domain, GError **error)
{
    g_auto(SetupDoors) doors = {0};
    Store *store = site_store(site, false, error);
    g_autoptr(GPtrArray) domains = store ? domain_all(store, error) : NULL, names = g_ptr_array_new();
    if (!domains || !setup_doors_read(site_config(site, NULL), &doors, error))
        return NULL;
    SetupWiring wiring = {.mta = SETUP_POSTFIX, .lmtp = doors.lmtp, .ask = doors.ask};
    /* Each command names the whole value of a parameter, so the one for this domain has the site's other ones, too.
     * Those that Postfix delivers itself are for the doctor. */
    g_ptr_array_add(names, (gpointer)domain);
    for (guint at = 0; at < domains->len; at++) {
        char *name = ((const Domain *)domains->pdata[at])->mail_host;
        if (strcmp(name, domain) != 0 && setup_postfix_is_free(&wiring, name, NULL))
            g_ptr_array_add(names, name);
    }
    g_ptr_array_add(names, NULL);
    wiring.domains = (const char *const *)names->pdata;
    return setup_postfix_plan(&wiring, error);
}

void new_domain_tell(Site *site, const char *domain, const char *near)
{
    g_autoptr(GError) fault = NULL;
    bool postfix = site_config(site, NULL) && setup_mta_find() & 1u << SETUP_POSTFIX;
    printf("%s is a new domain of this site.\n", domain);
    if (near)
        printf("  It differs little from %s. If it is a slip: listrunner domain remove %s\n", near, domain);
    g_autoptr(GPtrArray) lines = postfix ? lines_of_postfix(site, domain, &fault) : NULL;
    if (!postfix) {
        puts("  Let the mail server hand its mail to Listrunner (README, Connect your MTA).");
    } else if (!lines) {
        printf("  Its mail does not come here yet: %s\n", fault->message);
    } else if (lines->len > 0) {
        g_autofree char *command = setup_postfix_command(lines);
        printf("  Postfix does not hand over its mail yet: %s\n", command);
    }
    puts("  \"listrunner doctor\" shows what is missing there and in the DNS.");
}
