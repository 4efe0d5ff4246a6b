/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/letters/template_host.h"

#include <stdlib.h>
#include <string.h>

#include "base/config_check.h"
#include "base/fail.h"

/* The host and the port of a word; *port "" where it names none. g_free() both. */
static void split(const char *word, char **host, char **port)
{
    const char *end = *word == '[' ? strchr(word, ']') : NULL;
    const char *colon = end ? (end[1] == ':' ? end + 1 : NULL) : strchr(word, ':');
    *host = end ? g_strndup(word + 1, (size_t)(end - word - 1)) : g_strndup(word, strcspn(word, ":"));
    *port = g_strdup(colon ? colon + 1 : "");
}

bool template_host_valid(const char *word)
{
    g_autofree char *host = NULL, *port = NULL;
    if (strcmp(word, "*") == 0)
        return true;
    split(word, &host, &port);
    size_t length = strlen(host) + (*word == '[' ? 2 : 0);
    if (word[length] == ':' ? !config_port_valid(port) : word[length] != '\0')
        return false;
    return *word == '[' ? strchr(host, ':') && config_address_valid(host) : config_host_valid(host);
}

static bool is_named(const char *word, GUri *uri)
{
    g_autofree char *host = NULL, *port = NULL;
    int usual = g_strcmp0(g_uri_get_scheme(uri), "https") == 0 ? 443 : 80, asked = g_uri_get_port(uri);
    split(word, &host, &port);
    return g_ascii_strcasecmp(host, g_uri_get_host(uri)) == 0 &&
           (asked < 0 ? usual : asked) == (*port ? atoi(port) : usual);
}

bool template_host_allows(const char *const *hosts, const char *place, const char *uri, bool *public_only,
                          GError **error)
{
    *public_only = false;
    if (!*place)
        return true;
    /* All parsers must read it alike: there is no user in it, and nothing in its host that only some take. */
    g_autoptr(GUri) parsed = g_uri_parse(uri, G_URI_FLAGS_NONE, NULL);
    const char *host = parsed ? g_uri_get_host(parsed) : NULL;
    bool plain = host && *host && !g_uri_get_userinfo(parsed) && !strchr(uri, '\\') &&
                 (config_host_valid(host) || config_address_valid(host));
    for (const char *at = uri; plain && *at; at++)
        plain = g_ascii_isgraph(*at);
    if (!plain)
        return fail(error, FAIL_NEVER,
                    "\"%s\" is no plain address of a web page; a user and password are given beside it", uri);
    bool any = false;
    for (const char *const *word = hosts; word && *word; word++) {
        if (is_named(*word, parsed))
            return true;
        any = any || strcmp(*word, "*") == 0;
    }
    *public_only = any;
    return any || fail(error, FAIL_NEVER, "%s: texts of lists and domains are fetched only from the hosts that "
                       "the site names in [site] template_hosts", uri);
}
