/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/site.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <unistd.h>

#include "base/fail.h"
#include "store/generation.h"
#include "store/place.h"

struct Site {
    char *path;
    Config *config;
    Store *store;
    Spool *spool;
};

Site *site_new(const char *path)
{
    Site *site = g_new0(Site, 1);
    site->path = g_strdup(config_default_path(path));
    return site;
}

void site_free(Site *site)
{
    if (!site)
        return;
    g_clear_pointer(&site->store, store_free);
    g_clear_pointer(&site->spool, spool_free);
    g_clear_pointer(&site->config, config_free);
    g_free(site->path);
    g_free(site);
}

const char *site_config_path(const Site *site)
{
    return site->path;
}

const Config *site_config(Site *site, GError **error)
{
    if (!site->config)
        site->config = config_load(site->path, true, error);
    return site->config;
}

bool site_become_user(Site *site, GError **error)
{
    const Config *config = site_config(site, error);
    if (!config)
        return false;
    const char *user = config_string(config, "site", "user");
    if (geteuid() != 0 || !user)
        return true;
    errno = 0;
    const struct passwd *account = getpwnam(user);
    if (!account || account->pw_uid == 0)
        return true;
    if (initgroups(user, account->pw_gid) != 0 || setgid(account->pw_gid) != 0 || setuid(account->pw_uid) != 0)
        return fail_errno(error, FAIL_LATER, "cannot become the user %s of [site] user", user);
    g_setenv("HOME", account->pw_dir, true); /* libpq looks there, and fails where root's may not be entered */
    return true;
}

Store *site_store(Site *site, bool create, GError **error)
{
    if (site->store)
        return site->store;
    if (!site_become_user(site, error))
        return NULL;
    site->store = store_open_configured(site->config, create, error);
    return site->store;
}

Store *site_store_older(Site *site, bool upgrade, GError **error)
{
    g_auto(StorePlace) place = {0};
    if (!site->store && site_become_user(site, error) && store_place_read(site->config, &place, error)) {
        generation_expect(config_string(site->config, "spool", "directory"), place.where);
        site->store = store_open_older(place.driver, place.where, upgrade, error);
    }
    return site->store;
}

Spool *site_spool(Site *site, GError **error)
{
    if (site->spool)
        return site->spool;
    if (!site_become_user(site, error))
        return NULL;
    site->spool = spool_open(config_string(site->config, "spool", "directory"), error);
    return site->spool;
}
