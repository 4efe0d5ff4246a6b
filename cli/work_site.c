/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/work_site.h"

bool work_place_open(WorkPlace *place, Site *site, GError **error)
{
    const Config *config = site_config(site, error);
    if (!config)
        return false;
    work_site_init(&place->site, config);
    place->actor = (Actor){.role = ACTOR_OPERATOR, .door = DOOR_SHELL};
    place->store = site_store(site, false, error);
    place->spool = place->store ? site_spool(site, error) : NULL;
    return place->spool && work_flush(place->store, place->spool, error);
}
