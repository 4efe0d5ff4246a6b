/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/archive/archive_site.h"

#include "base/fail.h"
#include "lists/archive/archive_place.h"
#include "store/lists/list_archive.h"

char *archive_option;

void archive_site_clear(ArchiveSite *place)
{
    g_clear_pointer(&place->list, g_free);
    g_clear_pointer(&place->archive, g_free);
    g_clear_pointer(&place->of, list_free);
}

static const char *directory_of(const Config *config, const char *archiver, GError **error)
{
    const char *name = NULL, *directory = archive_place_indexed(config, archiver, &name);
    const char *host = directory ? archive_place_host(config, name) : NULL;
    if (!directory && archiver)
        fail(error, FAIL_CONFIG,
             "[archiver.%s]: there is no such archiver that is enabled, of type maildir, and has index = yes",
             archiver);
    else if (!directory)
        fail(error, FAIL_CONFIG, "no section [archiver.NAME] is enabled, of type maildir, and has index = yes");
    if (host)
        fail(error, FAIL_CONFIG, "[archiver.%s] is kept by the host %s: give the command there", name, host);
    return host ? NULL : directory;
}

bool archive_site_find(ArchiveSite *place, Site *site, const char *archiver, const char *list, GError **error)
{
    const Config *config = site_config(site, error);
    place->directory = config ? directory_of(config, archiver, error) : NULL;
    if (!place->directory || !site_become_user(site, error))
        return false;
    if (!list)
        return true;
    Store *store = site_store(site, false, error);
    g_autoptr(List) found = store ? site_list_find(store, list, error) : NULL;
    if (!found)
        return false;
    place->archive = list_archive_name(found->list_id, found->archive);
    place->list = archive_file_name(place->archive);
    place->of = g_steal_pointer(&found);
    return true;
}
