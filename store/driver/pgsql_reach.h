/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Reach the one of some servers of PostgreSQL that takes writes. An attempt goes through the servers of a connection
 * string in a thread of its own, so that a process that must not stand still need not wait for it.
 *
 * Each server is asked itself whether it takes writes: a pooler before it answers target_session_attrs by what it
 * learnt earlier. After pgsql_reach_next() the next attempt begins with another server, else with the last that was
 * reached.
 * For pgsql_connection.c alone.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/driver/libpq.h"

typedef struct PgsqlReach PgsqlReach;

/* Prepare for the servers that a connection string names. Call libpq_load() before. */
PgsqlReach *pgsql_reach_new(const char *where);
/* An attempt under way ends by itself, and what it reached is closed. */
void pgsql_reach_free(PgsqlReach *reach);

/* How many servers the connection string names; at least 1. */
unsigned pgsql_reach_count(const PgsqlReach *reach);

/* Begin an attempt. None may be under way. */
void pgsql_reach_begin(PgsqlReach *reach);
bool pgsql_reach_under_way(PgsqlReach *reach);
/* Wait at most `us` (-1: as long as it takes) for the end of the attempt; false: it is not over. After true, *server is
 * the caller's, or NULL, and then *fault (g_free()) says in one line why none was reached. */
bool pgsql_reach_end(PgsqlReach *reach, int64_t us, PGconn **server, char **fault);
/* Begin the next attempt with the server behind the one that was reached last. */
void pgsql_reach_next(PgsqlReach *reach);

/* Send what was not sent yet, and wait at most `us` (0: without end) until PQgetResult() would not wait, or tells that
 * the connection was lost. False: neither came to be in time. The connection does not block (PQsetnonblocking()). */
bool pgsql_reach_answer(PGconn *server, int64_t us);

/* Return an error text of libpq, which has several lines, in one; g_free(). */
char *pgsql_one_line(const char *message);
