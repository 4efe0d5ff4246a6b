/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Decide who may do something. A person or program that asks stands in one relation to the object of the request (the
 * site, a domain, a list, a person); that relation is one bit of Authority. A right is the set of the relations that
 * have it, as the bits of Authority. Each row of a table that opens something to others names a right:
 *
 *     runners/rest, the tables at the end of each resource   routes, and their fields: to read and to write
 *     runners/command/rights.c                               commands that come by mail
 *     store/lists/list_setting.c                                   settings of lists, as OF_LIST or OF_SITE
 *
 * A row without a right is closed to everybody. A new door (a page) finds out the relation, and asks authority_covers()
 * with the right of the row. doc/authority_text.c makes authority.md of the tables, and t/runners/rest/authority-t.c
 * walks through them.
 */
#include <glib.h>
#include <stdbool.h>

#include "store/lists/list_setting.h"

typedef enum Authority {
    BY_SITE = 1,       /* the operator: the shell, a user of REST's password file, a token without lists and domains */
    BY_DOMAIN = 2,     /* a token for the domain that it is about, or in which the list is */
    BY_LIST = 4,       /* a token for the list that it is about */
    BY_MODERATOR = 8,  /* an owner or a moderator of the list, who answers a letter that asked for a decision */
    BY_PERSON = 16,    /* the person it is about, who brings back a token that was mailed to that address */
    BY_STRANGER = 32,  /* in none of these relations: whoever can write a mail, a token for other lists */
    BY_FIGURES = 64,   /* a token for the figures alone */
} Authority;
#define AUTHORITIES 7

/* Rights. The holder of a domain has its lists, and the site has all. */
#define MAY_NOBODY 0
#define MAY_SITE BY_SITE
#define MAY_FIGURES (BY_SITE | BY_FIGURES)
#define MAY_DOMAIN (BY_SITE | BY_DOMAIN)
#define MAY_LIST (MAY_DOMAIN | BY_LIST)
#define MAY_MODERATOR (MAY_LIST | BY_MODERATOR)
#define MAY_PERSON (MAY_LIST | BY_PERSON)
#define MAY_DECIDE (MAY_MODERATOR | BY_PERSON)
#define MAY_KNOWN (MAY_LIST | BY_STRANGER) /* all but a token for the figures; by REST, who has any other credentials */
#define MAY_ANYBODY (MAY_DECIDE | BY_STRANGER)

/* Rights that no row of a table names. */
#define MAY_VERIFY (BY_SITE | BY_PERSON) /* to say, for all lists, that an address is the person's own */
#define MAY_NAME BY_SITE /* to see, and to say, what somebody is called beyond one membership or request */

/* Does the right cover this relation? */
bool authority_covers(unsigned right, Authority by);

/* Return the right to set this setting of a list. */
unsigned authority_of_setting(const ListSetting *setting);

/* Return the relations that have the right, as a text for people: "site, domain", "nobody" or "anybody"; g_free(). */
char *authority_text(unsigned right);
