/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* Give a list another address, copy it to a new list, and count what would be removed with it. */
#include <glib.h>
#include <stdbool.h>

#include "lists/work.h"
#include "store/lists/list.h"

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
