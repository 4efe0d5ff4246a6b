/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "runners/outgoing/routes.h"

#include <string.h>

#define DOMAIN_MAX 255

struct Routes {
    GHashTable *table; /* "example.com" or ".example.com" -> transport */
};

Routes *routes_new(const Config *config, void *(*find)(void *data, const char *name), void *data)
{
    Routes *routes = g_new0(Routes, 1);
    routes->table = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
    for (const char *const *word = config_list(config, "out", "transport_table"); word && *word; word++) {
        const char *colon = strrchr(*word, ':');
        g_autofree char *pattern = g_strndup(*word, (size_t)(colon - *word));
        g_hash_table_replace(routes->table, g_ascii_strdown(pattern, -1), find(data, colon + 1));
    }
    return routes;
}

void routes_free(Routes *routes)
{
    if (!routes)
        return;
    g_hash_table_unref(routes->table);
    g_free(routes);
}

void *routes_look(const Routes *routes, const char *domain, size_t length)
{
    char name[DOMAIN_MAX + 1];
    if (!routes || length > DOMAIN_MAX || g_hash_table_size(routes->table) == 0)
        return NULL;
    for (size_t i = 0; i < length; i++)
        name[i] = g_ascii_tolower(domain[i]);
    name[length] = '\0';
    void *transport = g_hash_table_lookup(routes->table, name);
    for (const char *at = strchr(name, '.'); at && !transport; at = strchr(at + 1, '.'))
        transport = g_hash_table_lookup(routes->table, at);
    return transport;
}
