/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Count acts that strangers can cause without having proved anything, such as letters and wrong passwords, so that
 * callers can limit them. An account counts one kind of act for one `who`, in the present hour or day of the clock
 * (UTC). `who` is what a stranger cannot vary freely: the mailbox that is written to (mailbox_base(), base/mailbox.h),
 * or the network that a mail comes from (ip_network(), base/ip.h). The limits are the callers'; here is only the count.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store_type.h"

typedef enum AccountKind {
    ACCOUNT_ANSWERS,       /* a day: letters that answer a mailbox */
    ACCOUNT_CONFIRMATIONS, /* a day: letters to a mailbox that ask to confirm, of one kind and list */
    ACCOUNT_FOR_OTHERS,    /* a day: such letters that somebody else than the mailbox asked for, of all lists */
    ACCOUNT_HOST_LETTERS,  /* a day: letters that mail of a network caused */
    ACCOUNT_PASSWORDS,     /* an hour: wrong passwords of moderators that a network brought to one list */
    ACCOUNT_SIGN_IN,       /* an hour: letters to a mailbox with a link to sign in on the pages */
    ACCOUNT_SIGN_IN_ALL,   /* a day: such letters that a network asked for, or (ACCOUNT_OF_SITE) that went to all */
    ACCOUNT_FORMS,         /* a day: forms of pages to join, with a mailbox, from a network, and both */
    ACCOUNT_FORM_SITE,     /* a day: forms to join with any mailbox; who is ACCOUNT_OF_SITE */
    ACCOUNT_FORM_REFUSED,  /* an hour: forms of ACCOUNT_FORM_SITE not taken, as there were too many; who as for that */
} AccountKind;
#define ACCOUNT_KINDS (ACCOUNT_FORM_REFUSED + 1)
#define ACCOUNT_OF_SITE "site"

/* Return the kind's word for metrics: "answers" and so on. */
const char *account_kind_text(AccountKind kind);

/* Count one more act, and set *total to how many there are in the hour or day of now, with this one. */
bool account_add(Store *store, AccountKind kind, const char *who, int64_t now, int64_t *total, GError **error);
/* Set *total to how many acts were counted in the hour or day of now; 0: none. */
bool account_count(Store *store, AccountKind kind, const char *who, int64_t now, int64_t *total, GError **error);

typedef struct AccountSum {
    int64_t counted;  /* accounts */
    int64_t total;    /* acts of all accounts */
    int64_t greatest; /* the most acts of one account */
} AccountSum;
/* Sum up all accounts of a kind in the hour or day of now. */
bool account_sum(Store *store, AccountKind kind, int64_t now, AccountSum *sum, GError **error);

/* Remove the accounts of all kinds that have exactly this `who`. */
bool account_forget(Store *store, const char *who, GError **error);

/* Remove the counts of hours and days that are over. */
bool account_expire(Store *store, int64_t now, GError **error);
