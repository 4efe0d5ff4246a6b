/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * URLs of directories (RFC 4516), as sources have them: ldap://HOST/BASE?ATTRIBUTES?SCOPE?FILTER?StartTLS. For the
 * files lists/source*.c.
 */
#include <glib.h>
#include <ldap.h>
#include <stdbool.h>

typedef LDAPURLDesc LdapUrl;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LdapUrl, ldap_free_urldesc)

/* NULL: FAIL_NEVER, and the message says what is right. */
LdapUrl *source_ldap_url(const char *text, GError **error);
/* Is the connection to be encrypted before anything is said on it (RFC 4511, 4.14)? */
bool source_ldap_starts_tls(const LdapUrl *url);
