/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * A person's address changes: what the old one has on the lists of this site as member or nonmember goes to the new
 * one. Both addresses have to agree, each by answering a letter, for a From field proves neither. The letters are the
 * site's: no list's or domain's text asks for them (lists/template_name.h).
 *
 * Only where an operator asked, also by a letter, do owners and moderators change too. An answered letter is too little
 * for that: those roles stay with the old address, and the owners of their lists are told. The operator
 * alone changes the owners of a domain or the site, because rights over these belong to all addresses of a person.
 */
#include "lists/subscription.h"
#include "lists/work.h"
#include "store/list.h"

/* The change that is asked for. Strings are borrowed. */
typedef struct AddressChange {
    const char *old_address, *new_address;
    bool old_agreed, new_agreed; /* known to agree, so it gets no letter that asks */
} AddressChange;

/* Ask for the change. The letters are about all lists, and use the address of list to bring answers back. True: the
 * request was worked, and *subscription, which the caller clears, has the result. NO_CHANGE: the old address is on no
 * list, or both are the same. BAD_ADDRESS: one of them is not valid. OWN_ADDRESS: the new one belongs to a list or to
 * the site. REFUSED: the operator alone may change it. False: the store failed. */
bool change_address_ask(Work *work, const List *list, const AddressChange *change, Subscription *subscription,
                        GError **error);
