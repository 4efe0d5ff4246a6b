/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Make the entries of an LMTP transaction: one for each recipient, with metadata for the runners that handle it
 * (lists/keys.h). The caller stores them (group). A recipient named twice gets one entry. A message without
 * Message-ID is given one, in a header field above all others; nothing else in it is touched. A part of a message for a
 * list goes where the list wants it, or is refused. A message with more than 120 Received fields is refused for every
 * recipient. A message that is larger than a list takes is refused for that list.
 */
#include <glib.h>

#include "net/lmtp_server.h"
#include "runners/lmtp/fragments.h"
#include "switchboard/intake.h"

typedef struct Entries {
    Intake *group;
    size_t count;    /* entries in group */
    size_t *of;     /* for each recipient, the place of its entry in group; ENTRIES_NONE: it is refused */
    char **refusals; /* for each refused recipient the reply; else NULL */
    size_t recipients;
} Entries;

#define ENTRIES_NONE SIZE_MAX

/* The parts of the site that entries need; borrowed. */
typedef struct EntriesSite {
    const char *hostname;   /* stands in the Message-ID that is made */
    const char *site_owner; /* gets the mail for LIST_ADDRESS_SITE */
    Lists *lists;           /* for the limits of sizes */
    Fragments *fragments;
} EntriesSite;

#define ENTRIES_NO_DATABASE "451 4.3.0 The database cannot be used now; try again later"
#define ENTRIES_TOO_LARGE "552 5.3.4 The message is larger than this list takes"

/* Make the entries of a transaction; LmtpRecipient.data of each recipient is a ListAddress. peer is the value of
 * KEY_PEER. */
Entries *entries_new(const LmtpTransaction *transaction, const char *peer, const EntriesSite *site);
void entries_free(Entries *entries);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Entries, entries_free)
