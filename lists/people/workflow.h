/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Decide what a request to join or leave needs next: a confirmation of the person, a decision of a moderator, or
 * nothing more. The answer depends on the list's policy and on the facts that are known about the request. Nothing else
 * in the tree decides this.
 */
#include "store/lists/list.h"

/* The facts that are known about a request; they are combined with |. */
typedef enum WorkflowFact {
    FACT_VERIFIED = 1,    /* the address is the person's own: it was confirmed once */
    FACT_CONFIRMED = 2,   /* the person wants this, now */
    FACT_APPROVED = 4,    /* somebody who may has consented */
    FACT_INVITED = 8,     /* somebody who may asked the person, who has to answer in any case */
    FACT_EVERY_ROLE = 16, /* an operator asked for a change of address, so ownership moves along */
    FACT_WORDED = 64,    /* a list or domain worded the letter that asks, so its answer counts for this request alone */
    FACT_VOUCHED = 32,   /* who has the list says so in the person's place: for this request, and for no other list */
    FACT_ANSWERED = 128, /* the person answered a letter of ours about this request, or pressed its button */
    FACT_BRAKED = 256, /* too many left at once (leave_brake.h): a moderator decides, whatever the policy says */
} WorkflowFact;
#define WORKFLOW_FACTS 8 /* the number of combinations of the first three */

typedef enum WorkflowStep {
    WORKFLOW_ASK_PERSON,    /* send the person a letter, and wait for the answer */
    WORKFLOW_ASK_MODERATOR, /* wait for a moderator */
    WORKFLOW_DO,            /* do what the request asks for */
} WorkflowStep;

/* Return the next step for these facts of WorkflowFact. FACT_INVITED without FACT_CONFIRMED asks the person under any
 * policy. FACT_BRAKED asks a moderator in place of WORKFLOW_DO, unless FACT_ANSWERED or FACT_APPROVED is known. */
WorkflowStep workflow_next(SubscriptionPolicy policy, unsigned facts);
