/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Entries of the queue bounces, made of recipients that were refused for
 * good: metadata KEY_FAILURES (runners/keys.h) and the header of the message. Their
 * names follow from the entry and the recipients, so that storing one a second time
 * after a crash is noticed (intake.h, `once`).
 */
#include <glib.h>
#include <stdbool.h>

#include "runners/outgoing/delivery.h"
#include "switchboard/draft.h"

#define BOUNCES_QUEUE "bounces"

/* Gather failures of one delivery and cut them into drafts of a size that metadata allows. */
typedef struct BounceMaker {
    Delivery *delivery;
    json_t *failures;
    size_t octets;
    GChecksum *names;
    GArray *offsets;    /* of size_t: the recipients of the draft in hand */
} BounceMaker;

/* One draft and whom it is about. */
typedef struct BounceDraft {
    Delivery *delivery;
    Draft *draft;
    GArray *offsets; /* of size_t */
} BounceDraft;

typedef struct Failure {
    const char *status;
    const char *reply;
    const char *relay;
    bool of_message; /* what was refused is the mail, or how we speak, whoever the recipient is */
} Failure;

BounceMaker *bounce_maker_new(Delivery *delivery);
/* Add a recipient; returns a bounce when the one in hand is full, else NULL. */
BounceDraft *bounce_maker_add(BounceMaker *maker, const Recipient *recipient, const Failure *failure);
/* The last one, NULL when there is nothing left; frees the maker. */
BounceDraft *bounce_maker_end(BounceMaker *maker);
void bounce_draft_free(BounceDraft *bounce);
