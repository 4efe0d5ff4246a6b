/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Find in the words of a refusal its status, what it is about and why. Internal to mail/bounce.c and mail/recognise/.
 */
#include "mail/bounce.h"

/* RFC 3463 status in a text ("5.1.1"), preferring one behind a reply code. Into status, "" when there is none. */
#define STATUS_SIZE 12
void status_scan(const char *text, char status[STATUS_SIZE]);

/* The first SMTP reply code of 4xx or 5xx that stands where replies have it; 0 when there is none. */
unsigned reply_scan(const char *text);

/* What is known of a refusal, all borrowed. */
typedef struct Refusal {
    BouncePhase phase;
    BounceClass class;
    const char *status; /* "" when there is none */
    const char *text;
    bool own_relay;
} Refusal;

/* Judge it: its phase first, then the words. */
BounceVerdict verdict_of(const Refusal *refusal);

/* Set what a recipient's failure is about from a text, whose phase is looked for. */
void recipient_judge(BounceRecipient *recipient, const char *status, const char *text);
