/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/admin/setup_config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/fail.h"
#include "base/fs.h"

static void setting_free(void *data)
{
    SetupSetting *setting = data;
    g_free(setting->section);
    g_free(setting->key);
    g_free(setting->value);
    g_free(setting);
}

GPtrArray *setup_settings_new(void)
{
    return g_ptr_array_new_with_free_func(setting_free);
}

void setup_settings_put(GPtrArray *settings, const char *section, const char *key, const char *value)
{
    SetupSetting *setting = NULL;
    for (guint at = 0; at < settings->len && !setting; at++) {
        SetupSetting *one = settings->pdata[at];
        if (strcmp(one->section, section) == 0 && strcmp(one->key, key) == 0)
            setting = one;
    }
    if (!setting) {
        setting = g_new0(SetupSetting, 1);
        setting->section = g_strdup(section);
        setting->key = g_strdup(key);
        g_ptr_array_add(settings, setting);
    }
    g_free(setting->value);
    setting->value = g_strdup(value);
}

bool setup_settings_read(GPtrArray *settings, const char *text, GError **error)
{
    const char *equals = strchr(text, '=');
    g_autofree char *name = g_strndup(text, equals ? (gsize)(equals - text) : 0);
    char *dot = strrchr(name, '.');
    if (!dot || dot == name || !dot[1] || strchr(text, '\n'))
        return fail(error, FAIL_NEVER, "--set: found '%s'; allowed is SECTION.KEY=VALUE, such as site.verbose=yes",
                    text);
    *dot = '\0';
    setup_settings_put(settings, name, dot + 1, equals + 1);
    return true;
}

/* The settings as a file, each section once. g_free() */
static char *text_of(const GPtrArray *settings)
{
    g_autoptr(GHashTable) done = g_hash_table_new(g_str_hash, g_str_equal);
    GString *text = g_string_new("# Written by \"listrunner setup\", and yours from now on: it is never written over.\n"
                                 "# listrunner.conf(5) has all settings; \"listrunner config check\" reads a changed\n"
                                 "# file, \"listrunner reload\" puts it in force.\n");
    for (guint first = 0; first < settings->len; first++) {
        const SetupSetting *section = settings->pdata[first];
        if (!g_hash_table_add(done, section->section))
            continue;
        g_string_append_printf(text, "\n[%s]\n", section->section);
        for (guint at = first; at < settings->len; at++) {
            const SetupSetting *one = settings->pdata[at];
            if (strcmp(one->section, section->section) == 0)
                g_string_append_printf(text, "%s = %s\n", one->key, one->value);
        }
    }
    return g_string_free(text, FALSE);
}

/* Read a text as if it were the file at path. */
static Config *read_text(const char *text, const char *path, bool offline, GError **error)
{
    g_autoptr(GError) faults = NULL;
    auto_fd fd = memfd_create("listrunner.conf", MFD_CLOEXEC);
    if (fd < 0 || !fs_write(fd, text, strlen(text), error)) {
        if (fd < 0)
            fail_errno(error, FAIL_LATER, "memory for a configuration");
        return NULL;
    }
    g_autofree char *place = g_strdup_printf("/proc/self/fd/%d", fd);
    Config *config = config_load(place, offline, &faults);
    if (faults) {
        g_auto(GStrv) pieces = g_strsplit(faults->message, place, -1);
        g_autofree char *message = g_strjoinv(path, pieces);
        fail(error, faults->code, "%s", message);
    }
    return config;
}

/* The line "KEY = VALUE" of a printed configuration, without what says that it is a default; g_free(). "": unset. */
static char *value_in(const char *printed, const char *section, const char *key)
{
    g_autofree char *head = g_strdup_printf("[%s]\n", section), *start = g_strdup_printf("\n%s = ", key);
    const char *from = strstr(printed, head);
    const char *end = from ? strstr(from, "\n\n") : NULL;
    const char *line = from ? strstr(from, start) : NULL;
    if (!line || (end && line > end))
        return g_strdup("");
    line += strlen(start);
    char *value = g_strndup(line, strcspn(line, "\n"));
    char *mark = strstr(value, " ; default");
    if (mark)
        *mark = '\0';
    return value;
}

/* A file whose lines are all empty or comments. */
static bool is_empty(const char *text)
{
    g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
    bool empty = true;
    for (char **line = lines; *line; line++)
        empty &= !*g_strchug(*line) || strchr("#;[", **line) != NULL;
    return empty;
}

