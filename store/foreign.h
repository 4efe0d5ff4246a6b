/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Read the database of another program: a file of SQLite, or one in PostgreSQL, MariaDB or MySQL. Nothing is written
 * there, and all that is read is of one moment. SQL is written once for all. Every value but one of bytes is read as
 * text, so that a value of a wrong type can be named:
 *
 *   `column`                 the column as text, by a CAST
 *   @position@(text, part)   the place of part in text, from 1
 *   @since@                  before an interval: makes it a time, counted from 1970 on
 *   @bytes@                  behind text (`column`) that rows are sorted by: order of the bytes
 *   @number@                 the type of whole numbers in a CAST
 *
 * Errors: FAIL_MISSING there is no such file; FAIL_CONFIG it is no database, it is damaged, or a table or column is not
 * there; FAIL_LATER it cannot be read now.
 */
#include <glib.h>
#include <stdbool.h>
#include <stddef.h>

typedef struct Foreign Foreign;

/* where: the path of a file, a connection string of PostgreSQL, or a URL of MySQL. */
Foreign *foreign_open(const char *where, GError **error);
void foreign_free(Foreign *foreign);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Foreign, foreign_free)

/* Where it is, for people; borrowed. */
const char *foreign_shown(const Foreign *foreign);

/* Read a file of SQLite whole, in search of damage; that of a server is the server's. FAIL_CONFIG: the message tells
 * the first fault. */
bool foreign_verify(Foreign *foreign, GError **error);

/* Is there a table, or (column not NULL) a column of it? */
bool foreign_has(Foreign *foreign, const char *table, const char *column, bool *has, GError **error);

/* Rows, one in memory at a time. Free them before the database. */
typedef struct ForeignRows ForeignRows;
/* sql has $1 where argument is not NULL, which is text. */
ForeignRows *foreign_query(Foreign *foreign, const char *sql, const char *argument, GError **error);
/* The same for a query that somebody wrote for this very database: it is sent as it is. */
ForeignRows *foreign_query_as_is(Foreign *foreign, const char *sql, GError **error);
void foreign_rows_free(ForeignRows *rows);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ForeignRows, foreign_rows_free)
/* Go to the next row. *more is false behind the last. */
bool foreign_next(ForeignRows *rows, bool *more, GError **error);
/* How many columns there are; after the first foreign_next(). */
int foreign_columns(ForeignRows *rows);
/* Columns count from 0. Borrowed until the next row; NULL for NULL. */
const char *foreign_text(ForeignRows *rows, int column);
const void *foreign_bytes(ForeignRows *rows, int column, size_t *length);
