/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Domains are made, changed and removed. The files of addresses for the MTA are written anew afterwards
 * (lists/mta_maps.h). FAIL_MISSING: there is no such domain.
 */
#include <glib.h>
#include <stdbool.h>

#include "lists/work.h"

/* The data of a domain. NULL means that there is none, or that it stays as it is. Strings are borrowed. */
typedef struct DomainData {
    const char *description;
    const char *alias;         /* mail to that domain reaches the lists of this one; "": to none */
    const char *const *owners; /* all of them: ids or addresses of users; who has an address of nobody is made a user */
} DomainData;

/* Make it. FAIL_EXISTS: there is one, or it is another's alias. FAIL_NEVER: it can be no domain, or as domain_change()
 * says. */
bool domain_make(Work *work, const char *mail_host, const DomainData *data, GError **error);

/* Change what is not NULL. FAIL_EXISTS: the alias is taken. FAIL_NEVER: it can be no domain, or an owner or moderator
 * of a list has an address there that becomes a list's; or an owner would have an address of a list. */
bool domain_change(Work *work, const char *mail_host, const DomainData *data, GError **error);

/* Add owners to those that it has. */
bool domain_make_owners(Work *work, const char *mail_host, const char *const *owners, GError **error);

/* Remove it; with its lists, else FAIL_NEVER where it has some. */
bool domain_drop(Work *work, const char *mail_host, bool with_lists, GError **error);
