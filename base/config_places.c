/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
/* Whether the files, directories and hosts that values name are there, and are what they should be. */
#include <errno.h>
#include <netdb.h>
#include <pwd.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/config_internal.h"

typedef void SectionCheck(const ConfigCheck *check, const char *section);

static void each_member(const ConfigCheck *check, const char *family, SectionCheck *look)
{
    for (unsigned i = 0; i < check->config->sections->len; i++) {
        const ConfigSection *section = check->config->sections->pdata[i];
        if (g_str_has_prefix(section->name, family))
            look(check, section->name);
    }
}

/* False when it is not there, which is told. What may not be looked at by who asks is not told: it may be right. */
static bool look_at(const ConfigCheck *check, const char *section, const ConfigValue *value, struct stat *status)
{
    if (stat(value->text, status) == 0)
        return true;
    if (errno != EACCES)
        COMPLAIN(check, section, value, "found %s: %s; allowed is a file that exists", value->text,
                 errno == ENOENT ? "no such file" : g_strerror(errno));
    return false;
}

/* For directories that are made when they are missing: another kind of file in their place. */
static void check_no_file(const ConfigCheck *check, const char *section, const ConfigValue *value)
{
    struct stat status;
    if (value && stat(value->text, &status) == 0 && !S_ISDIR(status.st_mode))
        COMPLAIN(check, section, value, "found %s: not a directory; allowed is a directory", value->text);
}

/* ---- passwords and certificates ---- */

/* Can the runners read it, whose user is that of [site]? Asked by root the owner tells, asked by others also whether
 * they can read it themselves. */
static void check_owner(const ConfigCheck *check, const char *section, const ConfigValue *file, uid_t owner)
{
    const ConfigValue *user = config_usable(check, "site", "user");
    const struct passwd *account = user ? getpwnam(user->text) : NULL;
    if (!account || account->pw_uid == owner || (geteuid() != 0 && access(file->text, R_OK) == 0))
        return;
    COMPLAIN(check, section, file, "found %s, which the user %s cannot read; allowed is a file of that user "
             "(chown %s %s)", file->text, user->text, user->text, file->text);
}

static void check_password_file(const ConfigCheck *check, const char *section)
{
    const ConfigValue *file = config_usable(check, section, "auth_password_file");
    struct stat status;
    if (!file || !look_at(check, section, file, &status))
        return;
    if (!S_ISREG(status.st_mode))
        COMPLAIN(check, section, file, "found %s, which is no file; allowed is a file whose first line is the password",
                 file->text);
    else if (status.st_mode & (S_IRWXG | S_IRWXO))
        COMPLAIN(check, section, file, "found %s, which others than its owner can read or write (mode %03o); allowed "
                 "is mode 600 (chmod 600 %s)", file->text, (unsigned)status.st_mode & 0777, file->text);
    else
        check_owner(check, section, file, status.st_uid);
}

static void check_certificates(const ConfigCheck *check, const char *section)
{
    const ConfigValue *file = config_usable(check, section, "tls_ca_file");
    struct stat status;
    if (!file || !look_at(check, section, file, &status))
        return;
    g_autoptr(GError) error = NULL;
    g_autofree char *text = NULL;
    if (!g_file_get_contents(file->text, &text, NULL, &error))
        COMPLAIN(check, section, file, "found %s, which cannot be read (%s); allowed is a file of certificates in PEM",
                 file->text, error->message);
    else if (!strstr(text, "-----BEGIN "))
        COMPLAIN(check, section, file, "found %s, which holds no certificate; allowed is a file of certificates in PEM",
                 file->text);
}

static void check_transport(const ConfigCheck *check, const char *section)
{
    check_password_file(check, section);
    check_certificates(check, section);
}

/* ---- archivers and texts ---- */

static void check_archiver(const ConfigCheck *check, const char *section)
{
    const ConfigValue *enabled = config_usable(check, section, "enabled");
    const ConfigValue *command = config_usable(check, section, "command");
    g_auto(GStrv) words = NULL;
    struct stat status;
    if (!enabled || !enabled->number)
        return;
    check_no_file(check, section, config_usable(check, section, "path"));
    if (command && g_shell_parse_argv(command->text, NULL, &words, NULL) && *words[0] == '/' &&
        (stat(words[0], &status) != 0 || !S_ISREG(status.st_mode) || access(words[0], X_OK) != 0))
        COMPLAIN(check, section, command, "found %s, which is no program; allowed is an executable file", words[0]);
}

static void check_templates(const ConfigCheck *check)
{
    const ConfigValue *folder = config_usable(check, "site", "template_directory");
    if (folder && folder->line > 0)
        config_check_directory(check, "site", folder, folder->text);
}

/* ---- sockets and hosts ---- */

/* Why a name has no address now; NULL: it has one. */
static const char *unresolved(const char *host, int flags)
{
    const struct addrinfo hints = {.ai_flags = flags, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    int result = getaddrinfo(host, NULL, &hints, &found);
    if (result == 0)
        freeaddrinfo(found);
    return result == 0 ? NULL : gai_strerror(result);
}

/* The directory of a socket must be there, unless it is the one that the master makes. */
static void check_socket_path(const ConfigCheck *check, const char *section, const ConfigValue *listen,
                              const char *path)
{
    const ConfigValue *runtime = config_usable(check, "master", "runtime_directory");
    g_autofree char *above = g_path_get_dirname(path);
    struct stat status;
    if ((!runtime || strcmp(above, runtime->text) != 0) && stat(above, &status) != 0 && errno != EACCES)
        COMPLAIN(check, section, listen, "found \"unix:%s\", but there is no directory %s; allowed is a path in one "
                 "that exists", path, above);
}

static void check_listen(const ConfigCheck *check, const char *section)
{
    const ConfigValue *listen = config_usable(check, section, "listen");
    const ConfigValue *start = config_usable(check, section, "start");
    for (char **word = listen && start && start->number ? listen->words : NULL; word && *word; word++) {
        const char *colon = strrchr(*word, ':');
        if (g_str_has_prefix(*word, "unix:/"))
            check_socket_path(check, section, listen, *word + 5);
        if (!colon || colon == *word || **word == '[' || **word == '*' || g_str_has_prefix(*word, "unix:"))
            continue;
        g_autofree char *host = g_strndup(*word, (size_t)(colon - *word));
        const char *why = unresolved(host, AI_PASSIVE);
        if (why)
            COMPLAIN(check, section, listen, "found \"%s\", but %s has no address (%s); allowed is a name or an "
                     "address of this host, or * for all of them", *word, host, why);
    }
}

void config_check_places(const ConfigCheck *check)
{
    check_templates(check);
    check_no_file(check, "master", config_usable(check, "master", "runtime_directory"));
    each_member(check, "runner.", check_listen);
    each_member(check, "transport.", check_transport);
    each_member(check, "archiver.", check_archiver);
}

char *config_doubts(const Config *config)
{
    g_autoptr(GString) lines = g_string_new(NULL);
    for (const char *const *name = config_family(config, "transport"); *name; name++) {
        g_autofree char *section = g_strconcat("transport.", *name, NULL);
        const char *host = config_string(config, section, "host");
        bool named = !g_str_equal(config_string(config, section, "type"), "mx") && !g_str_has_prefix(host, "unix:");
        const char *why = named ? unresolved(host, 0) : NULL;
        if (why)
            g_string_append_printf(lines, "%s[%s] host: %s has no address now (%s); mail waits until it has one",
                                   lines->len ? "\n" : "", section, host, why);
    }
    return lines->len > 0 ? g_string_free(g_steal_pointer(&lines), FALSE) : NULL;
}
