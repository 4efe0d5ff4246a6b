/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read from an envelope recipient what it asks for: a list, one of its sub-addresses, and the detail after the
 * delimiter.
 *
 *   test@example.com                        test  posting
 *   test+2026@example.com                   test  posting  2026
 *   test-owner@example.com                  test  owner
 *   test-bounces+anne=x.org@example.com     test  bounces  anne=x.org
 *   test-confirm+8f2a@example.com           test  confirm  8f2a
 *
 * -subscribe and -unsubscribe say join and leave. A list whose whole local
 * part matches wins over a reading with a suffix, and a suffix over a
 * delimiter; of several delimiters the first that gives a list counts. With
 * "-" as the delimiter, one behind a suffix comes before the others:
 *
 *   my-list-bounces-anne=x.org@example.com  my-list  bounces  anne=x.org
 */
#include <glib.h>
#include <stdbool.h>

typedef enum ListAddressTo {
    LIST_ADDRESS_POSTING,
    LIST_ADDRESS_OWNER,
    LIST_ADDRESS_BOUNCES,
    LIST_ADDRESS_JOIN,
    LIST_ADDRESS_LEAVE,
    LIST_ADDRESS_CONFIRM,
    LIST_ADDRESS_REQUEST,
    LIST_ADDRESS_SITE, /* no list's, but the site's: postmaster@example.com. list_address_find() finds none */
} ListAddressTo;

typedef struct ListAddress {
    char *local;   /* of the list, in lower case */
    char *domain;  /* in lower case, without a dot at the end */
    char *list_id; /* what the callback gave */
    ListAddressTo to;
    char *detail; /* NULL: none */
    bool takes_reports; /* mail with the null sender is for LIST_ADDRESS_BOUNCES */
} ListAddress;

void list_address_free(ListAddress *address);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ListAddress, list_address_free)

/* Tell whether there is a list local@domain (both in lower case). Set *exists, and when it is true also *list_id, which
 * the caller frees. Return false with error set when it cannot be told now. */
typedef bool ListAddressExists(const char *local, const char *domain, bool *exists, char **list_id, void *data,
                               GError **error);

/* Find the list that a mailbox (without angle brackets) is an address of; list_address_free() frees the result.
 * delimiter is the character before the detail; '\0': there are no details. exists() is called at most
 * LIST_ADDRESS_LOOKUPS times. FAIL_MISSING: no list has this address. Any other error is that of exists(). */
#define LIST_ADDRESS_LOOKUPS 10
ListAddress *list_address_find(const char *mailbox, char delimiter, ListAddressExists *exists, void *data,
                               GError **error);

/*
 * Read what stands behind a list's name as the list system does that had the list before it was imported. system is its
 * name in lower case, or NULL; rest is what stands behind the delimiter or the dash.
 *
 *   mlmmj   talk+unsubscribe, talk+owner, talk+bounces-7-anne=x.org
 *   ezmlm   talk-unsubscribe-anne=x.org, talk-return-7-anne=x.org, talk-help
 *   sympa   talk-editor
 *
 * Set address->to and address->detail; false: the system has no such word, and nothing was set. What its letters asked
 * to be answered is for LIST_ADDRESS_CONFIRM, which says that it is no longer good. */
bool list_address_read_old(ListAddress *address, const char *system, const char *rest);

/* Return the word with this number, from 0, that such a system puts behind a list's name and a dash, and where mail to
 * it goes; NULL behind the last. Of words that stand before a token there is none. */
const char *list_address_old_word(const char *system, size_t number, ListAddressTo *to);

/* Return the suffix with this number, from 0: "-owner" and so on; NULL behind the last. */
const char *list_address_suffix(size_t number);

/* Return the word for it, as lists/keys.h has it (TO_*): "posting", "owner", ... */
const char *list_address_text(ListAddressTo to);
