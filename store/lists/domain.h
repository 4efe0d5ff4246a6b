/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Make, change and find the domains of lists' posting addresses. A list is made only in a domain that exists. Names of
 * domains are taken in any case, and kept in lower case. FAIL_MISSING: there is no such domain.
 */
#include <glib.h>
#include <stdbool.h>

#include "store/store_type.h"

typedef struct Domain {
    char *mail_host, *description;
    char *alias_domain; /* NULL: none */
} Domain;
void domain_free(Domain *domain);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Domain, domain_free)
/* Make a domain; description may be NULL. FAIL_EXISTS: the name is a domain or an alias already. FAIL_NEVER: it is no
 * name of ASCII letters, digits, "-" and at least one dot to which mail can be sent, or a list of it could get the
 * List-Id that a list of another domain has. */
bool domain_create(Store *store, const char *mail_host, const char *description, GError **error);
bool domain_remove(Store *store, const char *mail_host, GError **error); /* FAIL_NEVER while it has lists */
GPtrArray *domain_all(Store *store, GError **error); /* of Domain, by name; freed with the array */
/* Give mail_host an alias in place of its earlier one: mail for alias_domain is then for mail_host's lists of the same
 * names. NULL removes the alias. FAIL_EXISTS: the name is a domain or an alias already. */
bool domain_set_alias(Store *store, const char *mail_host, const char *alias_domain, GError **error);
bool domain_set_description(Store *store, const char *mail_host, const char *description, GError **error);
Domain *domain_find(Store *store, const char *mail_host, GError **error); /* not by its alias; domain_free() */
/* Set *answers: is name a domain, or the alias of one? */
bool domain_answers(Store *store, const char *name, bool *answers, GError **error);

/* Make a user an owner of the domain; one who owns it already stays so. FAIL_MISSING also for text that is no id. */
bool domain_add_owner(Store *store, const char *mail_host, const char *user_id, GError **error);
/* Remove all owners of the domain; the users stay. */
bool domain_clear_owners(Store *store, const char *mail_host, GError **error);
char **domain_owners(Store *store, const char *mail_host, GError **error); /* users' ids, in order; g_strfreev() */
/* Return the names of the domains that a user owns, in order; g_strfreev(). */
char **domain_owned(Store *store, const char *user_id, GError **error);
