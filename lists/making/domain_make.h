/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Make, change and remove mail domains of the site, and their owners. A change belongs to the unit of work
 * (lists/work.h). After its commit the files of addresses for the MTA are written anew (lists/making/mta_maps.h).
 * FAIL_MISSING: there is no such domain.
 */
#include <glib.h>
#include <stdbool.h>

#include "lists/work.h"

/* The data of a domain. A member that is NULL is none for domain_make(), and stays as it is for domain_change(). All is
 * borrowed. */
typedef struct DomainData {
    const char *description;
    const char *alias;         /* mail to that domain reaches the lists of this one; "": to none */
    const char *const *owners; /* all of them, as ids or addresses of users; a user is made for an unknown address */
} DomainData;

/* Make a domain. FAIL_EXISTS: the site has it already, also as an alias. FAIL_NEVER: the name is not valid as a domain,
 * or as domain_change() says. */
bool domain_make(Work *work, const char *mail_host, const DomainData *data, GError **error);

/* Set *near to the domain or alias of the site that the name differs from by two letters at most, so that it may be a
 * slip of it; g_free(). *near is NULL: there is none, or the site has a domain or an alias of this name. */
bool domain_near(Store *store, const char *mail_host, char **near, GError **error);

/* Change the data that is not NULL. FAIL_EXISTS: the alias is taken. FAIL_NEVER: the alias can be no domain, or by way
 * of it mail for somebody who runs a list would come to a list; or the address of a new owner is not valid, or is one
 * of a list (lists/people/own_address.h). */
bool domain_change(Work *work, const char *mail_host, const DomainData *data, GError **error);

/* Add owners, as DomainData.owners, to those that the domain has. FAIL_NEVER: as domain_change() for an owner. */
bool domain_make_owners(Work *work, const char *mail_host, const char *const *owners, GError **error);

/* Remove the domain; its lists too if with_lists. FAIL_NEVER: it has lists, and with_lists is false. */
bool domain_drop(Work *work, const char *mail_host, bool with_lists, GError **error);
