/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "store/place.h"

#include <string.h>

#include "base/clock.h"
#include "base/contract.h"
#include "base/fail.h"
#include "base/newest_schema.h"
#include "base/secret.h"
#include "store/hosts/generation.h"
#include "store/maintain.h"
#include "store/store_internal.h"

void store_place_clear(StorePlace *place)
{
    g_clear_pointer(&place->where, g_free);
    g_clear_pointer(&place->shown, g_free);
}

/* A connection string of the form name=value takes an option as one more of these, a URI as one of its query. */
static char *with_option(const char *url, const char *name, const char *value)
{
    bool uri = strstr(url, "://") != NULL;
    g_autofree char *escaped = g_uri_escape_string(value, NULL, FALSE);
    if (uri)
        return g_strdup_printf("%s%c%s=%s", url, strchr(url, '?') ? '&' : '?', name, escaped);
    g_autoptr(GString) quoted = g_string_new(value);
    g_string_replace(quoted, "\\", "\\\\", 0);
    g_string_replace(quoted, "'", "\\'", 0);
    return g_strdup_printf("%s %s='%s'", url, name, quoted->str);
}

char *store_place_with_password(const char *url, const char *password)
{
    return with_option(url, "password", password);
}

/* The server, and who waits there for this process, know it by a name like "in[0]@a.example.com". */
static void name_client(char **where, const char *hostname)
{
    const char *program = g_get_prgname();
    g_autofree char *name = g_strdup_printf("%s@%s", program ? program : "listrunner", hostname);
    char *named = with_option(*where, "fallback_application_name", name);
    g_free(*where);
    *where = named;
}

bool store_place_read(const Config *config, StorePlace *place, GError **error)
{
    *place = (StorePlace){.driver = config_string(config, "store", "driver")};
    const StoreDriver *driver = store_driver_find(place->driver, error);
    if (!driver)
        return false;
    const char *named = config_string(config, "store", driver->setting);
    const char *file = config_string(config, "store", "password_file");
    g_autofree char *password = file ? secret_file_line(file, error) : NULL;
    if (file && !password) {
        g_prefix_error(error, "[store] password_file: ");
        return false;
    }
    place->where = password ? store_place_with_password(named, password) : g_strdup(named);
    if (driver->reachable)
        name_client(&place->where, config_string(config, "site", "hostname"));
    place->shown = driver->shown(place->where, error);
    return place->shown != NULL;
}

bool store_place_is_server(const char *name)
{
    size_t word = strspn(name, "abcdefghijklmnopqrstuvwxyz_");
    return g_str_has_prefix(name, "postgresql://") || g_str_has_prefix(name, "postgres://") || name[word] == '=';
}

bool store_place_is_mysql(const char *name)
{
    static const char *const words[] = {"mysql", "mariadb"};
    for (size_t i = 0; i < G_N_ELEMENTS(words); i++) {
        size_t length = strlen(words[i]);
        if (strncmp(name, words[i], length) != 0)
            continue;
        size_t library = name[length] == '+' ? 1 + strspn(name + length + 1, "abcdefghijklmnopqrstuvwxyz_") : 0;
        if (g_str_has_prefix(name + length + library, "://"))
            return true;
    }
    return false;
}

bool store_place_named(const Config *config, const char *name, StorePlace *place, GError **error)
{
    if (strcmp(name, "configured") == 0)
        return store_place_read(config, place, error);
    const StoreDriver *driver = store_place_is_server(name) ? &store_pgsql : &store_sqlite;
    *place = (StorePlace){.driver = driver->name, .where = g_strdup(name), .shown = driver->shown(name, error)};
    return place->shown != NULL;
}

Store *store_open_configured(const Config *config, bool create, GError **error)
{
    g_auto(StorePlace) place = {0};
    /* Builds of one version may know different schemas: an old master can start a new program. */
    bool started = g_strcmp0(g_getenv(CHILD_ENV_VERSION), PACKAGE_VERSION) == 0 &&
                   g_strcmp0(g_getenv(CHILD_ENV_SCHEMA), G_STRINGIFY(NEWEST_SCHEMA)) == 0;
    if (!store_place_read(config, &place, error))
        return NULL;
    generation_expect(config_string(config, "spool", "directory"), place.where);
    return started && !create ? store_open_older(place.driver, place.where, true, error)
                              : store_open(place.driver, place.where, create, error);
}

char *store_upgrade_sentence(const StorePlace *place)
{
    g_auto(StoreReport) report = {0};
    return store_check(place->driver, place->where, false, &report, NULL) && report.schema < report.newest
               ? g_strdup_printf("The database %s has schema %" G_GINT64_FORMAT " and is brought to %" G_GINT64_FORMAT
                                 "; programs of older versions may refuse it then.", place->shown, report.schema,
                                 report.newest)
               : NULL;
}

Store *store_open_for_work(const Config *config, GError **error)
{
    store_set_opening_deadline(STORE_DEADLINE_WORK);
    return store_open_configured(config, false, error);
}

Store *store_open_to_look(const Config *config, GError **error)
{
    g_auto(StorePlace) place = {0};
    g_auto(StoreReport) report = {0};
    g_autoptr(GError) fault = NULL;
    if (!store_place_read(config, &place, error))
        return NULL;
    bool found = store_check(place.driver, place.where, false, &report, &fault);
    if (!found && !g_error_matches(fault, FAIL, FAIL_MISSING))
        g_propagate_error(error, g_steal_pointer(&fault));
    return found && report.schema >= report.newest ? store_open(place.driver, place.where, false, error) : NULL;
}
