/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include "base/config_check.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/config_internal.h"
#include "base/secret.h"

static const ConfigValue *find_value(const ConfigCheck *check, const char *section_name, const char *key)
{
    const ConfigSection *section = config_section(check->config, section_name);
    return section ? config_section_value(section, key) : NULL;
}

void config_complain(const ConfigCheck *check, const char *section_name, const char *key, const char *format, ...)
{
    const ConfigSection *section = config_section(check->config, section_name);
    const ConfigValue *value = find_value(check, section_name, key);
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *text = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    config_fault(check->faults, value && value->line > 0 ? value->line : section ? section->line : 0, section_name, key,
                 "%s", text);
}

const ConfigValue *config_usable(const ConfigCheck *check, const char *section, const char *key)
{
    const ConfigValue *value = find_value(check, section, key);
    return value && value->text && !value->bad ? value : NULL;
}

bool config_given(const ConfigCheck *check, const char *section, const char *key)
{
    const ConfigValue *value = find_value(check, section, key);
    return value && value->line > 0;
}

bool config_unset(const ConfigCheck *check, const char *section, const char *key)
{
    const ConfigValue *value = find_value(check, section, key);
    return !value || !value->text;
}

bool config_is_built_in(const char *section)
{
    const ConfigMember *member;
    for (unsigned i = 0; (member = config_member(i)); i++)
        if (g_str_equal(member->section, section))
            return true;
    return false;
}

void config_check_order(const ConfigCheck *check, const char *section, const char *low, const char *high)
{
    const ConfigValue *below = config_usable(check, section, low);
    const ConfigValue *above = config_usable(check, section, high);
    if (!below || !above || below->number <= above->number)
        return;
    const ConfigValue *culprit = below->line > above->line ? below : above;
    const ConfigValue *other = culprit == below ? above : below;
    config_complain(check, section, culprit->name, "found %s; allowed is %s %s = %s", culprit->text,
                    culprit == below ? "at most" : "at least", other->name, other->text);
}

bool config_check_directory(const ConfigCheck *check, const char *section, const char *key, const char *path)
{
    struct stat status;
    errno = 0;
    if (stat(path, &status) == 0 && S_ISDIR(status.st_mode))
        return true;
    config_complain(check, section, key, "found %s: %s; allowed is a directory that exists", path,
                    errno == ENOENT ? "no such directory" : errno ? g_strerror(errno) : "not a directory");
    return false;
}

void config_check_no_file(const ConfigCheck *check, const char *section, const char *key)
{
    const ConfigValue *value = config_usable(check, section, key);
    struct stat status;
    if (value && stat(value->text, &status) == 0 && !S_ISDIR(status.st_mode))
        config_complain(check, section, key, "found %s: not a directory; allowed is a directory", value->text);
}

bool config_check_file(const ConfigCheck *check, const char *section, const char *key, struct stat *status)
{
    const ConfigValue *value = config_usable(check, section, key);
    if (!value)
        return false;
    if (stat(value->text, status) == 0)
        return true;
    if (errno != EACCES)
        config_complain(check, section, key, "found %s: %s; allowed is a file that exists", value->text,
                        errno == ENOENT ? "no such file" : g_strerror(errno));
    return false;
}

char *config_secret_fault(const Config *config, const char *path)
{
    struct stat status;
    const char *user = config_string(config, "site", "user");
    const struct passwd *account = user ? getpwnam(user) : NULL;
    if (stat(path, &status) != 0)
        return NULL;
    /* A caller who is not root is judged by its own id where it owns the file. */
    if (!account || (geteuid() != 0 && status.st_uid == geteuid()))
        return secret_file_fault(path, &status, geteuid(), getegid());
    return secret_file_fault(path, &status, account->pw_uid, account->pw_gid);
}

void config_check_secret(const ConfigCheck *check, const char *section, const char *key)
{
    const ConfigValue *value = check->offline ? NULL : config_usable(check, section, key);
    g_autofree char *fault = value && value->text ? config_secret_fault(check->config, value->text) : NULL;
    if (fault)
        config_complain(check, section, key, "%s", fault);
}

