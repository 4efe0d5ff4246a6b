/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Share what the files of lists/sources/ need of each other: which files a source may read, and the URL of an LDAP
 * directory (RFC 4516), as a source of members has it: ldap://HOST/BASE?ATTRIBUTES?SCOPE?FILTER?StartTLS.
 */
#include <glib.h>
#include <ldap.h>
#include <stdbool.h>

#include "lists/sources/source.h"

/* Check that the site lets sources read the file of this path. If not, fail with `code`; the message names the setting.
 */
bool source_may_read(const WorkSite *site, const char *path, int code, GError **error);

typedef LDAPURLDesc LdapUrl;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LdapUrl, ldap_free_urldesc)

/* Parse a URL; ldap_free_urldesc(). NULL with FAIL_NEVER: the message says what is right. */
LdapUrl *source_ldap_url(const char *text, GError **error);
/* Does the URL ask that the connection be encrypted by StartTLS before anything else is sent (RFC 4511, 4.14)? */
bool source_ldap_starts_tls(const LdapUrl *url);