void setup_config_clear(SetupConfig *plan)
{
    g_clear_pointer(&plan->text, g_free);
    g_clear_pointer(&plan->config, config_free);
}

char *setup_config_hostname(const char *path)
{
    g_autofree char *text = NULL;
    bool stays = g_file_get_contents(path, &text, NULL, NULL) && !is_empty(text);
    g_autoptr(Config) there = stays ? config_load(path, true, NULL) : NULL;
    return there ? g_strdup(config_string(there, "site", "hostname")) : NULL;
}

bool setup_config_plan(const char *path, const GPtrArray *settings, SetupConfig *plan, GError **error)
{
    g_autoptr(GError) absent = NULL;
    g_autofree char *wanted_text = text_of(settings), *there = NULL;
    bool missing = !g_file_get_contents(path, &there, NULL, &absent) &&
                   g_error_matches(absent, G_FILE_ERROR, G_FILE_ERROR_NOENT);
    if (!there && !missing)
        return fail(error, FAIL_LATER, "%s", absent->message);
    if (missing || is_empty(there)) {
        plan->config = read_text(wanted_text, path, false, error);
        plan->text = plan->config ? g_steal_pointer(&wanted_text) : NULL;
        return plan->config != NULL;
    }
    g_autoptr(Config) wanted = read_text(wanted_text, "what was asked for", true, error);
    plan->config = wanted ? config_load(path, false, error) : NULL;
    if (!plan->config)
        return false;
    bool differs = false;
    g_autofree char *is = config_print(plan->config, true), *ought = config_print(wanted, true);
    for (guint at = 0; at < settings->len; at++) {
        const SetupSetting *one = settings->pdata[at];
        g_autofree char *old = value_in(is, one->section, one->key), *new = value_in(ought, one->section, one->key);
        if (strcmp(old, new) == 0)
            continue;
        if (!differs)
            printf("--- %s\n+++ what was asked for\n", config_path(plan->config));
        differs = true;
        printf("-[%s] %s = %s\n+[%s] %s = %s\n", one->section, one->key, old, one->section, one->key, new);
    }
    return !differs || fail(error, FAIL_EXISTS,
                            "%s is there and says otherwise, as shown above: "
                            "change it by hand, or move it away, and run this again.",
                            path);
}

bool setup_config_write(const char *path, const char *text, GError **error)
{
    g_autofree char *above = g_path_get_dirname(path), *name = g_path_get_basename(path);
    g_autofree char *temporary = g_strconcat(name, ".new", NULL);
    if (g_mkdir_with_parents(above, 0755) != 0)
        return fail_errno(error, FAIL_LATER, "make the directory %s", above);
    auto_fd directory = fs_open_dir(AT_FDCWD, above, false, error);
    if (directory < 0)
        return false;
    unlinkat(directory, temporary, 0); /* of a setup that was killed */
    auto_fd file = fs_create(directory, temporary, error);
    bool written = file >= 0 && fs_write(file, text, strlen(text), error) &&
                   (fchmod(file, 0644) == 0 || fail_errno(error, FAIL_LATER, "chmod %s", path)) &&
                   fs_sync_file(file, error) && fs_rename(directory, temporary, name, error) &&
                   fs_sync_dir(directory, error);
    if (!written && file >= 0)
        unlinkat(directory, temporary, 0);
    if (!written)
        g_prefix_error(error, "%s was not written: ", path);
    return written;
}

bool setup_config_append(const char *path, const char *text, GError **error)
{
    struct stat before;
    g_autofree char *there = NULL;
    if (stat(path, &before) != 0 || !g_file_get_contents(path, &there, NULL, NULL))
        return fail_errno(error, FAIL_LATER, "read %s", path);
    g_autofree char *whole = g_strconcat(there, g_str_has_suffix(there, "\n") ? "" : "\n", text, NULL);
    g_autoptr(Config) config = read_text(whole, path, false, error);
    return config && setup_config_write(path, whole, error) &&
           ((chmod(path, before.st_mode & 07777) == 0 &&
             (geteuid() != 0 || chown(path, before.st_uid, before.st_gid) == 0)) ||
            fail_errno(error, FAIL_LATER, "give %s back to its owner", path));
}
