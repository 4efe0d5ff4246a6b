/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "cli/admin/setup_dkim.h"

#include <fcntl.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/auto.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/fs.h"
#include "cli/admin/setup_config.h"
#include "mail/domain_name.h"

#define STRING_MAX 255 /* bytes of one string of a TXT record */

char *setup_dkim_line(const DkimKey *key)
{
    g_autofree char *text = dkim_key_record(key);
    GString *line = g_string_new(NULL);
    g_string_printf(line, "%s._domainkey.%s. TXT", dkim_key_selector(key), dkim_key_domain(key));
    for (size_t at = 0, length = strlen(text); at < length; at += STRING_MAX)
        g_string_append_printf(line, " \"%.*s\"", STRING_MAX, text + at);
    return g_string_free(line, FALSE);
}

const char *setup_dkim_section(const Config *config, const char *domain)
{
    g_autofree const char **sections = config_family_sections(config, "dkim");
    for (const char **section = sections; *section; section++) {
        const char *own = config_string(config, *section, "domain");
        if (own && config_bool(config, *section, "enabled") && domain_name_within(domain, own))
            return *section;
    }
    return NULL;
}

static bool write_key(const Config *config, const char *file, GError **error)
{
    g_autofree char *above = g_path_get_dirname(file), *name = g_path_get_basename(file);
    g_autofree char *pem = dkim_key_make(error);
    if (!pem)
        return false;
    if (g_mkdir_with_parents(above, 0755) != 0)
        return fail_errno(error, FAIL_LATER, "make the directory %s", above);
    auto_fd directory = fs_open_dir(AT_FDCWD, above, false, error);
    /* Whole or not at all: the next run takes a file that is there for a key. */
    if (directory < 0 || !fs_keep_once(directory, name, 0600, pem, strlen(pem), error))
        return false;
    /* The runners read it as [site] user; where this process is not root, it is that user. */
    const struct passwd *account = getpwnam(config_string(config, "site", "user"));
    return geteuid() != 0 || !account || chown(file, account->pw_uid, account->pw_gid) == 0 ||
           fail_errno(error, FAIL_LATER, "chown %s", file);
}

/* Read the key of a section, and make its line. */
static bool read_line(const Config *config, const char *section, char **line, GError **error)
{
    const DkimKeyPlace place = {config_string(config, section, "domain"), config_string(config, section, "selector"),
                                DKIM_USE_SIGN};
    const char *file = config_string(config, section, "key_file");
    if (!file)
        return fail(error, FAIL_CONFIG, "[%s] signs nothing: it has no key_file", section);
    g_autofree char *pem = NULL;
    g_autoptr(GError) fault = NULL;
    /* Whether [site] user may read it, and nobody else, is for "config check": this may be root. */
    if (!g_file_get_contents(file, &pem, NULL, &fault))
        return fail(error, FAIL_CONFIG, "[%s] key_file: %s", section, fault->message);
    g_autoptr(DkimKey) key = dkim_key_new(&place, pem, error);
    if (!key) {
        g_prefix_error(error, "[%s] key_file: ", section);
        return false;
    }
    *line = setup_dkim_line(key);
    return true;
}

bool setup_dkim_make(const char *path, const char *domain, char **line, bool *changed, GError **error)
{
    *changed = false;
    g_autoptr(Config) config = config_load(path, true, error);
    const char *section = config ? setup_dkim_section(config, domain) : NULL;
    if (!config || section)
        return section && read_line(config, section, line, error);
    /* Named by the year, "s2026" or "s2026-2", as no other section is. The name is the selector, too. */
    time_t seconds = (time_t)(clock_now() / CLOCK_SECOND);
    struct tm parts;
    int year = gmtime_r(&seconds, &parts)->tm_year + 1900;
    g_autofree char *name = g_strdup_printf("s%d", year), *folder = g_path_get_dirname(path);
    for (int number = 2; g_strv_contains(config_family(config, "dkim"), name); number++) {
        g_free(name);
        name = g_strdup_printf("s%d-%d", year, number);
    }
    g_autofree char *file = g_strdup_printf("%s/dkim/%s-%s.pem", folder, name, domain);
    g_autofree char *text = g_strdup_printf("\n[dkim.%s]\ndomain = %s\nkey_file = %s\n", name, domain, file);
    if ((!g_file_test(file, G_FILE_TEST_EXISTS) && !write_key(config, file, error)) ||
        !setup_config_append(path, text, error))
        return false;
    *changed = true;
    g_autoptr(Config) now = config_load(path, true, error);
    g_autofree char *made = g_strconcat("dkim.", name, NULL);
    return now && read_line(now, made, line, error);
}
