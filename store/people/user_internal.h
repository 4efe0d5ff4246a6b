/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Find and make the rows of e-mail addresses, and of the persons to whom they belong. For the store only.
 * base/mailbox.h says what an address is. Each address belongs to a person, which may be a user (store/people/user.h)
 * or only stand in for one.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/mailbox.h"
#include "store/store_internal.h"

typedef struct Email {
    int64_t key, person;  /* keys of the address and of the person that it belongs to */
    char *folded, *email; /* email: as it was first written */
    bool preferred;       /* by its user */
    bool made;            /* email_ensure() has made it */
} Email;
void email_clear(Email *email);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Email, email_clear)

/* Fill *email from the row of the address; the caller clears it also after false. FAIL_MISSING: the address is not
 * known. */
bool email_find(Store *store, const Mailbox *address, Email *email, GError **error);
/* Set *person to the key of the person to whom the address belongs; 0: the address is not known. */
bool email_person(Store *store, const Mailbox *address, int64_t *person, GError **error);
/* Fill *email, which the caller clears also after false. An address that is not known is made, with a new person and
 * display_name (may be NULL). Call it in a transaction. FAIL_NEVER: no valid address, or one that is not known and not
 * legible. */
bool email_ensure(Store *store, const Mailbox *address, const char *display_name, Email *email, GError **error);
/* May the address be added? FAIL_NEVER as email_ensure(). */
bool email_check_added(Store *store, const Mailbox *address, GError **error);
typedef struct NewEmail {
    Email email;      /* the caller sets folded and email */
    const char *name; /* of email_clean_name(); borrowed */
} NewEmail;
/* Make the addresses (of NewEmail) with a new person for each, and set key and person of each. The caller promises that
 * they are valid, not known yet, and sorted by folded. */
bool email_make_all(Store *store, GPtrArray *emails, GError **error);
/* Return display_name as a header field can hold it: valid UTF-8 of at most EMAIL_NAME_MAX bytes (store/people/user.h),
 * with blanks in place of control characters. NULL for no or an empty name. g_free() */
char *email_clean_name(const char *display_name);

/* ---- persons ---- */

/* Run "DELETE FROM person ... RETURNING key, stands_in" (taken; NULL: error is set) for one person, and count the user
 * out. */
bool user_drop(Store *store, Query *removal, GError **error);
/* Replace *address by the address that its person prefers. Where the person prefers none yet, the address given becomes
 * the preferred one and stays. */
bool user_preferred(Store *store, Email *address, GError **error);
