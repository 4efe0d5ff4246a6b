/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "lists/archive/archive_place.h"

#include <errno.h>
#include <fts.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"

#define FILE_NAME_MAX (255 - sizeof(".mbox.intent") + 1)
#define FILE_NAME_KEPT 190

char *archive_file_name(const char *list_id)
{
    GString *name = g_string_new(NULL);
    for (const char *at = list_id; *at != '\0'; at++) {
        bool plain = g_ascii_isalnum(*at) || strchr("-_+=@~", *at) != NULL || (*at == '.' && at != list_id) ||
                     (*at & 0x80) != 0;
        if (plain)
            g_string_append_c(name, *at);
        else
            g_string_append_printf(name, "%%%02X", (unsigned char)*at);
    }
    if (name->len > FILE_NAME_MAX) {
        size_t kept = FILE_NAME_KEPT;
        while ((name->str[kept] & 0xc0) == 0x80) /* in the midst of a character */
            kept--;
        g_autofree char *sum = g_compute_checksum_for_string(G_CHECKSUM_SHA1, list_id, -1);
        g_string_truncate(name, kept);
        g_string_append_printf(name, "%%sha1-%s", sum);
    }
    return g_string_free(name, FALSE);
}

const char *archive_place_indexed(const Config *config, const char *archiver, const char **name)
{
    for (const char *const *own = config_family(config, "archiver"); *own; own++) {
        g_autofree char *section = g_strconcat("archiver.", *own, NULL);
        const char *path = config_string(config, section, "path");
        if ((archiver && !g_str_equal(archiver, *own)) || !path || !config_bool(config, section, "enabled") ||
            !config_bool(config, section, "index") || g_strcmp0(config_string(config, section, "type"), "maildir") != 0)
            continue;
        if (name)
            *name = *own;
        return path;
    }
    return NULL;
}

const char *archive_place_host(const Config *config, const char *archiver)
{
    const char *const *names = config_family(config, "archiver");
    if (!g_strv_contains(names, archiver))
        return NULL;
    g_autofree char *section = g_strconcat("archiver.", archiver, NULL);
    const char *host = config_string(config, section, "host");
    return host && g_ascii_strcasecmp(host, config_string(config, "site", "hostname")) != 0 ? host : NULL;
}

char **archive_places(const Config *config, const char *archive_name)
{
    g_autofree char *name = archive_file_name(archive_name);
    g_autoptr(GPtrArray) places = g_ptr_array_new_with_free_func(g_free);
    g_autofree const char **sections = config_family_sections(config, "archiver");
    for (const char **section = sections; *section; section++) {
        const char *path = config_string(config, *section, "path"), *type = config_string(config, *section, "type");
        bool one_file = g_str_equal(type, "mbox");
        if (!path || !(one_file || g_str_equal(type, "maildir") || g_str_equal(type, "mhonarc")))
            continue;
        g_autofree char *file = g_strconcat(name, one_file ? ".mbox" : "", NULL);
        g_autofree char *place = g_build_filename(path, file, NULL);
        if (g_file_test(place, G_FILE_TEST_EXISTS))
            g_ptr_array_add(places, g_steal_pointer(&place));
    }
    g_ptr_array_add(places, NULL);
    return (char **)g_ptr_array_free(g_steal_pointer(&places), FALSE);
}

bool archive_place_remove(const char *place, GError **error)
{
    /* The mbox itself goes last: archive_places() finds the rest by it when this is cut short. */
    static const char *const beside[] = {".index", ".intent"};
    bool mbox = g_file_test(place, G_FILE_TEST_IS_REGULAR), done = true;
    for (size_t at = 0; mbox && at < G_N_ELEMENTS(beside); at++) {
        g_autofree char *path = g_strconcat(place, beside[at], NULL);
        if (unlink(path) != 0 && errno != ENOENT)
            return fail_errno(error, FAIL_LATER, "cannot remove %s", path);
    }
    char *const paths[] = {(char *)place, NULL};
    FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    if (!walk)
        return fail_errno(error, FAIL_LATER, "cannot read %s", place);
    for (FTSENT *entry; done && (entry = fts_read(walk));)
        if (entry->fts_info != FTS_D && remove(entry->fts_path) != 0 && errno != ENOENT)
            done = fail_errno(error, FAIL_LATER, "cannot remove %s", entry->fts_path);
    fts_close(walk);
    return done;
}
