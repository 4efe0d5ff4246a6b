/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read a connection string of PostgreSQL without its library: a URL, "postgresql://db/lists?sslcert=%2Fx.crt", or
 * pairs, "host=db sslcert='/x.crt'".
 */

/* Return the value of a parameter; g_free(). Of several the last counts, as for libpq. NULL: it is not there. */
char *conninfo_value(const char *where, const char *name);
