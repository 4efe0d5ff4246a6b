/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Report recipients that were refused for good to the runner bounces: make entries for its queue, which hold the
 * failures in metadata (KEY_FAILURES, lists/keys.h) and the header of the message. The caller stores the drafts. The
 * name of such an entry follows from the delivered entry and the recipients, so that storing it again after a crash is
 * noticed (intake.h, `once`).
 *
 * Make a BounceMaker for a delivery, add each refused recipient, and end it. Both adding and ending may return a draft.
 */
#include <glib.h>
#include <stdbool.h>

#include "runners/outgoing/delivery.h"
#include "switchboard/draft.h"

#define BOUNCES_QUEUE "bounces"

/* Gather failures of one delivery, and make a draft whenever they are as many as the metadata of one entry may hold. */
typedef struct BounceMaker {
    Delivery *delivery;
    json_t *failures, *lost;
    char *lost_reply;   /* of the first of those */
    size_t octets;      /* an estimate of the size of failures, in bytes */
    GChecksum *names;   /* over the entry's name and the recipients' addresses, for the name of the draft */
    GArray *offsets;    /* of size_t: the recipients gathered so far, by their places in the entry */
} BounceMaker;

/* One draft, and the recipients whose failures it reports. */
typedef struct BounceDraft {
    Delivery *delivery; /* borrowed */
    Draft *draft;
    GArray *offsets; /* of size_t: the places of these recipients in the entry */
} BounceDraft;

typedef struct Failure {
    const char *status;
    const char *reply;
    const char *relay; /* the server that said so; NULL: none did */
    const char *phase; /* what the reply was to (refusal.h) */
    bool unasked;      /* it was given up because of us, or of our relay */
} Failure;

/* Begin to gather; delivery is borrowed. */
BounceMaker *bounce_maker_new(Delivery *delivery);
/* Add a recipient. Returns the draft of all gathered recipients, this one included, when it is full; it is the
 * caller's. NULL: there is room for more. */
BounceDraft *bounce_maker_add(BounceMaker *maker, const Recipient *recipient, const Failure *failure);
/* Free the maker, and return the draft of the recipients that are left; it is the caller's. NULL: none are left. */
BounceDraft *bounce_maker_end(BounceMaker *maker);
/* Return the draft that tells of the last block of a post that nobody was left for: without it nobody can know whether
 * the others, which are full, are all. It is the caller's; NULL: this is no such block, or not one of a post. */
BounceDraft *bounce_empty_block(Delivery *delivery);
/* Return true when it is a post of a list, and certainly none of its recipients in this entry, and in those that this
 * one comes from, has got it. */
bool bounce_is_unreached(const Delivery *delivery);
/* Note in the metadata of an entry made from the delivery's how many recipients it was for, or that some of them may
 * have been reached. */
void bounce_keep_block(const Delivery *delivery, json_t *meta);
/* Free the draft with it; NULL is allowed. */
void bounce_draft_free(BounceDraft *bounce);
