/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Find the list that an envelope recipient means, and which of its addresses (posting, owner, bounces and so on). The
 * store is asked through a small cache, so that a busy site costs no query for each recipient. The runners lmtp and
 * mta share this, so that they give the same answers. The cache is dropped as soon as another process wrote to the
 * database.
 *
 * Call lists_keep() once before the questions of a request. A database that cannot be used, or not with this spool
 * (lists/hosts/this_host.h), does not end the process: each question fails with FAIL_LATER, and once a second
 * lists_keep() opens it anew. While the server of a database is away, lists that were asked for before are still found,
 * as they were then.
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

/* Open the database where it is not open (lists/hosts/seat.h). The log is told once why it, or the spool, cannot be
 * opened, and once more when this host may not use it. */
void lists_keep(Lists *lists);

/* Return the list and kind of address that a mailbox means; the caller frees it. Where no list has the name, it may be
 * one of [site] role_addresses at a domain of lists: then it means the people who run the site (LIST_ADDRESS_SITE,
 * list_id ""). No role address is found if site_owner, who gets that mail, is one itself: the mail would come back for
 * ever. FAIL_MISSING: nobody answers to the address. FAIL_LATER: the database cannot be used now. */
ListAddress *lists_find(Lists *lists, const char *mailbox, GError **error);
/* Return whether mail to an address that was found is taken. Requests (join, leave and the like) are not, where no
 * runner works the queue command. */
bool lists_takes(const Lists *lists, const ListAddress *address);
/* Set *most to the bytes that a mail to an address that was found may have; a larger one is to be refused at the door.
 * 0: the list has no such limit, or the address is not for posts. False, with FAIL_LATER: the database cannot be
 * used. */
bool lists_size_limit(Lists *lists, const ListAddress *address, uint64_t *most, GError **error);
/* Set *has: is the name a mail domain of the site, or the alias of one? False, with FAIL_LATER: the database cannot be
 * used. */
bool lists_has_domain(Lists *lists, const char *domain, bool *has, GError **error);

/* Return the database, for further questions, borrowed until the next call of a function here. NULL, with FAIL_LATER:
 * the database cannot be used. */
Store *lists_store(const Lists *lists, GError **error);
/* Call it when a question to the database of lists_store() failed. The error stays the caller's, and its code becomes
 * FAIL_LATER. The error is logged, and the database is opened anew by the next lists_keep(). Where the server of the
 * database is away, neither is done: the connection comes back by itself. */
void lists_give_up(Lists *lists, GError *why);
