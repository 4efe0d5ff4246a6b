/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Load MariaDB's client library, which speaks to MySQL too, when a process opens its first database of either: to move
 * from a list manager that keeps its data there, or for members who come from there (lists/sources/source.h). Its
 * functions bear their own names: libmariadb.mysql_query(server, sql).
 */
#include <glib.h>
#include <mysql.h>
#include <stdbool.h>

#define LIBMARIADB_FUNCTIONS(X) \
    X(mysql_close)              \
    X(mysql_errno)              \
    X(mysql_error)              \
    X(mysql_init)               \
    X(mysql_optionsv)           \
    X(mysql_query)              \
    X(mysql_real_connect)       \
    X(mysql_stmt_attr_set)      \
    X(mysql_stmt_bind_param)    \
    X(mysql_stmt_bind_result)   \
    X(mysql_stmt_close)         \
    X(mysql_stmt_errno)         \
    X(mysql_stmt_error)         \
    X(mysql_stmt_execute)       \
    X(mysql_stmt_fetch)         \
    X(mysql_stmt_fetch_column)  \
    X(mysql_stmt_field_count)   \
    X(mysql_stmt_free_result)   \
    X(mysql_stmt_init)          \
    X(mysql_stmt_param_count)   \
    X(mysql_stmt_prepare)

typedef struct Libmariadb {
#define LIBMARIADB_MEMBER(name) __typeof__(name) *name;
    LIBMARIADB_FUNCTIONS(LIBMARIADB_MEMBER)
#undef LIBMARIADB_MEMBER
} Libmariadb;

extern Libmariadb libmariadb; /* empty before libmariadb_load() */

/* Load the library, once. FAIL_CONFIG: it is not installed, or older than what we need. */
bool libmariadb_load(GError **error);
