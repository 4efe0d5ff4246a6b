/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/archive/post_archivers.h"

#include <string.h>

#include "lists/archive/archive_place.h"
#include "posting/post_site.h"

static void archiver_clear(void *data)
{
    PostArchiver *archiver = data;
    g_free((char *)archiver->list_url);
    g_free((char *)archiver->permalink);
}

/* Where the archive that the runner web shows has its pages, unless the configuration says so. */
static void fill_own_places(PostArchiver *archiver, const WorkSite *site)
{
    if (!archiver->list_url)
        archiver->list_url = work_site_page(site, "/archive/$archive");
    if (!archiver->permalink)
        archiver->permalink = work_site_page(site, "/archive/$archive/$hash");
}

/* The same for the archives of well-known services. */
static void fill_places(PostArchiver *archiver, const char *type, const char *url)
{
    if (strcmp(type, "mail-archive") == 0 && !archiver->list_url)
        archiver->list_url = g_strdup("https://www.mail-archive.com/$list_name@$mail_host/");
    if (strcmp(type, "hyperkitty") != 0 || !url)
        return;
    const char *slash = g_str_has_suffix(url, "/") ? "" : "/";
    if (!archiver->list_url)
        archiver->list_url = g_strdup_printf("%s%slist/$list_name@$mail_host/", url, slash);
    if (!archiver->permalink)
        archiver->permalink = g_strdup_printf("%s%slist/$list_name@$mail_host/message/$hash/", url, slash);
}

GArray *post_archivers_read(const Config *config, const WorkSite *site)
{
    const char *shown = "";
    archive_place_indexed(config, NULL, &shown);
    GArray *archivers = g_array_new(true, true, sizeof(PostArchiver));
    g_array_set_clear_func(archivers, archiver_clear);
    for (const char *const *name = config_family(config, "archiver"); *name; name++) {
        g_autofree char *section = g_strconcat("archiver.", *name, NULL);
        const char *type = config_string(config, section, "type");
        PostArchiver archiver = {.name = *name,
                                 .list_url = g_strdup(config_string(config, section, "list_url")),
                                 .permalink = g_strdup(config_string(config, section, "permalink")),
                                 .public_only = strcmp(type, "mail-archive") == 0};
        fill_places(&archiver, type, config_string(config, section, "url"));
        if (g_str_equal(*name, shown))
            fill_own_places(&archiver, site);
        if (config_bool(config, section, "enabled"))
            g_array_append_val(archivers, archiver);
        else
            archiver_clear(&archiver);
    }
    return archivers;
}
