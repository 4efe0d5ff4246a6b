/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Is an address one of ours? It is when mail to it comes to a list of this site: to the list itself or to one of its
 * sub-addresses, with a detail behind ("talk-owner+1@"), in any case, in an alias domain, the domain written in Unicode
 * or in ASCII, with a dot at its end or without. A person at such an address would get mail of a list by way of a list,
 * and mail that goes round begins so. README.md says who may have one nevertheless.
 */
#include <glib.h>
#include <stdbool.h>

#include "lists/work.h"
#include "mail/list_address.h"
#include "store/member.h"

/* Find the list and sub-address that an address belongs to; *found is NULL when it is none of ours.
 * list_address_free(). False: the store failed. */
bool own_address_find(const Work *work, const char *address, ListAddress **found, GError **error);

/* Ask whether an address may have a role on a list: *why (g_free()) is a sentence that says why not; NULL: it may. A
 * nonmember may always. A member may be the posting address of another list. False: the store failed. */
bool own_address_bars(const Work *work, const char *list_id, Role role, const char *address, char **why,
                      GError **error);

/* Fail with FAIL_NEVER and the sentence of own_address_bars() when the address may not have the role. */
bool own_address_check(const Work *work, const char *list_id, Role role, const char *address, GError **error);

/* Fail with FAIL_NEVER when the address is one of ours: a person cannot have it. */
bool own_address_check_person(const Work *work, const char *address, GError **error);

/* Ask whether mail for the people who run the site ([site] site_owner) would come to a list: *list_id is that list,
 * else NULL. g_free() */
bool own_address_site_owner(const Work *work, char **list_id, GError **error);
/* Call it when a list was made or renamed, in the same transaction. Fail with FAIL_NEVER when mail for the people who
 * run the site, or for an owner or moderator of any list, would come to this list from now on. */
bool own_address_check_new(const Work *work, const char *list_id, GError **error);
/* Fail with FAIL_NEVER when mail for somebody who runs a list comes to a list by way of this domain, which has become
 * the alias of another. */
bool own_address_check_alias(const Work *work, const char *alias, GError **error);

/* Return the domains of the site and their aliases, for own_address_may_be(); g_hash_table_unref(). NULL: the store
 * failed. */
GHashTable *own_address_domains(Store *store, GError **error);
/* Rule out, without the store, that an address is ours. Returns false when it is in none of these domains; true means
 * that own_address_find() has to be asked. */
bool own_address_may_be(GHashTable *domains, const char *address);
