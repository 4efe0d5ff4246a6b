/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/site.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/text.h"
#include "store/hosts/generation.h"
#include "store/place.h"

#define NEAR_MAX 2 /* letters by which the name of a list may be mistyped to be suggested */

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

typedef struct NearList {
    NearWord near;
    char *best; /* owned, since the lists come one by one */
    bool by_address;
} NearList;

static bool offer(const List *list, void *data)
{
    NearList *self = data;
    near_word_offer(&self->near, self->by_address ? list->posting_address : list->list_id);
    if (self->near.best && self->near.best != self->best) {
        g_free(self->best);
        self->best = g_strdup(self->near.best);
        self->near.best = self->best;
    }
    return true;
}

List *site_list_find(Store *store, const char *name, GError **error)
{
    g_autoptr(GError) refusal = NULL;
    g_autofree char *lower = g_utf8_validate(name, -1, NULL) ? g_utf8_strdown(name, -1) : g_strdup("");
    NearList self = {.near = {lower, NULL, NEAR_MAX + 1}, .by_address = strchr(name, '@') != NULL};
    List *list = list_find(store, name, &refusal);
    if (list)
        return list;
    if (g_error_matches(refusal, FAIL, FAIL_MISSING))
        list_each(store, NULL, offer, &self, NULL);
    g_autofree char *meant = self.best;
    if (meant)
        fail(error, FAIL_MISSING, "%s; did you mean %s?", refusal->message, meant);
    else
        g_propagate_error(error, g_steal_pointer(&refusal));
    return NULL;
}
