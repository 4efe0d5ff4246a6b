/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/new_domain.h"

#include <stdio.h>

#include "cli/setup_mta.h"

static void tell_postfix(const Config *config, const char *domain)
{
    g_autoptr(GError) fault = NULL;
    g_auto(SetupDoors) doors = {0};
    const char *const domains[] = {domain, NULL};
    bool sound = setup_doors_read(config, &doors, &fault);
    const SetupWiring wiring = {.mta = SETUP_POSTFIX, .domains = domains, .lmtp = doors.lmtp, .ask = doors.ask};
    g_autoptr(GPtrArray) lines = sound ? setup_postfix_plan(&wiring, &fault) : NULL;
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
        tell_postfix(config, domain);
    else
        puts("  Let the mail server hand its mail to Listrunner (README, Connect your MTA).");
    puts("  \"listrunner doctor\" shows what is missing there and in the DNS.");
}
