/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Make and check the three messages of the client's side of SCRAM (RFC 5802), without channel binding, as text: send
 * scram_first(), give the server's reply to scram_final() and send the result, give the last reply to scram_check().
 */
#include <glib.h>
#include <stdbool.h>

/* The rounds of hashing that a server may ask for. With fewer than RFC 7677 has as the least, the server or somebody
 * between makes guessing the password cheap. The rounds of one connection are made in one go, while nothing else of the
 * process moves. A round took 0.25 us on a processor with instructions for SHA and half a microsecond without, so the
 * most allowed take 25 to 50 ms. Servers ask for 4096 as a rule. */
#define SCRAM_ROUNDS_MIN 4096
#define SCRAM_ROUNDS_MAX 100000

typedef struct Scram Scram;

/* Begin for one connection. digest is OpenSSL's name, "SHA1" or "SHA256". nonce NULL: a random one. The strings are
 * copied. */
Scram *scram_new(const char *digest, const char *user, const char *password, const char *nonce);
void scram_free(Scram *scram);

/* Return the client's first message; g_free(). */
char *scram_first(const Scram *scram);
/* Return the answer to the server's first message; g_free(). NULL, with *problem (static): do not answer it, and end
 * the connection. */
char *scram_final(Scram *scram, const char *server_first, const char **problem);
/* Return true when the server's last message proves that the server knows the password. Else *problem (static) says so.
 * scram_checked() returns the result of the last check, or false before it. */
bool scram_check(Scram *scram, const char *server_final, const char **problem);
bool scram_checked(const Scram *scram);
