/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Where the files of sources may lie: the runner task can read little beyond (base/confine.h). */
#include "lists/source_read.h"

#include <stdlib.h>
#include <string.h>

#include "base/config.h"
#include "base/fail.h"

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
