/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Make, rename, copy and remove lists. All changes, letters and events belong to the unit of work (lists/work.h). */
#include <glib.h>
#include <stdbool.h>

#include "lists/work.h"
#include "store/lists/list.h"

/* The list to be made. Strings are borrowed. */
typedef struct NewList {
    const char *address;
    const char *style;         /* lists/making/style.h; NULL: discussion */
    const char *const *owners; /* addresses; NULL: none */
    bool make_domain;          /* make the domain of the address if the site does not have it, and */
    bool near_domain;          /* also where the name differs from a domain of the site by two letters at most */
    bool notify;               /* the owners get a letter about the new list */
} NewList;

/* Make the list, and return it; list_free(). NULL with error: it was not made. FAIL_NEVER: the address cannot be a
 * list's or is one of another list's own (list_name_is_free()), or with make_domain: its domain is the alias of
 * another, or near to one without near_domain; or an owner's address is not valid, or there is no such style.
 * FAIL_EXISTS: there is a list with that address or List-Id. FAIL_MISSING: its domain is not known. */
List *list_make(Work *work, const NewList *new, GError **error);

/* Remove the list with all that the store has of it. Incomplete messages for it that wait on this host go to the queue
 * shunt. Authors of posts that were to be sent at a later time are told. FAIL_MISSING: there is no such list. */
bool list_drop(Work *work, const char *list_id, GError **error);

/* Give the list another posting address. Its List-Id stays, and with it archives, held posts, what is in queues, and
 * the bounces and links of mails that were sent; mail to the address that the List-Id was made of goes on reaching it.
 * FAIL_EXISTS: another list has that address; FAIL_MISSING: no such list or domain; FAIL_NEVER: it can be no list's
 * address, or is a sub-address of another list. */
bool list_move(Work *work, const char *list_id, const char *address, GError **error);

/* Make a new list at `address` with the settings, topics, owners, moderators, bans, header matches
 * (store/lists/header_match.h) and texts of letters (store/lists/template_text.h) of `from`. With members true, it gets
 * the members and nonmembers too. Whoever may not be on the new list, since its own addresses must not be, is logged
 * and left out. Posts, requests, archives and bounces stay with `from` alone. Return the new list; list_free(). NULL:
 * the errors of list_make(). */
List *list_copy(Work *work, const List *from, const char *address, bool members, GError **error);

/* How many things of each kind would be removed together with a list. */
typedef struct ListContents {
    int64_t members, owners; /* owners includes moderators */
    int64_t held, requests;
    int64_t scheduled;    /* posts that are to be sent at a time */
    int64_t digest_posts; /* that wait for the digest */
    int64_t sets, parts;  /* incomplete messages on this host, and their parts */
} ListContents;
/* Count the things of a list, and remove nothing. hostname is this host's, of which sets and parts are counted. */
bool list_contents(Store *store, const List *list, const char *hostname, ListContents *contents, GError **error);

/* Check that a new list can have this posting address. FAIL_NEVER: mail to the address is for a sub-address of another
 * list (talk-owner@ beside talk@), or the new list would have a sub-address that is a list already; the message says
 * which. A list's sub-addresses are the suffixes of mail/list_address.h, alone and with something behind delimiter
 * ([lmtp] verp_delimiter). A text that is no address returns true, for list_create() refuses it. Call it in the
 * transaction that makes the list. */
bool list_name_is_free(Store *store, const char *posting_address, char delimiter, GError **error);
