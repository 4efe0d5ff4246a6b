/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Make, change and remove users, their addresses, and their preferences for all lists (for one list:
 * lists/people/options.h). `who` is a user's id or any of the user's addresses. The functions write rows in the
 * transaction of the unit, and a line to the log. people_forget() alone gathers entries.
 *
 * FAIL_MISSING: there is no such user or address. FAIL_NEVER: it is no valid address. FAIL_EXISTS: as said below.
 */
#include <glib.h>
#include <stdbool.h>

#include "lists/work.h"
#include "store/lists/list_choice.h"
#include "store/people/member.h"

/* The data of a user besides addresses. NULL and -1 mean that a value stays as it is, or that there is none yet. */
typedef struct PersonChange {
    const char *display_name; /* "": none */
    const char *password;     /* in clear; "": none */
    int server_owner;         /* 0, 1 */
} PersonChange;
#define PERSON_STAYS ((PersonChange){.server_owner = -1})

/* Make a user with this address. FAIL_EXISTS: it belongs to a user. */
bool people_create(Work *work, const Mailbox *address, const PersonChange *about, char id[STORE_ID_SIZE],
                   GError **error);
/* Change the data of a user that `change` names. */
bool people_change(Work *work, const char *who, const PersonChange *change, GError **error);
/* Remove a user, or an address that belongs to none, with all that the store knows of it but bans. */
bool people_remove(Work *work, const char *who, GError **error);
/* Remove a user as people_remove() does. Besides, each membership ends as by roster_remove(), which tells programs
 * outside; and what the person of `address` did or was told (MENTION_TRACE), and the sessions of the address, go too.
 * user_id "": remove only the address, which need not be known. */
bool people_forget(Work *work, const char *user_id, const Mailbox *address, GError **error);
/* Give all that the user `other` has to the user `into`. FAIL_NEVER: they are the same user. */
bool people_merge(Work *work, const char *into, const char *other, GError **error);

/* ---- addresses ---- */

/* Make an address known that belongs to nobody. FAIL_EXISTS: it is known. */
bool people_add_address(Work *work, const Mailbox *address, GError **error);
/* Give the address (made when it is not known) to the user `who`. name NULL or "": the address keeps its name. If the
 * address belongs to another user, absorb merges that user into this one. FAIL_EXISTS: absorb is false, and the address
 * belongs to a user, be it this one. */
bool people_link(Work *work, const char *who, const Mailbox *address, const char *name, bool absorb, GError **error);
/* Take a known address from its user, if it has one. Give it to `who`, or (who NULL) to a new user with this name. Set
 * id to the id of the user who has the address then. */
bool people_assign(Work *work, const Mailbox *address, const char *who, const char *name, char id[STORE_ID_SIZE],
                   GError **error);
/* Make a user for an address that has none, so that a person who asks for something is known from then on. A known
 * address keeps its name. A known address without a name gets this one only if `names` is true, since somebody else may
 * have typed the name. */
bool people_register(Work *work, const Mailbox *address, const char *name, bool names, GError **error);
/* Take the address from its user. Its memberships stay with the address. FAIL_MISSING: it belongs to no user. */
bool people_unlink(Work *work, const Mailbox *address, GError **error);
/* Set the user's preferred address, which memberships made with RosterEntry.as_user follow; NULL: none. An address that
 * belongs to nobody becomes the user's. FAIL_EXISTS: it is another user's. FAIL_NEVER: it was never verified
 * (people_verify()). */
bool people_prefer(Work *work, const char *who, const Mailbox *address, GError **error);
/* Note that the address is verified, which means that it was shown to be its user's own; or take that back. */
bool people_verify(Work *work, const Mailbox *address, bool verified, GError **error);
/* Set the name of the person at a known address. */
bool people_name_address(Work *work, const Mailbox *address, const char *name, GError **error);
/* Remove the address with its memberships. */
bool people_remove_address(Work *work, const Mailbox *address, GError **error);

/* ---- preferences ---- */

typedef enum PreferenceLevel {
    PREFERENCES_OF_USER,
    PREFERENCES_OF_ADDRESS,
    PREFERENCES_OF_MEMBER,
    PREFERENCES_OF_SITE
} PreferenceLevel;
/* Replace the preferences of a user (who: id or address), an address, a member (who: id) or the site (who: NULL). */
bool people_set_preferences(Work *work, PreferenceLevel level, const char *who, const Preferences *preferences,
                            GError **error);
/* Set the action for the member's posts, such as to hold them; ACTION_UNSET: as the list says. */
bool people_set_moderation(Work *work, const Member *member, Action action, GError **error);
