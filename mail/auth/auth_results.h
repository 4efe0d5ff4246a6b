/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read and write the field Authentication-Results (RFC 8601): what a server found out about a message, under its name.
 *
 *   Authentication-Results: mx.example.com; spf=pass smtp.mailfrom=example.org;
 *       dkim=pass (good) header.d=example.org
 *
 * Anybody can write such a field. So believe it only where you trust the server of that name, and know that this server
 * removes fields of others with its name.
 */
#include <glib.h>
#include <stdbool.h>

#include "mail/message.h"

typedef struct AuthResult {
    char *method; /* "spf", in lower case */
    char *result; /* "pass", in lower case */
    char *text;   /* all of it on one line, without comments, method and result in lower case:
                     "spf=pass smtp.mailfrom=example.org" */
} AuthResult;

typedef struct AuthResults {
    char *server;       /* "mx.example.com" */
    GPtrArray *results; /* of AuthResult; empty for "none" */
} AuthResults;

/* Read a value, folded or not. NULL: it is not what RFC 8601 allows, and nothing in it is to be believed. */
AuthResults *auth_results_read(const char *value);
void auth_results_free(AuthResults *results);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(AuthResults, auth_results_free)

/* Return the value of a property in the text of a result: "example.org" for "header.d" in "dkim=pass
 * header.d=example.org", without quotation marks; g_free(). NULL: the text has no such property. */
char *auth_result_property(const char *text, const char *name);

/* Does the value, as it stands in the field, claim to be from this server? It does when it begins with the server's
 * name, and also when its beginning cannot be read as a name, since another program may read that as the server's.
 * Case, a dot at the end, and the writing of a name in UTF-8 or ASCII make no difference. */
bool auth_results_claims(const char *value, const char *server);

/* Is the field an Authentication-Results whose value claims (auth_results_claims()) to be from this server? Return true
 * also for a field that holds one only for programs that end lines at a bare CR or pass over a byte order mark. */
bool auth_results_forged(const Field *field, const char *server);

/* Write the field's value: the server and the texts of results (NULL-terminated), each on a line of its own, folded at
 * blanks to at most 78 bytes where that is possible. Without texts it says "none". g_free() */
char *auth_results_write(const char *server, char *const *texts);
