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

bool archive_site_find(ArchiveSite *place, Site *site, const char *archiver, const char *list, GError **error)
{
    const char *name = NULL;
    const Config *config = site_config(site, error);
    const char *directory = config ? archive_place_indexed(config, archiver, &name) : NULL;
    const char *host = directory ? archive_place_host(config, name) : NULL;
    if (!config)
        return false;
    if (!directory && archiver)
        return fail(error, FAIL_CONFIG,
                    "[archiver.%s]: there is no such archiver that is enabled, of type maildir, and has index = yes",
                    archiver);
    if (!directory)
        return fail(error, FAIL_CONFIG, "no section [archiver.NAME] is enabled, of type maildir, and has index = yes");
    if (host)
        return fail(error, FAIL_CONFIG, "[archiver.%s] is kept by the host %s: give the command there", name, host);
    place->directory = directory;
    if (!site_become_user(site, error))
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