void config_doubt_file(const Config *config, const char *section, const char *key, GString *lines)
{
    struct stat status;
    const char *path = config_string(config, section, key);
    if (path && stat(path, &status) != 0 && (errno == ENOENT || errno == ENOTDIR))
        g_string_append_printf(lines, "%s[%s] %s: there is no %s", lines->len ? "\n" : "", section, key, path);
}

void config_check_program(const ConfigCheck *check, const char *section, const char *key, const char *path)
{
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode) || access(path, X_OK) != 0)
        config_complain(check, section, key, "found %s, which is no program; allowed is an executable file", path);
}

/* ---- forms of values ---- */

bool config_port_valid(const char *text)
{
    size_t digits = strspn(text, "0123456789");
    long port = digits > 0 && digits <= 5 && !text[digits] ? strtol(text, NULL, 10) : 0;
    return port >= 1 && port <= 65535;
}

bool config_address_valid(const char *text)
{
    struct in6_addr address;
    return inet_pton(AF_INET, text, &address) == 1 || inet_pton(AF_INET6, text, &address) == 1;
}

bool config_host_valid(const char *host)
{
    static const char characters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
    bool number = host[strspn(host, "0123456789.")] == '\0';
    return number ? config_address_valid(host)
                  : strspn(host, characters) == strlen(host) && *host != '.' && *host != '-' && !strstr(host, "..");
}

bool config_socket_path_valid(const char *path)
{
    return *path == '/' && strlen(path) < sizeof((struct sockaddr_un *)NULL)->sun_path;
}

bool config_endpoint_valid(const char *word)
{
    if (g_str_has_prefix(word, "unix:"))
        return config_socket_path_valid(word + 5);
    const char *colon = strrchr(word, ':');
    if (!colon || colon == word || !config_port_valid(colon + 1))
        return false;
    g_autofree char *host = g_strndup(word, (size_t)(colon - word));
    if (*host != '[')
        return config_host_valid(host);
    size_t length = strlen(host);
    if (host[length - 1] != ']')
        return false;
    host[length - 1] = '\0';
    return strchr(host, ':') && config_address_valid(host + 1);
}

const char *config_unresolved(const char *host, int flags)
{
    const struct addrinfo hints = {.ai_flags = flags, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    int result = getaddrinfo(host, NULL, &hints, &found);
    if (result == 0)
        freeaddrinfo(found);
    return result == 0 ? NULL : gai_strerror(result);
}

char *conninfo_value(const char *where, const char *name)
{
    static const char blanks[] = " \t\n\r\f";
    char *value = NULL;
    if (g_str_has_prefix(where, "postgresql://") || g_str_has_prefix(where, "postgres://")) {
        const char *query = strchr(where, '?');
        g_auto(GStrv) pairs = g_strsplit(query ? query + 1 : "", "&", -1);
        for (char **pair = pairs; *pair; pair++) {
            size_t length = strcspn(*pair, "=");
            if (!(*pair)[length] || length != strlen(name) || memcmp(*pair, name, length) != 0)
                continue;
            g_free(value);
            value = g_uri_unescape_string(*pair + length + 1, NULL);
        }
        return value;
    }
    for (const char *at = where + strspn(where, blanks); *at; at += strspn(at, blanks)) {
        const char *word = at;
        size_t length = strcspn(word, "= \t\n\r\f");
        at += length;
        at += strspn(at, blanks);
        if (*at != '=')
            break;
        at++;
        at += strspn(at, blanks);
        /* The value may stand in quotation marks and have backslashes. */
        g_autoptr(GString) found = g_string_new(NULL);
        bool quoted = *at == '\'';
        for (at += quoted; *at && (quoted ? *at != '\'' : !strchr(blanks, *at)); at++) {
            if (*at == '\\' && at[1])
                at++;
            g_string_append_c(found, *at);
        }
        at += quoted && *at;
        if (length == strlen(name) && memcmp(word, name, length) == 0) {
            g_free(value);
            value = g_strdup(found->str);
        }
    }
    return value;
}
