/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/work_site.h"

bool work_place_store(WorkPlace *place, Site *site, GError **error)
{
    const Config *config = site_config(site, error);
    if (!config)
        return false;
    *place = (WorkPlace){.actor = {.role = ACTOR_OPERATOR, .door = DOOR_SHELL, .name = g_get_user_name()}};
    work_site_init(&place->site, config);
    place->store = site_store(site, false, error);
    return place->store != NULL;
}

bool work_place_open(WorkPlace *place, Site *site, GError **error)
{
    place->spool = work_place_store(place, site, error) ? site_spool(site, error) : NULL;
    return place->spool != NULL;
}

Work *work_place_unit(const WorkPlace *place, GError **error)
{
    g_autoptr(Work) work = work_new(place->store, &place->site, &place->actor);
    return work_begin(work, error) ? g_steal_pointer(&work) : NULL;
}

Work *work_place_begin(WorkPlace *place, Site *site, GError **error)
{
    return work_place_store(place, site, error) ? work_place_unit(place, error) : NULL;
}

Work *work_place_begin_spooled(WorkPlace *place, Site *site, GError **error)
{
    return work_place_open(place, site, error) ? work_place_unit(place, error) : NULL;
}

Work *work_place_begin_people(WorkPlace *place, Site *site, GError **error)
{
    if (!work_place_open(place, site, error))
        return NULL;
    g_autoptr(Work) work = work_new(place->store, &place->site, &place->actor);
    return work_begin_people(work, NULL, error) ? g_steal_pointer(&work) : NULL;
}

bool work_place_commit(WorkPlace *place, Site *site, Work *work, GError **error)
{
    if (!place->spool && work_entries(work) > 0)
        place->spool = site_spool(site, error);
    return (place->spool || work_entries(work) == 0) && work_commit(work, place->spool, error);
}
