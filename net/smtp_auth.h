/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Speak the client's side of AUTH (RFC 4954): PLAIN (RFC 4616), LOGIN, SCRAM-SHA-1 and SCRAM-SHA-256 (RFC 5802, 7677).
 * SCRAM does not reveal the password, and makes the server prove that it knows it too; it is spoken without channel
 * binding. These functions turn texts into texts and use no connection.
 */
#include <glib.h>
#include <stdbool.h>

typedef enum SmtpAuthMechanism {
    SMTP_AUTH_PLAIN = 1 << 0,
    SMTP_AUTH_LOGIN = 1 << 1,
    SMTP_AUTH_SCRAM_SHA_1 = 1 << 2,
    SMTP_AUTH_SCRAM_SHA_256 = 1 << 3,
} SmtpAuthMechanism;

/* The rounds of hashing that a server may ask for with SCRAM. With fewer than RFC 7677 has as the least, the server or
 * somebody between makes guessing the password cheap. The rounds of one connection are made in one go, while nothing
 * else of the process moves. A round took 0.25 us on a processor with instructions for SHA and half a microsecond
 * without, so the most allowed take 25 to 50 ms. Servers ask for 4096 as a rule. */
#define SMTP_AUTH_ROUNDS_MIN 4096
#define SMTP_AUTH_ROUNDS_MAX 100000

typedef struct SmtpAuth SmtpAuth;

/* Return the mechanism named by a word of the server's list ("PLAIN", in any case); 0 for an unknown one. */
unsigned smtp_auth_mechanism(const char *word);

/* Begin with the strongest of these mechanisms; return NULL when there is none. The strings are borrowed. nonce is for
 * tests; NULL: a random one. */
SmtpAuth *smtp_auth_new(unsigned mechanisms, const char *user, const char *password, const char *nonce);
void smtp_auth_free(SmtpAuth *auth);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SmtpAuth, smtp_auth_free)

/* Return the command without its line end, "AUTH PLAIN AGEA"; g_free(). */
char *smtp_auth_begin(SmtpAuth *auth);

/* Return the line that answers the text of a 334 reply; g_free(). NULL: stop, and *problem says why (static). */
char *smtp_auth_answer(SmtpAuth *auth, const char *challenge, const char **problem);

/* Check whether the server's success may be believed. Returns NULL, or what is missing (static). */
const char *smtp_auth_doubt(const SmtpAuth *auth);
