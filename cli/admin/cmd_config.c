/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* listrunner config: check, show. */
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/config.h"
#include "base/fail.h"
#include "base/fs.h"
#include "cli/command.h"
#include "cli/plain.h"
#include "lists/hosts/host_state.h"
#include "lists/making/setting_check.h"
#include "store/lists/domain.h"
#include "store/place.h"

static gboolean offline, defaults_too;

/* A database that cannot be asked is no fault of the configuration, but whoever checks it wants to know. */
static bool warn_of_connections(const Config *config)
{
    g_autoptr(GError) away = NULL;
    g_autofree char *fault = host_state_connections_fault(config, &away);
    if (fault || away)
        plain_complain("listrunner config check: warning: [store] url: %s", fault ? fault : away->message);
    return fault || away;
}

/* The same holds of a domain that is created later. */
static bool warn_of_canary(const Config *config)
{
    const char *domain = config_string(config, "watch", "canary");
    if (!domain)
        return false;
    g_autoptr(GError) error = NULL;
    g_autoptr(Store) store = store_open_to_look(config, &error);
    g_autoptr(Domain) known = store ? domain_find(store, domain, &error) : NULL;
    if (known || !g_error_matches(error, FAIL, FAIL_MISSING))
        return false;
    plain_complain("listrunner config check: warning: [watch] canary: found \"%s\", which is no domain of the site; "
                   "right is one that \"listrunner domain ls\" shows, or create it: listrunner domain create %s",
                   domain, domain);
    return true;
}

/* Lists of families that the configuration does not have. A site without a database has none. */
static bool warn_of_families(const Config *config)
{
    g_autoptr(Store) store = store_open_configured(config, false, NULL);
    g_autoptr(GPtrArray) gone = store ? setting_check_families(store, config, NULL) : NULL;
    for (guint at = 0; gone && at < gone->len; at++) {
        const ListNamed *one = gone->pdata[at];
        plain_complain("listrunner config check: warning: [style.%s]: %" G_GINT64_FORMAT " %s to this family, as %s "
                       "does, and the section with its fixed or limited settings is missing: %s changes of settings; "
                       "put it back, or detach lists (listrunner list set LIST family=)",
                       one->value, one->lists, one->lists == 1 ? "list belongs" : "lists belong", one->posting_address,
                       one->lists == 1 ? "the list refuses" : "they refuse");
    }
    return gone && gone->len > 0;
}

/* The runners write to the spool as [site] user, or as whoever starts them where that is not root. */
static bool warn_of_spool(const Config *config)
{
    struct stat status;
    const char *spool = config_string(config, "spool", "directory"), *user = config_string(config, "site", "user");
    const struct passwd *account = getpwnam(user), *owner;
    if (stat(spool, &status) != 0 || (geteuid() == 0 && !account) || (account && status.st_uid == account->pw_uid) ||
        (geteuid() != 0 && status.st_uid == geteuid()))
        return false;
    g_autofree char *wanted = g_strdup(account ? account->pw_name : g_get_user_name());
    owner = getpwuid(status.st_uid);
    plain_complain("listrunner config check: warning: [spool] directory: %s belongs to %s, and right is %s, as whom "
                   "the runners write there (chown -R %s: %s)",
                   spool, owner ? owner->pw_name : "nobody known", wanted, wanted, spool);
    return true;
}

static int run_check(Site *site, int argc, char **argv, GError **error)
{
    static bool (*const warn_of[])(const Config *config) = {warn_of_connections, warn_of_canary, warn_of_spool,
                                                            warn_of_families};
    const char *path = argc > 0 ? argv[0] : site_config_path(site);
    g_autoptr(Config) config = config_load(path, offline, error);
    if (!config)
        return TOOL_CONFIG;
    g_autofree char *fault = offline ? NULL : mount_fault(config_string(config, "spool", "directory"));
    if (fault)
        fprintf(stderr, "listrunner config check: warning: [spool] directory: %s\n", fault);
    bool file = strcmp(config_string(config, "store", "driver"), "sqlite") == 0;
    g_autofree char *above = g_path_get_dirname(config_string(config, "store", "path"));
    g_autofree char *store = offline || !file ? NULL : mount_network_fault(above);
    if (store)
        fprintf(stderr, "listrunner config check: warning: [store] path: %s\n", store);
    g_autofree char *doubts = offline ? NULL : config_doubts(config);
    g_auto(GStrv) lines = g_strsplit(doubts ? doubts : "", "\n", -1);
    for (char **line = lines; *line; line++)
        fprintf(stderr, "listrunner config check: warning: %s\n", *line);
    bool warned = doubts || fault || store;
    for (unsigned at = 0; !offline && at < G_N_ELEMENTS(warn_of); at++)
        warned |= warn_of[at](config);
    g_auto(StorePlace) place = {0};
    g_autofree char *older = !offline && store_place_read(config, &place, NULL) ? store_upgrade_sentence(&place) : NULL;
    if (older)
        printf("%s That is done at the next start.\n", older);
    printf(warned ? "%s can be used; see the warnings\n" : "%s is in order\n", path);
    return TOOL_OK;
}

static int run_show(Site *site, int argc, char **argv, GError **error)
{
    const Config *config = site_config(site, error);
    if (!config)
        return TOOL_CONFIG;
    g_autofree char *text = config_print(config, defaults_too);
    fputs(text, stdout);
    return TOOL_OK;
}

static const GOptionEntry check_options[] = {
    {"offline", 0, 0, G_OPTION_ARG_NONE, &offline,
     "leave out what needs this host: files, directories, the user, names of hosts", NULL},
    G_OPTION_ENTRY_NULL,
};

static const GOptionEntry show_options[] = {
    {"defaults", 0, 0, G_OPTION_ARG_NONE, &defaults_too, "every key, also those that the file does not set", NULL},
    G_OPTION_ENTRY_NULL,
};

static const Command check = {
    .name = "check",
    .arguments = "[FILE]",
    .summary = "Read the configuration and report every fault in it",
    .most = 1,
    .options = check_options,
    .run = run_check,
};

static const Command show = {
    .name = "show",
    .arguments = "",
    .summary = "Show the configuration, with secrets masked",
    .options = show_options,
    .run = run_show,
};

static const Command *const verbs[] = {&check, &show, NULL};

const Command cmd_config = {
    .name = "config", .arguments = "", .summary = "Check or show the configuration", .verbs = verbs};
