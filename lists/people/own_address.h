/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Keep people from having an address that is one of ours. An address is ours when mail to it comes to a list of this
 * site or to one of the list's sub-addresses, also with a detail behind ("talk-owner+1@"). The case of
 * letters, alias domains, a domain in Unicode or in ASCII, and a dot at its end make no difference. A person at such an
 * address would get mail of a list by way of a list, and so mail begins to go round. README.md says who may have one
 * nevertheless.
 */
#include <glib.h>
#include <stdbool.h>

#include "lists/work.h"
#include "mail/list_address.h"
#include "store/people/member.h"

/* Find the list and sub-address that an address belongs to; *found is NULL when it is none of ours.
 * list_address_free(). False: the store failed. */
bool own_address_find(const Work *work, const char *address, ListAddress **found, GError **error);

/* Ask whether an address may have a role on a list: *why (g_free()) is a sentence that says why not; NULL: it may. A
 * nonmember may always. A member may be the posting address of another list. False: the store failed. */
bool own_address_bars(const Work *work, const char *list_id, Role role, const char *address, char **why,
                      GError **error);

/* Check that an address may have a role on a list. FAIL_NEVER, with the sentence of own_address_bars(): it may not. */
bool own_address_check(const Work *work, const char *list_id, Role role, const char *address, GError **error);

/* Check that a person may have the address. FAIL_NEVER: it is one of ours. */
bool own_address_check_person(const Work *work, const char *address, GError **error);

/* Ask whether mail for the people who run the site ([site] site_owner) would come to a list: *list_id is that list,
 * else NULL. g_free() */
bool own_address_site_owner(const Work *work, char **list_id, GError **error);
/* Check a list that was made or renamed, after that and in the same transaction. FAIL_NEVER: mail for a person who runs
 * the site or any list would come to this list from now on. */
bool own_address_check_new(const Work *work, const char *list_id, GError **error);
/* Check a domain that was made the alias of another, after that and in the same transaction. FAIL_NEVER: mail for
 * somebody who runs a list would come to a list by way of this alias. */
bool own_address_check_alias(const Work *work, const char *alias, GError **error);

/* Return the domains of the site and their aliases, for own_address_may_be(); g_hash_table_unref(). NULL: the store
 * failed. */
GHashTable *own_address_domains(Store *store, GError **error);
/* Rule out, without the store, that an address is ours. Returns false when it is in none of these domains; true means
 * that own_address_find() has to be asked. */
bool own_address_may_be(GHashTable *domains, const char *address);
