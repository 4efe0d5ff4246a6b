/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Find and make the rows of e-mail addresses, and the form in which addresses are compared. For this folder only.
 * base/mailbox.h says what an address is. Each address belongs to a person, which may be a user (store/people/user.h)
 * or only stand in for one.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store_type.h"

/* Return the folded form, g_free(): "Jo@Example.COM" gives "example.com jo". Equal addresses have the same folded form,
 * and in byte order it sorts by domain, then local part. The address is not checked. */
char *email_folded(const char *address);
/* Return the folded form as email_folded() does. NULL with FAIL_NEVER: the address is not valid. */
char *email_folded_checked(const char *address, GError **error);

/* Do the same for an address that may be added: one that is not known yet must be mailbox_legible()
 * (base/mailbox.h). */
char *email_folded_to_add(Store *store, const char *address, GError **error);

typedef struct Email {
    int64_t key, person;  /* keys of the address and of the person that it belongs to */
    char *folded, *email; /* email: as it was first written */
    bool preferred;       /* by its user */
} Email;
void email_clear(Email *address);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Email, email_clear)

/* Fill *address from its row; the caller clears it also after false. FAIL_MISSING: the address is not known. */
bool email_find(Store *store, const char *email, Email *address, GError **error);
/* Set *person to the key of the person to whom the address belongs; 0: the address is not known. */
bool email_person(Store *store, const char *email, int64_t *person, GError **error);
/* Fill *address, which the caller clears also after false. An address that is not known is made, with a new person and
 * display_name (may be NULL). Call it in a transaction. FAIL_NEVER: no valid address. */
bool email_ensure(Store *store, const char *email, const char *display_name, Email *address, GError **error);
typedef struct NewEmail {
    Email email;      /* the caller sets folded and email */
    const char *name; /* of email_clean_name(); borrowed */
} NewEmail;
/* Make the addresses (of NewEmail) with a new person for each, and set key and person of each. The caller promises that
 * they are valid, not known yet, and sorted by folded. */
bool email_make_all(Store *store, GPtrArray *emails, GError **error);
/* Return display_name as a header field can hold it: valid UTF-8 of at most EMAIL_NAME_MAX bytes, with blanks in place
 * of control characters. NULL for no or an empty name. g_free() */
#define EMAIL_NAME_MAX 998
char *email_clean_name(const char *display_name);
/* Set the name of an address that email_find() has found. */
bool email_set_name(Store *store, const Email *address, const char *display_name, GError **error);
