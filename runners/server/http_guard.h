/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Let in clients that send a password (RFC 7617). The passwords stand in a file that nobody else may read, one line
 * each, "USER:PASSWORD" or "USER:HASH" with a hash of crypt(5), which begins with "$"; lines that begin with "#" are
 * passed over. The file is read again when it has changed.
 *
 * Passwords are compared in a time that tells nothing of them. From one address (127.0.0.0/8 and an IPv6 /64 count as
 * one) a few wrong ones a minute are looked at; further ones are refused unseen, while a password that was right lately
 * is let in always.
 */
#include <glib.h>
#include <stdbool.h>

typedef struct HttpGuard HttpGuard;

typedef enum GuardVerdict {
    GUARD_IN,
    GUARD_UNKNOWN, /* 401: no credentials, or wrong ones */
    GUARD_TOO_MANY, /* 429: too many wrong ones from there lately */
    GUARD_TROUBLE   /* 503: the file cannot be used any more, so no password can be judged */
} GuardVerdict;

/* Read the file of passwords. FAIL_CONFIG: it is missing, others may read it, or a line has no colon. FAIL_LATER: the
 * system failed. */
HttpGuard *http_guard_new(const char *path, int64_t attempts_per_minute, GError **error);
void http_guard_free(HttpGuard *guard);

/* Bound guesses at credentials other than those of the file in the same way: return true when too many wrong ones came
 * from the peer lately. */
bool http_guard_full(HttpGuard *guard, const char *peer);
/* Count wrong credentials from the peer; who is for the log. */
void http_guard_failed(HttpGuard *guard, const char *peer, const char *who);
/* Return the token in an Authorization field (may be NULL); g_free(). It is that of "Bearer", or a password of "Basic"
 * that begins with prefix. NULL: there is none. */
char *http_guard_token(const char *authorization, const char *prefix);

/* Judge the Authorization field of a request (NULL: it has none). user (borrowed, may be NULL) is set with GUARD_IN. */
GuardVerdict http_guard_judge(HttpGuard *guard, const char *authorization, const char *peer, const char **user);
