/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/admin/new_domain.h"

#include <stdio.h>
#include <string.h>

#include "cli/admin/setup_mta.h"
#include "store/lists/domain.h"

/* Each command names the whole value of a parameter, so the one for this domain has the site's other ones, too. Those
 * that Postfix delivers itself are for the doctor. */
static GPtrArray *names_for_postfix(const SetupWiring *wiring, const GPtrArray *domains, const char *own)
{
    GPtrArray *names = g_ptr_array_new();
    g_ptr_array_add(names, (gpointer)own);
    for (guint at = 0; at < domains->len; at++) {
        char *name = ((const Domain *)domains->pdata[at])->mail_host;
        if (strcmp(name, own) != 0 && setup_postfix_is_free(wiring, name, NULL))
            g_ptr_array_add(names, name);
    }
    g_ptr_array_add(names, NULL);
    return names;
}

static GPtrArray *lines_of_postfix(Site *site, const char *domain, GError **error)
{
    g_auto(SetupDoors) doors = {0};
    Store *store = site_store(site, false, error);
    g_autoptr(GPtrArray) domains = store ? domain_all(store, error) : NULL;
    if (!domains || !setup_doors_read(site_config(site, NULL), &doors, error))
        return NULL;
    SetupWiring wiring = {.mta = SETUP_POSTFIX, .lmtp = doors.lmtp, .ask = doors.ask};
    g_autoptr(GPtrArray) names = names_for_postfix(&wiring, domains, domain);
    wiring.domains = (const char *const *)names->pdata;
    return setup_postfix_plan(&wiring, error);
}

static void tell_postfix(Site *site, const char *domain)
{
    g_autoptr(GError) fault = NULL;
    g_autoptr(GPtrArray) lines = lines_of_postfix(site, domain, &fault);
    if (!lines) {
        printf("  Its mail does not come here yet: %s\n", fault->message);
    } else if (lines->len > 0) {
        g_autofree char *command = setup_postfix_command(lines);
        printf("  Postfix does not hand over its mail yet: %s\n", command);
    }
}

void new_domain_tell(Site *site, const char *domain, const char *near)
{
    const Config *config = site_config(site, NULL);
    printf("%s is a new domain of this site.\n", domain);
    if (near)
        printf("  It differs little from %s. If it is a slip: listrunner domain remove %s\n", near, domain);
    if (config && setup_mta_find() & 1u << SETUP_POSTFIX)
        tell_postfix(site, domain);
    else
        puts("  Let the mail server hand its mail to Listrunner (README, Connect your MTA).");
    puts("  \"listrunner doctor\" shows what is missing there and in the DNS.");
}
