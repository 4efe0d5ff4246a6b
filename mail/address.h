/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read the lists of addresses in From, Sender, Reply-To, To and Cc (RFC 5322 3.4 with its obsolete forms, RFC 6532),
 * and split and compare single addresses.
 *
 * Reading is forgiving about what stands around an address: comments, groups, routes, white space, a missing bracket at
 * the end. It is strict about the address itself: what is not clearly one mailbox is left out, so that two readers
 * cannot take it for two different people.
 */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct Address {
    char *display; /* raw (not decoded), unquoted, "" when there is none */
    char *mailbox; /* valid (base/mailbox.h), the local part quoted only where it must be */
    size_t start, end; /* where it stands in the text that was read, with its name and blanks, without its comma */
} Address;

void address_free(Address *address);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Address, address_free)

/* Append the addresses of a field's value to list (of Address), until there are ADDRESS_LIST_MAX: what a hostile
 * sender names costs no more memory than that.
 *
 * Words that end at a comma, with an address in brackets and words of its own behind it, are the first half of its
 * name: of Smith, Bob <b@x> the display is "Smith, Bob".
 *
 * Returns whether the value is plain: mailboxes alone, with commas between them, as RFC 5322 writes them, so that every
 * reader finds those same ones. Not plain are groups, routes, two addresses without a comma, whatever was left out,
 * quotes, comments and brackets without an end, a second "@" in an address or before its bracket, and control
 * characters. */
#define ADDRESS_LIST_MAX 10000
bool address_parse(const char *text, size_t length, GPtrArray *list);

/* Return an empty list for address_parse(), which frees its addresses. g_ptr_array_unref() */
GPtrArray *address_list_new(void);

/* Cut a mailbox at its last "@" into *local and *domain; g_free(). local and domain may each be NULL when the caller
 * does not want that side. Return false, and set neither, when there is no "@" or a side is empty. */
bool address_split(const char *mailbox, char **local, char **domain);

/* Do as mailbox_key() and mailbox_same() of base/mailbox.h do. */
char *address_key(const char *mailbox);
bool address_same(const char *a, const char *b);
