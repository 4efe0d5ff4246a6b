/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Where sources lie: what people may see of it, and where files may be, as the runner task can read little beyond
 * (base/confine.h). */
#include "lists/sources/source_internal.h"

#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/fail.h"

char *source_shown(const MemberSource *source)
{
    size_t length = source->kind == SOURCE_URL || source->kind == SOURCE_SQL ? strcspn(source->place, "?")
                                                                             : strlen(source->place);
    g_autofree char *shown = g_strdup_printf("%.*s%s", (int)length, source->place, source->place[length] ? "?..." : "");
    const char *host = strstr(shown, "://"), *at = host ? memchr(host, '@', strcspn(host + 3, "/?#") + 3) : NULL;
    const char *colon = at ? memchr(host + 3, ':', (size_t)(at - host - 3)) : NULL;
    return colon ? g_strdup_printf("%.*s:***%s", (int)(colon - shown), shown, at) : g_steal_pointer(&shown);
}

static bool is_own_host(const char *host)
{
    bool loopback = g_str_has_prefix(host, "127.") && strchr("/:", host[strspn(host, "0123456789.")]);
    return loopback || g_str_has_prefix(host, "[::1]") || g_str_has_prefix(host, "localhost/") ||
           g_str_has_prefix(host, "localhost:");
}

bool source_is_plain(const MemberSource *source)
{
    const char *tls = source->place; /* the extension of a directory's URL stands behind the fourth "?" */
    for (unsigned parts = 0; tls && parts < 4; parts++) {
        tls = strchr(tls, '?');
        tls = tls ? tls + 1 : NULL;
    }
    bool ldap = source->kind == SOURCE_LDAP && g_str_has_prefix(source->place, "ldap://") && !(tls && *tls);
    bool url = source->kind == SOURCE_URL && g_str_has_prefix(source->place, "http://");
    return source->password_file && (ldap || url) && !is_own_host(strstr(source->place, "://") + 3);
}

/* The path without links, as far as it is there. g_free() */
static char *without_links(const char *path)
{
    char *real = realpath(path, NULL);
    g_autofree char *found = g_strdup(real);
    free(real);
    if (found || strcmp(path, "/") == 0)
        return found ? g_steal_pointer(&found) : g_strdup(path);
    g_autofree char *above = g_path_get_dirname(path), *name = g_path_get_basename(path);
    g_autofree char *place = without_links(above), *whole = g_build_filename(place, name, NULL);
    return g_canonicalize_filename(whole, "/");
}

bool source_may_read(const WorkSite *site, const char *path, int code, GError **error)
{
    const char *const *directories = config_list(site->config, "task", "source_directories");
    g_autofree char *real = without_links(path);
    for (const char *const *directory = directories; *directory; directory++) {
        g_autofree char *place = without_links(*directory);
        size_t length = strlen(place);
        if (strncmp(real, place, length) == 0 && real[length] == '/')
            return true;
    }
    g_autofree char *all = g_strjoinv(", ", (char **)directories);
    return fail(
        error, code,
        "%s is in none of the directories that files of sources are read from (%s): move it into one of them, or "
        "add its directory to source_directories in section [task]",
        path, *all ? all : "there is none");
}
