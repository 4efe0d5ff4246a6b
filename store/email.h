/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * E-mail addresses as the store knows them: their key and their rows. For this folder. base/mailbox.h says what an
 * address is.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store_type.h"

/* "Jo@Example.COM" gives "example.com jo": equal for equal addresses, needless quotes left out, and in
 * byte order sorts by domain, then local part. */
char *email_folded(const char *address);
/* The same, FAIL_NEVER when it is not valid. */
char *email_folded_checked(const char *address, GError **error);

typedef struct Email {
    int64_t key, person;
    char *folded, *email;
    bool preferred;
} Email;
void email_clear(Email *address);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Email, email_clear)

/* Fill *address, which the caller clears. FAIL_MISSING. */
bool email_find(Store *store, const char *email, Email *address, GError **error);
/* Find the key of its person alone; *person is 0 where the address is not known. */
bool email_person(Store *store, const char *email, int64_t *person, GError **error);
/* Make it when it is not known, with a person of its own. FAIL_NEVER: no valid address. */
bool email_ensure(Store *store, const char *email, const char *display_name, Email *address, GError **error);
typedef struct NewEmail {
    Email email;      /* folded and email are given */
    const char *name; /* of email_clean_name(); borrowed */
} NewEmail;
/* Make all (NewEmail), which are valid, not known, and sorted by folded: keys are set, and each has a person of its
 * own. */
bool email_make_all(Store *store, GPtrArray *emails, GError **error);
/* A name as header fields can hold it; NULL for none. g_free() */
char *email_clean_name(const char *display_name);
bool email_set_name(Store *store, const Email *address, const char *display_name, GError **error);
