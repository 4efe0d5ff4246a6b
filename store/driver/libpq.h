/* SPDX-License-Identifier: BSD-2-Clause
 * Copyright (c) 2026 The Listrunner authors */
#pragma once
/*
 * Load PostgreSQL's client library when a process opens its first database of PostgreSQL. With what it needs itself
 * (TLS, Kerberos, LDAP) it is half of the libraries of a process, and takes 40 % of the time of its start. A site on
 * SQLite has no use for it.
 *
 * Its functions bear their own names: libpq.PQsendQuery(connection, sql).
 */
#include <glib.h>
#include <libpq-fe.h>
#include <stdbool.h>

#define LIBPQ_FUNCTIONS(X)                                                                                             \
    X(PQbackendPID)                                                                                                    \
    X(PQclear)                                                                                                         \
    X(PQcmdStatus)                                                                                                     \
    X(PQcmdTuples)                                                                                                     \
    X(PQconnectdbParams)                                                                                               \
    X(PQconninfoFree)                                                                                                  \
    X(PQconninfoParse)                                                                                                 \
    X(PQconsumeInput)                                                                                                  \
    X(PQenterPipelineMode)                                                                                             \
    X(PQerrorMessage)                                                                                                  \
    X(PQexec)                                                                                                          \
    X(PQexitPipelineMode)                                                                                              \
    X(PQfinish)                                                                                                        \
    X(PQflush)                                                                                                         \
    X(PQfname)                                                                                                         \
    X(PQfreemem)                                                                                                       \
    X(PQftype)                                                                                                         \
    X(PQgetisnull)                                                                                                     \
    X(PQgetlength)                                                                                                     \
    X(PQgetResult)                                                                                                     \
    X(PQgetvalue)                                                                                                      \
    X(PQisBusy)                                                                                                        \
    X(PQnfields)                                                                                                       \
    X(PQntuples)                                                                                                       \
    X(PQparameterStatus)                                                                                               \
    X(PQpipelineSync)                                                                                                  \
    X(PQresultErrorField)                                                                                              \
    X(PQresultStatus)                                                                                                  \
    X(PQsendPrepare)                                                                                                   \
    X(PQsendQuery)                                                                                                     \
    X(PQsendQueryParams)                                                                                               \
    X(PQsendQueryPrepared)                                                                                             \
    X(PQserverVersion)                                                                                                 \
    X(PQsetnonblocking)                                                                                                \
    X(PQsetNoticeReceiver)                                                                                             \
    X(PQsocket)                                                                                                        \
    X(PQstatus)                                                                                                        \
    X(PQtransactionStatus)                                                                                             \
    X(PQunescapeBytea)

typedef struct Libpq {
#define LIBPQ_MEMBER(name) __typeof__(name) *name;
    LIBPQ_FUNCTIONS(LIBPQ_MEMBER)
#undef LIBPQ_MEMBER
} Libpq;

extern Libpq libpq; /* empty before libpq_load() */

/* Load the library, once. FAIL_CONFIG: it is not installed, or older than what we need. */
bool libpq_load(GError **error);
