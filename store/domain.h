/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Domains that lists live in. A list's domain must exist. */
#include <glib.h>
#include <stdbool.h>

#include "store/store_type.h"

typedef struct Domain {
    char *mail_host, *description, *alias_domain;
} Domain;
void domain_free(Domain *domain);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Domain, domain_free)
bool domain_create(Store *store, const char *mail_host, const char *description, GError **error);
bool domain_remove(Store *store, const char *mail_host, GError **error); /* FAIL_NEVER while it has lists */
GPtrArray *domain_all(Store *store, GError **error); /* of Domain, freed with the array */
/* Mail for alias_domain is for mail_host's lists of the same names; NULL: no alias. FAIL_EXISTS: the name is taken. */
bool domain_set_alias(Store *store, const char *mail_host, const char *alias_domain, GError **error);
bool domain_set_description(Store *store, const char *mail_host, const char *description, GError **error);
Domain *domain_find(Store *store, const char *mail_host, GError **error); /* FAIL_MISSING */
/* Is there a domain with this name, its own or its alias? One look-up by index. */
bool domain_answers(Store *store, const char *name, bool *answers, GError **error);

/* The users who own a domain. */
bool domain_add_owner(Store *store, const char *mail_host, const char *user_id, GError **error);
bool domain_clear_owners(Store *store, const char *mail_host, GError **error);
char **domain_owners(Store *store, const char *mail_host, GError **error); /* ids, in order; g_strfreev() */
/* The domains that a user owns, in order; g_strfreev(). */
char **domain_owned(Store *store, const char *user_id, GError **error);
