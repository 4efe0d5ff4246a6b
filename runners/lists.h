/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Which list, and what of it, an envelope recipient means: the store asked through a small cache, so that a busy site
 * costs no query for each recipient. The runners lmtp and mta share it, so that they give one answer. What is cached is
 * dropped as soon as another process wrote to the database.
 *
 * A database that cannot be used, or not with this spool (lists/this_host.h), does not end the process: each look-up
 * fails with FAIL_LATER, and once a second it is opened anew. While the server of a database is away, lists that were
 * asked for before are still found, as they were then.
 */
#include <glib.h>
#include <stdbool.h>

#include "base/config.h"
#include "mail/list_address.h"
#include "store/store.h"

typedef struct Lists Lists;

/* config is borrowed. */
Lists *lists_new(const Config *config);
void lists_free(Lists *lists);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Lists, lists_free)

/* The list, or, where no list has the name, the people who run the site (LIST_ADDRESS_SITE, list_id ""): one of [site]
 * role_addresses at a domain of lists. None of these is found where site_owner, who gets their mail, is one of them:
 * the mail would come back here for ever. FAIL_MISSING: nobody answers to the address. FAIL_LATER: it cannot be
 * told. */
ListAddress *lists_find(Lists *lists, const char *mailbox, GError **error);
/* Whether mail to an address that was found is taken: requests are not where nobody works the queue command. */
bool lists_takes(const Lists *lists, const ListAddress *address);
/* How many bytes a post to an address that was found may have at the door: above what its list holds for a moderator,
 * it is refused. 0: the list has no limit there, or the address is not for posts. FAIL_LATER. */
bool lists_size_limit(Lists *lists, const ListAddress *address, uint64_t *most, GError **error);
/* Is it a domain of lists, or the alias of one? */
bool lists_has_domain(Lists *lists, const char *domain, bool *has, GError **error);

/* The database, for further questions, borrowed until the next call; NULL with FAIL_LATER. */
Store *lists_store(Lists *lists, GError **error);
/* A question to it failed: logs why, takes a new connection for the next one, and makes it FAIL_LATER. */
void lists_give_up(Lists *lists, GError *why);
