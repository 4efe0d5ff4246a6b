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

/* Find what an address means here; *found is NULL when it is none of ours. list_address_free(). */
bool own_address_find(const Work *work, const char *address, ListAddress **found, GError **error);

/* Ask whether an address may have a role on a list: *why is a sentence when not, else NULL. g_free() */
bool own_address_bars(const Work *work, const char *list_id, Role role, const char *address, char **why,
                      GError **error);

/* The same, where the refusal is an error: FAIL_NEVER with the sentence. */
bool own_address_check(const Work *work, const char *list_id, Role role, const char *address, GError **error);

/* Fail with FAIL_NEVER when the address is one of ours: a person cannot have it. */
bool own_address_check_person(const Work *work, const char *address, GError **error);

/* Ask whether mail for the people who run the site ([site] site_owner) would come to a list: *list_id is that list,
 * else NULL. g_free() */
bool own_address_site_owner(const Work *work, char **list_id, GError **error);
/* Fail with FAIL_NEVER when it would come to this one, which is being made or renamed, and so would mail for somebody
 * who runs a list already. */
bool own_address_check_new(const Work *work, const char *list_id, GError **error);
/* Fail with FAIL_NEVER when mail for somebody who runs a list comes to a list by way of this domain, which has become
 * the alias of another. */
bool own_address_check_alias(const Work *work, const char *alias, GError **error);

/* The domains of the site and their aliases, for who asks about very many addresses; g_hash_table_unref(). */
GHashTable *own_address_domains(Store *store, GError **error);
/* False: the address is not in one of them, so it is none of ours. */
bool own_address_may_be(GHashTable *domains, const char *address);
