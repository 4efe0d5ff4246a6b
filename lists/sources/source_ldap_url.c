/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#include <string.h>

#include "base/fail.h"
#include "lists/sources/source_ldap.h"
#include "lists/sources/source_read.h"

/* The extension by its names, also where "!" says that the client has to know it. */
static bool is_start_tls(const char *extension)
{
    const char *name = extension + (*extension == '!');
    return g_ascii_strcasecmp(name, "StartTLS") == 0 || g_ascii_strcasecmp(name, "X-StartTLS") == 0 ||
           strcmp(name, LDAP_EXOP_START_TLS) == 0;
}

bool source_ldap_starts_tls(const LdapUrl *url)
{
    return url->lud_exts && url->lud_exts[0] && is_start_tls(url->lud_exts[0]);
}

LdapUrl *source_ldap_url(const char *text, GError **error)
{
    LDAPURLDesc *parsed = NULL;
    const char *host = strstr(text, "://");
    if (host && memchr(host, '@', strcspn(host + 3, "/?#") + 3)) {
        fail(error, FAIL_NEVER,
             "the URL holds a user: give that by --user, and the password by "
             "--password-file");
        return NULL;
    }
    int code = ldap_url_parse(text, &parsed);
    g_autoptr(LdapUrl) url = parsed;
    if (code != LDAP_URL_SUCCESS || !url->lud_scheme ||
        (!g_str_equal(url->lud_scheme, "ldap") && !g_str_equal(url->lud_scheme, "ldaps")))
        fail(error, FAIL_NEVER,
             "\"%s\" is no URL of a directory; right is "
             "ldaps://HOST/BASE?ATTRIBUTES?SCOPE?FILTER, such as "
             "ldaps://ldap.example.com/ou=people,dc=example,dc=com?mail,cn?sub?(objectClass=person)",
             text);
    else if (!url->lud_host || !*url->lud_host)
        fail(error, FAIL_NEVER, "\"%s\" names no host", text);
    else if (url->lud_exts && url->lud_exts[0] && (!is_start_tls(url->lud_exts[0]) || url->lud_exts[1]))
        fail(error, FAIL_NEVER, "\"%s\" has an extension (%s), and StartTLS alone is known; leave it out", text,
             url->lud_exts[url->lud_exts[1] != NULL]);
    else if (source_ldap_starts_tls(url) && g_str_equal(url->lud_scheme, "ldaps"))
        fail(error, FAIL_NEVER, "\"%s\" begins with ldaps://, which is TLS from the start: leave StartTLS out", text);
    else if (url->lud_attrs && url->lud_attrs[0] && url->lud_attrs[1] && url->lud_attrs[2])
        fail(error, FAIL_NEVER,
             "\"%s\" names more than two attributes; right is the one with the address, and then "
             "the one with the name",
             text);
    else
        return g_steal_pointer(&url);
    return NULL;
}

bool source_check_ldap(const char *text, GError **error)
{
    g_autoptr(LdapUrl) url = source_ldap_url(text, error);
    return url != NULL;
}
