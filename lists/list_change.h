/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/* A list gets another address, or a new one takes over what it has. */
#include <glib.h>
#include <stdbool.h>

#include "lists/work.h"
#include "store/list.h"

/* Gives the list another posting address. Its List-Id stays, and with it archives, held posts, what is in queues, and
 * the bounces and links of mails that were sent; mail to the address that the List-Id was made of goes on reaching it.
 * FAIL_EXISTS: another list has that address; FAIL_MISSING: no such list or domain; FAIL_NEVER: it can be no list's
 * address, or is a sub-address of another list. */
bool list_move(Work *work, const char *list_id, const char *address, GError **error);

/* Makes a list at `address` with the settings, owners, moderators, bans, header rows and texts of letters of the list,
 * and its members and nonmembers too if asked. Posts, requests, archives and bounces stay where they are. FAIL_... as
 * list_make(). */
List *list_copy(Work *work, const List *from, const char *address, bool members, GError **error);

/* The things that are removed together with a list. */
typedef struct ListContents {
    int64_t members, owners; /* owners: with moderators */
    int64_t held, requests;
    int64_t scheduled;    /* posts that are to be sent at a time */
    int64_t digest_posts; /* that wait for the digest */
    int64_t sets, parts;  /* incomplete messages on this host, and their parts */
} ListContents;
bool list_contents(Store *store, const List *list, const char *hostname, ListContents *contents, GError **error);
