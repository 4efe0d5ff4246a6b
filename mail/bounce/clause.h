/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read a server's refusal as clauses of a subject and a predicate: "Sender address rejected: Domain not found" is about
 * the sender, though "not found" is said of recipients, too. Nouns tell the subject (sender, client, recipient,
 * header ...), other words what is said of it (refused, absent, full ...); clause.c has both tables and the one of what
 * the pairs mean. Internal to mail/bounce/.
 */
#include "mail/bounce/bounce.h"

typedef struct ClauseReading {
    const char *reason; /* a word of bounce_reasons; NULL: the clauses do not tell */
    BounceAbout about;  /* with reason */
    bool names_client;  /* the reply names an IP address, or a page about one or of a postmaster */
    bool of_content;    /* it speaks of the contents or the form of the message */
    bool of_mail;       /* it says no more than that the message is refused, or speaks of policy */
} ClauseReading;

/* Read a text of which the first bytes up to a bound count, from its first SMTP reply code on. certain: the status says
 * that it is about the recipient, and only clear words of the contrary count. */
ClauseReading clause_read(const char *status, bool certain, const char *text);
