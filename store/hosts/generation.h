/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Recognise a database that is older than the one that this host worked with: an old primary that came back after its
 * standby was promoted, or a copy that was restored. Work with it would give numbers of posts twice and forget what
 * people decided, while the other hosts may go on with the right one.
 *
 * The runner host raises a number of its spool in the database whenever it renews its lease, and notes it in a file of
 * the spool (GENERATION_FILE), with the server that has it. Each connection that is made to a server afterwards is
 * compared with that. A standby that was promoted has a greater timeline than its primary. It may lack the last moments
 * (replication that is not synchronous); of a server that lacks more, or of another cluster of servers, a person has to
 * say that it is the right one.
 */
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#include "store/store_type.h"

#define GENERATION_FILE ".database"
#define GENERATION_ROW 96 /* bytes for the name of a spool's row in the table counter */

/* How far a database has come. */
typedef struct Generation {
    char *system;     /* which cluster of servers it is: a standby has that of its primary; NULL: not known */
    int64_t timeline; /* greater after each promotion in that cluster; 0: not known */
    int64_t count;    /* greater after each renewal; about microseconds since 1970; 0: there was none */
    char row[GENERATION_ROW]; /* where the count is: letters, digits and "@"; "": not known */
} Generation;

void generation_clear(Generation *generation);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Generation, generation_clear)

/* Compare each server of this place, the site's connection string, with the file in this directory, the spool, from now
 * on. Databases of others, which are read beside it, are compared with nothing. It is meant for the whole process; call
 * it before a store is opened. After generation_accept(), any database is taken. */
void generation_expect(const char *directory, const char *where);
void generation_accept(void);

/* Read what the file says. False: nothing is expected of this place, or it says nothing. */
bool generation_expected(const char *where, Generation *known);

/* Say why a server is not to be used where `known` is expected; g_free(). NULL: it may be used. */
char *generation_fault(const Generation *known, const Generation *found);

/* Return whether a server is older than what the file says, also after generation_accept(). */
bool generation_lacks(const Generation *found);

/* Read how far the database of the store has come, by what the spool with this id did there. A database that has no
 * server has neither system nor timeline. */
bool generation_read(Store *store, const char *spool, Generation *found, GError **error);

/* Raise the number of the spool, by the database's clock `now`, and return in *found how far the database has come. */
bool generation_raise(Store *store, const char *spool, int64_t now, Generation *found, GError **error);

/* Note in the file in the directory spool_fd, durably, what is expected from now on. */
bool generation_write(int spool_fd, const Generation *found, GError **error);
