/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Hash passwords, and compare a password with a hash. Only hashes of crypt(3) with the best method that the system has
 * (yescrypt) are kept. Hashing and comparing take some 20 ms each on purpose: ask only where a password was really
 * given.
 */
#include <glib.h>
#include <stdbool.h>

/* Hash a password. FAIL_NEVER: it is empty or longer than crypt(3) takes; FAIL_LATER: the system has no random
 * bytes. g_free(). */
char *password_hash(const char *password, GError **error);

/* Is password the one that hash was made of? False for a hash of another form or an empty one. Takes as long for a
 * wrong password as for the right one. */
bool password_matches(const char *hash, const char *password);
