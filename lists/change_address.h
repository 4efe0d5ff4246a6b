/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * A person's address changes: all that the old one has on the lists of this site, in every role, goes to the new one.
 * Both addresses have to agree, each by answering a letter, for a From field proves neither.
 */
#include "lists/subscription.h"
#include "lists/work.h"

/* From whose address to which. */
typedef struct AddressChange {
    const char *old_address, *new_address;
    bool old_agreed, new_agreed; /* known otherwise, so that nobody is asked */
} AddressChange;

/* Asks for it; list speaks for the site. NO_CHANGE: the old address is on no list, or both are the same.
 * BAD_ADDRESS: the new one is none, or it is one of the list's own. */
bool change_address_ask(Work *work, const List *list, const AddressChange *change, Subscription *subscription,
                        GError **error);
