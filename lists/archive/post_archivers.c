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

GArray *post_archivers_read(const Config *config, const WorkSite *site)
{
    const char *shown = "";
    archive_place_indexed(config, NULL, &shown);
    GArray *archivers = g_array_new(true, true, sizeof(PostArchiver));
    g_array_set_clear_func(archivers, archiver_clear);
    for (const char *const *name = config_family(config, "archiver"); *name; name++) {
        g_autofree char *section = g_strconcat("archiver.", *name, NULL);
        const char *type = config_string(config, section, "type"), *url = config_string(config, section, "url");
        bool hyperkitty = strcmp(type, "hyperkitty") == 0 && url, ours = g_str_equal(*name, shown);
        const char *slash = url && g_str_has_suffix(url, "/") ? "" : "/";
        if (!config_bool(config, section, "enabled"))
            continue;
        PostArchiver archiver = {.name = *name,
                                 .list_url = g_strdup(config_string(config, section, "list_url")),
                                 .permalink = g_strdup(config_string(config, section, "permalink")),
                                 .public_only = strcmp(type, "mail-archive") == 0};
        /* Unless the configuration says where, the pages are those of a well-known service, or of the runner web. */
        if (!archiver.list_url && archiver.public_only)
            archiver.list_url = g_strdup("https://www.mail-archive.com/$list_name@$mail_host/");
        if (!archiver.list_url && hyperkitty)
            archiver.list_url = g_strdup_printf("%s%slist/$list_name@$mail_host/", url, slash);
        if (!archiver.permalink && hyperkitty)
            archiver.permalink = g_strdup_printf("%s%slist/$list_name@$mail_host/message/$hash/", url, slash);
        if (!archiver.list_url && ours)
            archiver.list_url = work_site_page(site, "/archive/$archive");
        if (!archiver.permalink && ours)
            archiver.permalink = work_site_page(site, "/archive/$archive/$hash");
        g_array_append_val(archivers, archiver);
    }
    return archivers;
}
