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

/* Open the database at `where`: the path of a file, a connection string of PostgreSQL, or a URL of MySQL. */
Foreign *foreign_open(const char *where, GError **error);
void foreign_free(Foreign *foreign);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Foreign, foreign_free)

/* Return where the database is, as text for people that holds no password; borrowed. */
const char *foreign_shown(const Foreign *foreign);

/* Read a file of SQLite whole to find damage. A database of a server is not read, and is taken as sound. FAIL_CONFIG:
 * the file is damaged; the message tells the first fault. */
bool foreign_verify(Foreign *foreign, GError **error);

/* Set *has: is there this table, or, with column not NULL, this column of it? */
bool foreign_has(Foreign *foreign, const char *table, const char *column, bool *has, GError **error);

/* Rows, one in memory at a time. Free them before the database. */
typedef struct ForeignRows ForeignRows;
/* Run a query; foreign_next() gives its rows. Where argument is not NULL, it is the text that $1 stands for in sql. */
ForeignRows *foreign_query(Foreign *foreign, const char *sql, const char *argument, GError **error);
/* Run a query that a person wrote for this very database: nothing in it is replaced, and it has no argument. */
ForeignRows *foreign_query_as_is(Foreign *foreign, const char *sql, GError **error);
void foreign_rows_free(ForeignRows *rows);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ForeignRows, foreign_rows_free)
/* Go to the next row. *more is false behind the last. */
bool foreign_next(ForeignRows *rows, bool *more, GError **error);
/* Return how many columns the rows have. Call it after the first foreign_next(). */
int foreign_columns(ForeignRows *rows);
/* Return a column (from 0) of the row, borrowed until the next row; NULL for NULL. length (bytes) may be NULL. */
const char *foreign_text(ForeignRows *rows, int column);
const void *foreign_bytes(ForeignRows *rows, int column, size_t *length);
