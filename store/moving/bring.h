/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Bring in what another list system has: rows as they are, with their times and their state, which nobody sets
 * otherwise. Each function adds what is not there yet, and changes nothing that is: then *known is true. Call them in a
 * transaction, some thousand a time, in order of the addresses where that can be had, since rows lie in that order.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/lists/list.h"
#include "store/people/member.h"
#include "store/posts/digest.h"

/* Set *whole: did an earlier run note that it had brought in this part whole? Names of parts are the caller's. */
bool bring_find(Store *store, const char *name, bool *whole, GError **error);
/* Note that the part was brought in whole. The note is removed with the list; list_id NULL: it belongs to no list. */
bool bring_note(Store *store, const char *name, const char *list_id, GError **error);

/* Set *system to the name of the list system from which the list was imported, "mlmmj", which is the first word of the
 * names of its parts; g_free(). A Listrunner from which it came later does not count, if there is another. NULL: the
 * list was made here. */
bool bring_system(Store *store, const char *list_id, char **system, GError **error);
/* Return the List-Ids of the lists that were imported from this system; g_strfreev(). */
char **bring_lists_of(Store *store, const char *system, GError **error);

typedef struct BroughtUser {
    const char *display_name; /* "": none */
    const char *password;     /* a hash of crypt(5); NULL: none */
    bool server_owner;
    int64_t created_at;
    Preferences preferences;
} BroughtUser;

typedef struct BroughtAddress {
    const char *email;
    const char *display_name;           /* "": none */
    int64_t registered_at, verified_at; /* verified_at 0: never shown to be the person's own */
    bool preferred;                     /* by its user */
    Preferences preferences;
    const BroughtUser *user; /* NULL: the address belongs to no user */
    const char *with;        /* another address of the same user, which is there already; NULL: none is */
} BroughtAddress;
/* Add an address. One that is known to the store without a user gets the user; one that has a user keeps that.
 * FAIL_NEVER: no valid address. */
bool bring_address(Store *store, const BroughtAddress *address, bool *known, GError **error);

typedef struct BroughtMember {
    const char *list_id, *address, *display_name; /* NULL: none */
    Role role;
    bool as_user;
    Action moderation_action; /* ACTION_UNSET: as the list says */
    Preferences preferences;
    int64_t score; /* hundredths; then these count, too: */
    int64_t bounced_at, disabled_at, warned_at, warnings;
    int64_t next_at; /* when something is due for the score, 0: never */
} BroughtMember;
/* Add a member. The address is made when it is not known. FAIL_NEVER: no valid address; FAIL_MISSING: no such list, or
 * as_user and the address is not known. */
bool bring_member(Store *store, const BroughtMember *member, bool *known, GError **error);

#define BRING_WAY "import" /* by which somebody left who did so elsewhere */
/* Note that the address had left the list before it was brought in (left_at 0: nobody knows when), so that no source
 * brings it back (store/people/source.h). FAIL_NEVER: no valid address. */
bool bring_left(Store *store, const char *list_id, const char *address, int64_t left_at, bool *known, GError **error);

typedef struct BroughtList {
    const char *address; /* "talk@example.com" */
    const char *list_id;
    int64_t created_at, last_post_at;
    int64_t post_id; /* number of the next post, from 1 */
} BroughtList;
/* Make the list with the default of each setting. Errors are those of list_create(). */
List *bring_list(Store *store, const BroughtList *list, GError **error);

/* Set the moderators' password of a list to a hash of crypt(5). */
bool bring_list_password(Store *store, const char *list_id, const char *hash, GError **error);

/* Say when the last digest of the list was sent. */
bool bring_digest_sent(Store *store, const char *list_id, int64_t sent_at, GError **error);
/* Note that the address, which had this digest mode while posts were collected and has left it, gets one last digest.
 * FAIL_MISSING: no such list, or the address is not known. */
bool bring_digest_last(Store *store, const char *list_id, const char *address, DeliveryMode mode, GError **error);
