/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Keep users and their addresses. A user has any number of addresses and prefers one of them or none. An address may
 * also belong to no user, and be a member of lists all the same. Whoever joins a list with an unknown address becomes a
 * user with that address. Structs are freed by the caller with user_free() and known_address_free().
 *
 * Functions named user_ take `who`: the user's id, or any of its addresses. FAIL_MISSING: there is no such user or
 * address. FAIL_EXISTS: the address belongs to somebody else. FAIL_NEVER: it is no valid address.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/mailbox.h"
#include "store/people/member.h"
#include "store/store_type.h"

#define EMAIL_NAME_MAX 998 /* bytes of a name; more are cut */

typedef struct User {
    char id[STORE_ID_SIZE];
    char *display_name; /* "": none */
    char *password;     /* a hash of crypt(5), store/people/password.h; NULL: none */
    char *preferred;    /* address; NULL: none */
    char *address;      /* the preferred one, else the first; NULL: there is none */
    bool server_owner;  /* may do everything on this site */
    int64_t created_at;
    Preferences preferences;
} User;
void user_free(User *user);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(User, user_free)

typedef struct KnownAddress {
    char *email;        /* in lower case */
    char *original;     /* as it was first written */
    char *display_name; /* "": none */
    int64_t registered_at, verified_at; /* verified_at 0: never shown to be the person's own */
    char user_id[STORE_ID_SIZE];        /* "": it belongs to no user */
    bool preferred;                     /* by its user */
    Preferences preferences;
} KnownAddress;
void known_address_free(KnownAddress *address);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(KnownAddress, known_address_free)

/* ---- users ---- */

User *user_find(Store *store, const char *who, GError **error); /* user_free() */
/* Make a user with this address, and set id to the user's. The address may be known already, if no user has it. */
bool user_create(Store *store, const Mailbox *address, const char *display_name, char id[STORE_ID_SIZE],
                 GError **error);
bool user_set_name(Store *store, const char *who, const char *display_name, GError **error);
bool user_set_password(Store *store, const char *who, const char *hash, GError **error); /* NULL: none */
bool user_set_server_owner(Store *store, const char *who, bool owner, GError **error);
/* Does the user own this site, or a domain of it? FAIL_MISSING: there is no such user. */
bool user_owns_place(Store *store, const char *who, bool *owns, GError **error);
/* Has the address an account that another person might lose by it: a user other than `who` ("": any) with a membership,
 * a role as owner or moderator, a domain, the site, a password or a further address? An address that is not known, or
 * that is only a nonmember of lists, has none. */
bool user_is_another(Store *store, const Mailbox *address, const char *who, bool *is, GError **error);
bool user_set_preferences(Store *store, const char *who, const Preferences *preferences, GError **error);
/* Prefer the address, which must be the user's. What the user subscribed follows it. */
bool user_set_preferred(Store *store, const Mailbox *address, GError **error);
/* Prefer none. What the user subscribed stays subscribed by the address that was preferred. */
bool user_clear_preferred(Store *store, const char *who, GError **error);
/* Give address (made when unknown) to the user. Another user that is left without addresses is removed, and what that
 * user subscribed by preference stays subscribed by address. */
bool user_link_address(Store *store, const char *who, const Mailbox *address, GError **error);
/* Give all that `from` has (addresses, memberships, and where `into` has none: name, password, preferences) to
 * `into`, and remove `from`. FAIL_NEVER: both are the same user. */
bool user_merge(Store *store, const char *into, const char *from, GError **error);
/* Remove the user with all addresses of the user, as address_remove() does, and all memberships and preferences. */
bool user_remove(Store *store, const char *who, GError **error);

/* Which users user_page() and user_count() take. */
typedef struct UserCriteria {
    const char *text;   /* only those who have it in their name or in an address; NULL: all */
    bool server_owners; /* only users who are server_owner */
    int64_t skip;       /* for user_page() with `after` NULL: how many users are passed over first */
} UserCriteria;
/* Return at most limit users (of User, freed with the array) in order of creation: those behind the user with the id
 * `after`, or (NULL) from the first one. */
GPtrArray *user_page(Store *store, const UserCriteria *criteria, const char *after, unsigned limit, GError **error);
/* Count the users who meet criteria, but for skip. */
bool user_count(Store *store, const UserCriteria *criteria, int64_t *count, GError **error);

/* ---- addresses ---- */

/* Return the address as it is stored: the spelling by which it was first known, else as it is given; mailbox_free().
 * What proves a mailbox must go there, for another spelling that counts as the same may be another mailbox. NULL: the
 * store failed. */
Mailbox *address_stored(Store *store, const Mailbox *address, GError **error);
KnownAddress *address_find(Store *store, const Mailbox *address, GError **error); /* known_address_free() */
/* Find an address as address_find() does. One that is not known is no error: then *known is NULL. */
bool address_look_up(Store *store, const Mailbox *address, KnownAddress **known, GError **error);
/* Make an address that belongs to no user. FAIL_EXISTS: it is known. */
bool address_add(Store *store, const Mailbox *address, const char *display_name, GError **error);
bool address_set_name(Store *store, const Mailbox *address, const char *display_name, GError **error);
bool address_set_preferences(Store *store, const Mailbox *address, const Preferences *preferences, GError **error);
/* Note when the address was shown to be the person's own; verified_at 0: take it back. */
bool address_set_verified(Store *store, const Mailbox *address, int64_t verified_at, GError **error);
/* Write verified_at of an address that has none yet. True also where the address has one, or is not known. */
bool address_note_verified(Store *store, const Mailbox *address, int64_t at, GError **error);
/* Take the address away from its user, who stays. Its memberships stay with the address. */
bool address_unlink(Store *store, const Mailbox *address, GError **error);
/* Remove the address with its memberships, requests, departures, sessions on the pages, rows in logs, bounces, held and
 * scheduled posts. Its user stays. */
bool address_remove(Store *store, const Mailbox *address, GError **error);
/* Return at most limit addresses (of KnownAddress, freed with the array): those of the user in order of registration,
 * or with who NULL all addresses by domain, then local part. The page begins behind the address `after`, or with after
 * NULL behind the first `skip` addresses. */
GPtrArray *address_page(Store *store, const char *who, const char *after, int64_t skip, unsigned limit,
                        GError **error);
/* Count all addresses. */
bool address_count(Store *store, int64_t *count, GError **error);

/* Set *language (g_free()) to the language in which to write to this address as a member of the list (list_id NULL: of
 * no list): the first that the member, the address, the user or the site prefers. NULL: none of them prefers one. */
bool address_language(Store *store, const char *list_id, const Mailbox *address, char **language, GError **error);
