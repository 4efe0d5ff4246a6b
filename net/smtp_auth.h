/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * The client's side of AUTH (RFC 4954): PLAIN (RFC 4616), LOGIN, and
 * SCRAM-SHA-1 and SCRAM-SHA-256 (RFC 5802, 7677), which do not give the
 * password away and make the server prove that it knows it, too. Text in, text out; no connection.
 */
#include <glib.h>
#include <stdbool.h>

typedef enum SmtpAuthMechanism {
    SMTP_AUTH_PLAIN = 1 << 0,
    SMTP_AUTH_LOGIN = 1 << 1,
    SMTP_AUTH_SCRAM_SHA_1 = 1 << 2,
    SMTP_AUTH_SCRAM_SHA_256 = 1 << 3,
} SmtpAuthMechanism;

typedef struct SmtpAuth SmtpAuth;

/* The mechanism of a word of the server's list ("PLAIN"), in any case; 0 for one we do not know. */
unsigned smtp_auth_mechanism(const char *word);

/* The strongest of these mechanisms; the strings are borrowed. nonce: for tests; NULL: a random one.
 * NULL when mechanisms is 0. */
SmtpAuth *smtp_auth_new(unsigned mechanisms, const char *user, const char *password, const char *nonce);
void smtp_auth_free(SmtpAuth *auth);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SmtpAuth, smtp_auth_free)

/* The command without its line end, "AUTH PLAIN AGEA"; g_free(). */
char *smtp_auth_begin(SmtpAuth *auth);

/* The line (g_free()) that answers the text of a 334 reply. NULL: go no further, *problem says
 * why (static). */
char *smtp_auth_answer(SmtpAuth *auth, const char *challenge, const char **problem);

/* Whether success may be believed: NULL, or what is missing (static). */
const char *smtp_auth_doubt(const SmtpAuth *auth);
