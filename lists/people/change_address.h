/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Change a person's address: give the memberships that the old one has on the lists of this site, as member or
 * nonmember, to the new one. Where the new one has such a membership already, that of the old one is removed. Both
 * addresses have to agree, each by answering a letter, for a From field proves neither. The letters are the site's: no
 * list's or domain's text asks for them (lists/letters/template_name.h).
 *
 * The new address takes the place of the old one in the person's account, so the old one does not sign in on the pages
 * any more; where both are the person's own already, both stay. If the new address has an account of its own
 * (user_is_another()), nothing is changed unless an operator asked: a change never joins two accounts. The asker does
 * not learn that; the letter to the new address says it, in place of the question.
 *
 * The roles of owner and moderator move only when an operator asked for the change. Else they stay with the old
 * address, and the owners of its lists are told: an answered letter is too little for these roles. So the new address
 * comes into no account that has such a role, but gets one of its own. If the person owns a
 * domain or the site, the change is refused unless an operator asked. Rights over these belong to all addresses of a
 * person.
 */
#include "lists/people/subscription.h"
#include "lists/work.h"
#include "store/lists/list.h"

/* The change that is asked for. Strings are borrowed. */
typedef struct AddressChange {
    const Mailbox *old_address, *new_address;
    bool old_agreed, new_agreed; /* known to agree, so it gets no letter that asks */
} AddressChange;

/* Ask for the change. The letters are about all lists, and use the address of list to bring answers back. True: the
 * request was worked, and *subscription, which the caller clears, has the result. NO_CHANGE: the old address has no
 * role that would move, or both are the same. BAD_ADDRESS: one of them is not valid. OWN_ADDRESS: the new one belongs
 * to a list or to the site. PERSON_WAITS: the letter for the same change went within the last day. REFUSED: the person
 * owns a domain or the site. TAKEN: the new address agreed, and has an account of its own. False: the store failed. */
bool change_address_ask(Work *work, const List *list, const AddressChange *change, Subscription *subscription,
                        GError **error);
