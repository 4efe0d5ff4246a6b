/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * E-mail addresses as the store knows them: their syntax as far as it matters
 * here, their key, and their rows. For this folder, save address_is_valid().
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store.h"

/* local@domain in UTF-8, at most 254 octets, without control characters, blanks or
 * what would need quoting: what can be a member. Everything a header may
 * hold besides that is mail/'s business. */
bool address_is_valid(const char *address);

/* A domain: labels of letters, digits, - and _, or anything beyond ASCII. */
bool address_is_domain(const char *domain);

/* "Jo@Example.COM" gives "example.com jo": equal for equal addresses, and in
 * octet order sorts by domain, then local part. */
char *store_address_key(const char *address);
/* The same, FAIL_NEVER when it is not valid. */
char *store_address_key_checked(const char *address, GError **error);

/* Finds or makes the address, with a person of its own. *named is false when it was there, without a name. */
bool address_ensure(Store *store, const char *key, const char *email, const char *display_name, bool *named, GError **error);
bool address_set_name(Store *store, const char *key, const char *display_name, GError **error);
/* FAIL_MISSING; person and preferred may be NULL. */
bool address_find(Store *store, const char *email, const char *key, int64_t *person, bool *preferred, GError **error);
